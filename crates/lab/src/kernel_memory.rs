//! Data of a stopped kernel, read from a snapshot's memory file.
//!
//! Kernels of the lab are not relocated (`nokaslr`), so a symbol's address gives the place of its bytes in the file.

mod arm64;

use super::LabError;
use btf_rs::Btf;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use worstcase_contract::symbols::SymbolTable;
use worstcase_contract::window::ask::{ModulePlaces, TaskPlaces};
use worstcase_kernels::debuginfo::BuildId;
use worstcase_plan::Arch;

/// Where x86-64 maps the kernel's image, which lies where it is mapped: as if it began with memory.
const IMAGE: u64 = 0xffff_ffff_8000_0000;
/// The address at which all memory is mapped unless `page_offset_base` differs (four-level page tables).
const DIRECT_MAP: u64 = 0xffff_8880_0000_0000;

const PAGE: usize = 4096;
const PAGE_BITS: u64 = 12;

/// Most BTF that is read; kernels have 4 to 8 MiB.
const MAX_BTF: u64 = 64 << 20;

/// The places of the kernel data that a replay and a census read.
pub struct KernelPlaces {
    /// The places of its tasks.
    pub tasks: TaskPlaces,
    /// The offset of the effective priority in a task.
    pub(crate) prio: u64,
    /// The places of its modules; none if it has none, or keeps them in another way.
    pub modules: Option<ModulePlaces>,
}

/// Finds the places; those of the current task and of the preempt count are for one CPU. The error says what is
/// missing.
pub fn places(memory: &KernelMemory, symbols: &SymbolTable, cpu: u32, arch: Arch) -> Result<KernelPlaces, String> {
    let mut places = match arch {
        Arch::X86 => mappings(memory, symbols)?,
        Arch::Arm64 => arm64::mappings(memory, symbols, cpu)?,
    };
    let current = match arch {
        Arch::X86 => current_task(symbols).ok_or("it has no symbol current_task")?,
        Arch::Arm64 => symbol(symbols, arm64::CURRENT)?,
    };
    if let Some(list) = per_cpu_list(symbols) {
        places.per_cpu = physical(&places, list)?;
    }
    let per_cpu = per_cpu(memory, &places, symbols, cpu)?;
    places.current = physical(&places, current.wrapping_add(per_cpu))?;
    if arch == Arch::X86 {
        places.preempt_count = physical(&places, preempt_count(symbols)?.wrapping_add(per_cpu))?;
    }
    let bytes = btf(memory, &places, symbols)?;
    let btf = Btf::from_bytes(&bytes).ok();
    let members = ["pid", "comm", "stack", "prio"];
    let [pid, comm, stack, prio] = btf
        .as_ref()
        .and_then(|btf| offsets(btf, "task_struct", members))
        .ok_or("its BTF does not describe task_struct's pid, comm, stack and prio")?;
    (places.pid, places.comm, places.stack) = (pid, comm, stack);
    if arch == Arch::Arm64 {
        (places.preempt_count, places.regs) = btf
            .as_ref()
            .and_then(arm64::of_types)
            .ok_or("its BTF does not describe thread_info and pt_regs as they are known")?;
    }
    check(memory, &places, cpu)?;
    let page_table = match arch {
        Arch::X86 => "init_top_pgt",
        Arch::Arm64 => "swapper_pg_dir",
    };
    places.page_table = physical(&places, symbol(symbols, page_table)?)?;
    Ok(KernelPlaces {
        tasks: places,
        prio,
        modules: btf.and_then(|btf| module_places(&btf, &places, symbols)),
    })
}

fn symbol(symbols: &SymbolTable, name: &str) -> Result<u64, String> {
    symbols.data(name).ok_or_else(|| format!("it has no symbol {name}"))
}

/// How x86-64 maps memory; the places of tasks are not known yet.
fn mappings(memory: &KernelMemory, symbols: &SymbolTable) -> Result<TaskPlaces, String> {
    let mut places = TaskPlaces {
        direct_map: DIRECT_MAP,
        image: IMAGE,
        page_bits: PAGE_BITS,
        ..TaskPlaces::default()
    };
    if let Some(variable) = symbols.data("page_offset_base") {
        places.direct_map = memory.word(&places, variable)?;
    }
    Ok(places)
}

/// The table of the CPUs' per-CPU offsets; a kernel without CONFIG_SMP has none.
fn per_cpu_list(symbols: &SymbolTable) -> Option<u64> {
    symbols.data("__per_cpu_offset")
}

/// The per-CPU offset of a CPU: what to add to a symbol's address; 0 without CONFIG_SMP.
pub(crate) fn per_cpu(
    memory: &KernelMemory,
    places: &TaskPlaces,
    symbols: &SymbolTable,
    cpu: u32,
) -> Result<u64, String> {
    match per_cpu_list(symbols) {
        Some(list) => memory.word(places, list.wrapping_add(8 * u64::from(cpu))),
        None => Ok(0),
    }
}

