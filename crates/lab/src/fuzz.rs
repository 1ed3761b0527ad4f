//! The parsers of a kernel's tables, as functions of bytes, for scripts/fuzz.

use super::kernel_memory::{self, KernelMemory};
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use worstcase_contract::symbols::SymbolTable;
use worstcase_plan::Arch;

/// A kernel's description of its types.
pub fn btf(bytes: &[u8]) {
    if let Ok(btf) = btf_rs::Btf::from_bytes(bytes) {
        for structure in ["task_struct", "mm_struct"] {
            black_box(kernel_memory::offsets(&btf, structure, ["pid", "pgd"]));
        }
    }
}

/// BTF by hand (Documentation/bpf/btf.rst): int at 1, `struct task_struct { int state; int pid; int comm; }`, at 3
/// `struct { int state; int pgd; }`, and `struct mm_struct { int pid; struct { ... }; }`.
pub fn sample_btf() -> Vec<u8> {
    let strings = b"\0int\0task_struct\0state\0pid\0comm\0mm_struct\0pgd\0";
    let at = |name: &str| {
        let name = format!("\0{name}\0");
        strings.windows(name.len()).position(|w| w == name.as_bytes()).unwrap() as u32 + 1
    };
    let mut types: Vec<u32> = vec![at("int"), 1 << 24, 4, 32];
    types.extend([at("task_struct"), 4 << 24 | 3, 12]);
    for (name, bits) in [("state", 0), ("pid", 32), ("comm", 64)] {
        types.extend([at(name), 1, bits]);
    }
    types.extend([0, 4 << 24 | 2, 8, at("state"), 1, 0, at("pgd"), 1, 32]);
    types.extend([at("mm_struct"), 4 << 24 | 2, 12, at("pid"), 1, 0, 0, 3, 32]);
    let len = types.len() as u32 * 4;
    let mut bytes = vec![0x9f, 0xeb, 1, 0];
    for word in [24, 0, len, len, strings.len() as u32].into_iter().chain(types) {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(strings);
    bytes
}

/// A guest's memory and its list of symbols, which need not match.
pub fn kernel_memory(bytes: &[u8]) {
    let Some((&length, rest)) = bytes.split_first() else {
        return;
    };
    let (symbols, memory) = rest.split_at((usize::from(length) * 8).min(rest.len()));
    let table = SymbolTable::from_kallsyms(&String::from_utf8_lossy(symbols));
    let Ok(file) = rustix::fs::memfd_create("worstcase-fuzz", rustix::fs::MemfdFlags::CLOEXEC).map(File::from) else {
        return;
    };
    if file.write_all_at(memory, 0).is_err() {
        return;
    }
    let memory = KernelMemory::of(file);
    for arch in [Arch::X86, Arch::Arm64] {
        if let Ok(places) = kernel_memory::places(&memory, &table, 0, arch) {
            black_box(kernel_memory::system_calls(&memory, &places.tasks, &table));
        }
    }
}
