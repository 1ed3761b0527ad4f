//! What reads a kernel's tables, as functions of bytes, for scripts/fuzz.

use super::kernel_memory::{self, KernelMemory};
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use worstcase_probe::symbols::SymbolTable;

/// A kernel's description of its types.
pub fn btf(bytes: &[u8]) {
    if let Ok(btf) = btf_rs::Btf::from_bytes(bytes) {
        for structure in ["task_struct", "mm_struct"] {
            black_box(kernel_memory::offsets(&btf, structure, ["pid", "pgd"]));
        }
    }
}

/// Some.
pub fn btfs() -> Vec<Vec<u8>> {
    vec![kernel_memory::sample_btf()]
}

/// A guest's memory and its list of symbols, which need not fit.
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
    if let Ok(places) = kernel_memory::places(&memory, &table, 0) {
        black_box(kernel_memory::system_calls(&memory, &places.tasks, &table));
    }
}