/// The place of the preempt count, relative to a CPU's per-CPU memory.
pub(crate) fn preempt_count(symbols: &SymbolTable) -> Result<u64, String> {
    // From 6.2 to 6.14 it is the second member of pcpu_hot, behind a pointer.
    let count = symbols.data("__preempt_count");
    let count = count.or_else(|| symbols.data("pcpu_hot").map(|hot| hot.wrapping_add(8)));
    count.ok_or_else(|| "it has no symbol __preempt_count".into())
}

fn module_places(btf: &Btf, places: &TaskPlaces, symbols: &SymbolTable) -> Option<ModulePlaces> {
    let [list, name, of_module] = offsets(btf, "module", ["list", "name", "kallsyms"])?;
    let [table, count, strings] = offsets(btf, "mod_kallsyms", ["symtab", "num_symtab", "strtab"])?;
    Some(ModulePlaces {
        head: symbols.data("modules")?,
        list,
        name,
        symbols: of_module,
        table,
        count,
        strings,
        page_table: places.page_table,
        page_levels: places.page_levels().into(),
        page_bits: places.page_bits,
    })
}

/// Most system calls that a table holds.
const MOST_CALLS: usize = 1024;

/// The functions of the system calls, by number; none where the form of the kernel's table is not known.
pub(crate) fn system_calls(memory: &KernelMemory, places: &TaskPlaces, symbols: &SymbolTable) -> Vec<String> {
    let Some(table) = symbols.data("sys_call_table") else {
        return Vec::new();
    };
    let mut bytes = vec![0; 8 * MOST_CALLS];
    if memory.read(places, table, &mut bytes).is_err() {
        return Vec::new();
    }
    let is_call = |name: &str| SYSTEM_CALLS.iter().any(|prefix| name.starts_with(prefix));
    let functions = symbols.code().filter(|s| is_call(s.name));
    let by_address: HashMap<u64, &str> = functions.map(|s| (s.address, s.name)).collect();
    let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    // The table ends at the first word that is no such function.
    let names = words.map_while(|address| by_address.get(&address));
    names.map(|name| (*name).to_string()).collect()
}

/// What names of the functions in the table begin with.
const SYSTEM_CALLS: [&str; 2] = ["__x64_sys_", "__arm64_sys_"];

fn btf(memory: &KernelMemory, places: &TaskPlaces, symbols: &SymbolTable) -> Result<Vec<u8>, String> {
    let (Some(start), Some(stop)) = (symbols.data("__start_BTF"), symbols.data("__stop_BTF")) else {
        return Err("it was built without CONFIG_DEBUG_INFO_BTF, which tells where its tasks' names are".into());
    };
    let len = stop.checked_sub(start).filter(|len| *len <= MAX_BTF);
    let mut btf = vec![0; len.ok_or("its BTF ends before it begins")? as usize];
    memory.read(places, start, &mut btf)?;
    Ok(btf)
}

/// The address by which instructions read the pointer to the current task, relative to gs: until 6.1 and since 6.15 a
/// variable of its own, between them the first member of pcpu_hot.
pub(crate) fn current_task(symbols: &SymbolTable) -> Option<u64> {
    symbols.data("current_task").or_else(|| symbols.data("pcpu_hot"))
}

/// The notes with the build-id lie before the BTF, with at most a page of padding between them.
const NOTES: u64 = 2 * 4096;

/// Longest vDSO that is looked for.
const VDSO: usize = 8 * PAGE;

/// The code that the kernel gives every program of 64 bits, an ELF file, as the machine has it; none if it is not where a page
/// begins.
pub fn vdso(memory: &KernelMemory) -> Option<Vec<u8>> {
    const PAGES: usize = 256 * PAGE;
    const HEAD: &[u8] = b"\x7fELF\x02";
    const NAME: &[u8] = b"linux-vdso.so.1";
    let mut pages = vec![0; PAGES];
    for from in (0..).step_by(PAGES) {
        let read = memory.file.read_at(&mut pages, from).ok().filter(|read| *read > 0)?;
        for (number, page) in pages[..read].chunks(PAGE).enumerate() {
            if !page.starts_with(HEAD) {
                continue;
            }
            let mut found = vec![0; VDSO];
            let read = memory.file.read_at(&mut found, from + (number * PAGE) as u64).ok()?;
            found.truncate(read);
            if found.windows(NAME.len()).any(|window| window == NAME) {
                return Some(found);
            }
        }
    }
    None
}

/// The kernel's build-id, if it lies where kernels with BTF have it.
pub fn build_id(memory: &KernelMemory, places: &TaskPlaces, symbols: &SymbolTable) -> Option<BuildId> {
    let mut notes = vec![0; NOTES as usize];
    let start = symbols.data("__start_BTF")?.checked_sub(NOTES)?;
    memory.read(places, start, &mut notes).ok()?;
    BuildId::last_in(&notes)
}

/// The memory of a stopped kernel.
pub struct KernelMemory {
    file: File,
}

impl KernelMemory {
    /// The memory in an open file.
    pub(crate) fn of(file: File) -> KernelMemory {
        KernelMemory { file }
    }

    /// Opens a snapshot's memory file.
    pub(crate) fn open(memory_file: &Path) -> Result<KernelMemory, LabError> {
        let file = File::open(memory_file).map_err(LabError::io(memory_file))?;
        Ok(KernelMemory::of(file))
    }

    /// Fills `bytes` from a virtual address of the kernel.
    pub fn read(&self, places: &TaskPlaces, address: u64, bytes: &mut [u8]) -> Result<(), String> {
        self.file
            .read_exact_at(bytes, physical(places, address)?)
            .map_err(|e| format!("its memory at {address:#x} cannot be read ({e})"))
    }

    /// Eight bytes as a number.
    pub fn word(&self, places: &TaskPlaces, address: u64) -> Result<u64, String> {
        let mut word = [0; 8];
        self.read(places, address, &mut word)?;
        Ok(u64::from_le_bytes(word))
    }
}

/// The physical address of a data or code address of the kernel.
pub(crate) fn physical(places: &TaskPlaces, address: u64) -> Result<u64, String> {
    places
        .physical(address)
        .ok_or_else(|| format!("{address:#x} is no address of its data"))
}

/// A snapshot is taken when the guest's init, process 1, asks for it, so init must be the current task.
fn check(memory: &KernelMemory, places: &TaskPlaces, cpu: u32) -> Result<(), String> {
    let mut current = [0; 8];
    memory
        .file
        .read_exact_at(&mut current, places.current)
        .map_err(|e| e.to_string())?;
    let current = u64::from_le_bytes(current);
    let (mut pid, mut comm) = ([0; 4], [0; TaskPlaces::COMM_LEN]);
    memory.read(places, current.wrapping_add(places.pid), &mut pid)?;
    memory.read(places, current.wrapping_add(places.comm), &mut comm)?;
    let is_init = u32::from_le_bytes(pid) == 1 && comm.starts_with(b"init\0");
    let is_idle = u32::from_le_bytes(pid) == 0 && comm.starts_with(format!("swapper/{cpu}\0").as_bytes());
    if is_init || is_idle {
        return Ok(());
    }
    let comm = String::from_utf8_lossy(&comm).into_owned();
    Err(format!(
        "its current task is not where it should be (found pid {}, name {comm:?} instead of init or swapper/{cpu})",
        u32::from_le_bytes(pid)
    ))
}

/// Offsets of a structure's members, from the kernel's BTF; members of unnamed structures within it count as its own.
pub(crate) fn offsets<const N: usize>(btf: &Btf, structure: &str, members: [&str; N]) -> Option<[u64; N]> {
    let types = btf.resolve_types_by_name(structure).ok()?;
    let structure = types.into_iter().find_map(|t| match t {
        btf_rs::Type::Struct(found) => Some(found),
        _ => None,
    })?;
    let offset = |name| bit_offset(btf, &structure.members, name, 0).map(|bits| bits / 8);
    let offsets: Option<Vec<u64>> = members.into_iter().map(offset).collect();
    offsets?.try_into().ok()
}

/// Limit for nested unnamed structures; the kernel has two or three levels. More is a cycle.
const DEEPEST: u32 = 16;

fn bit_offset(btf: &Btf, members: &[btf_rs::Member], name: &str, depth: u32) -> Option<u64> {
    members.iter().find_map(|member| {
        let own = u64::from(member.bit_offset());
        match btf.resolve_name(member).unwrap_or_default() {
            found if found == name => Some(own),
            unnamed if unnamed.is_empty() && depth < DEEPEST => match btf.resolve_chained_type(member).ok()? {
                btf_rs::Type::Struct(inner) | btf_rs::Type::Union(inner) => {
                    bit_offset(btf, &inner.members, name, depth + 1).map(|within| own + within)
                }
                _ => None,
            },
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::sample_btf;

    #[test]
    fn offsets_come_from_btf() {
        fn offsets<const N: usize>(bytes: &[u8], structure: &str, members: [&str; N]) -> Option<[u64; N]> {
            super::offsets(&Btf::from_bytes(bytes).ok()?, structure, members)
        }
        assert_eq!(offsets(&sample_btf(), "task_struct", ["pid", "comm"]), Some([4, 8]));
        assert_eq!(offsets(&sample_btf(), "mm_struct", ["pid", "pgd"]), Some([0, 8]));
        assert_eq!(offsets(&sample_btf(), "task_struct", ["pid", "prio"]), None);
        assert_eq!(offsets(&sample_btf()[..40], "task_struct", ["pid"]), None);
        assert_eq!(offsets(&[], "task_struct", ["pid"]), None);
        // mm_struct contains itself here.
        let mut circle = sample_btf();
        let within = circle
            .windows(12)
            .rposition(|w| w == [[0; 4], [3, 0, 0, 0], [32, 0, 0, 0]].concat());
        circle[within.unwrap() + 4] = 4;
        assert_eq!(offsets(&circle, "mm_struct", ["pid"]), Some([0]));
        assert_eq!(offsets(&circle, "mm_struct", ["pgd"]), None);
    }
}
