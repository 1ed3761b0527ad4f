//! A stopped kernel's data, read from a snapshot's memory file.
//!
//! Kernels of the lab are not relocated (`nokaslr`), so a symbol's address tells where its bytes are in the file.

use super::LabError;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use worstcase_kernels::debuginfo::BuildId;
use worstcase_probe::symbols::SymbolTable;
use worstcase_probe::window::ask::TaskPlaces;

/// Where all memory is mapped unless `page_offset_base` says otherwise (four-level page tables).
const DIRECT_MAP: u64 = 0xffff_8880_0000_0000;

/// Most BTF that is read; kernels have 4 to 8 MiB.
const MAX_BTF: u64 = 64 << 20;

/// Where this kernel keeps its tasks, and where in a task its priority in force is. The error says what is missing.
pub fn task_places(memory: &KernelMemory, symbols: &SymbolTable) -> Result<(TaskPlaces, u64), String> {
    let symbol = |name: &str| symbols.data(name).ok_or_else(|| format!("it has no symbol {name}"));

    let mut places = TaskPlaces {
        current: 0,
        direct_map: DIRECT_MAP,
        pid: 0,
        comm: 0,
    };
    if let Ok(variable) = symbol("page_offset_base") {
        places.direct_map = memory.word(&places, variable)?;
    }
    let current = current_task(symbols).ok_or("it has no symbol current_task")?;
    let per_cpu = memory.word(&places, symbol("__per_cpu_offset")?)?;
    places.current = physical(&places, current.wrapping_add(per_cpu))?;

    let (start, stop) = (symbol("__start_BTF"), symbol("__stop_BTF"));
    let (Ok(start), Ok(stop)) = (start, stop) else {
        return Err("it was built without CONFIG_DEBUG_INFO_BTF, which tells where its tasks' names are".into());
    };
    let len = stop.checked_sub(start).filter(|len| *len <= MAX_BTF);
    let mut btf = vec![0; len.ok_or("its BTF ends before it begins")? as usize];
    memory.read(&places, start, &mut btf)?;
    let [pid, comm, prio] = task_offsets(&btf, ["pid", "comm", "prio"])
        .ok_or("its BTF does not describe task_struct's pid, comm and prio")?;
    (places.pid, places.comm) = (pid, comm);
    check(memory, &places)?;
    Ok((places, prio))
}

/// Where instructions name the pointer to the current task, relative to gs: until 6.1 and from 6.15 on a variable of its
/// own, between them the first member of pcpu_hot.
pub fn current_task(symbols: &SymbolTable) -> Option<u64> {
    symbols.data("current_task").or_else(|| symbols.data("pcpu_hot"))
}

/// The notes, in which the build-id is, lie before the BTF, at most with a page's padding between them.
const NOTES: u64 = 2 * 4096;

/// The kernel's build-id, if it is where kernels with BTF have it.
pub fn build_id(memory: &KernelMemory, places: &TaskPlaces, symbols: &SymbolTable) -> Option<BuildId> {
    let mut notes = vec![0; NOTES as usize];
    let start = symbols.data("__start_BTF")?.checked_sub(NOTES)?;
    memory.read(places, start, &mut notes).ok()?;
    BuildId::last_in(&notes)
}

/// The memory of a kernel that was stopped.
pub struct KernelMemory {
    file: File,
}

impl KernelMemory {
    /// Opens a snapshot's memory file.
    pub fn open(memory_file: &Path) -> Result<KernelMemory, LabError> {
        let file = File::open(memory_file).map_err(LabError::io(memory_file))?;
        Ok(KernelMemory { file })
    }

    /// Fills `bytes` from a virtual address of the kernel's.
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

/// The physical address behind one of the kernel's data or code addresses.
pub fn physical(places: &TaskPlaces, address: u64) -> Result<u64, String> {
    places
        .physical(address)
        .ok_or_else(|| format!("{address:#x} is no address of its data"))
}

/// A snapshot is taken while the guest's init, process 1, asks for it: that must be what the places show.
fn check(memory: &KernelMemory, places: &TaskPlaces) -> Result<(), String> {
    let mut current = [0; 8];
    memory
        .file
        .read_exact_at(&mut current, places.current)
        .map_err(|e| e.to_string())?;
    let current = u64::from_le_bytes(current);
    let (mut pid, mut comm) = ([0; 4], [0; TaskPlaces::COMM_LEN]);
    memory.read(places, current.wrapping_add(places.pid), &mut pid)?;
    memory.read(places, current.wrapping_add(places.comm), &mut comm)?;
    if u32::from_le_bytes(pid) == 1 && comm.starts_with(b"init\0") {
        return Ok(());
    }
    let comm = String::from_utf8_lossy(&comm).into_owned();
    Err(format!(
        "its current task is not where it should be (found pid {}, name {comm:?} instead of init)",
        u32::from_le_bytes(pid)
    ))
}

/// Offsets of these members of `struct task_struct`, from the kernel's BTF.
fn task_offsets<const N: usize>(btf: &[u8], names: [&str; N]) -> Option<[u64; N]> {
    let btf = btf_rs::Btf::from_bytes(btf).ok()?;
    let types = btf.resolve_types_by_name("task_struct").ok()?;
    let task = types.into_iter().find_map(|t| match t {
        btf_rs::Type::Struct(task) => Some(task),
        _ => None,
    })?;
    let offset = |name: &str| {
        let member = task
            .members
            .iter()
            .find(|m| btf.resolve_name(*m).is_ok_and(|n| n == name))?;
        Some(u64::from(member.bit_offset()) / 8)
    };
    let offsets = names.map(offset);
    offsets
        .iter()
        .all(Option::is_some)
        .then(|| offsets.map(Option::unwrap_or_default))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BTF by hand (Documentation/bpf/btf.rst): int at 1, and `struct task_struct { int state; int pid; int comm; }`.
    fn btf() -> Vec<u8> {
        let strings = b"\0int\0task_struct\0state\0pid\0comm\0";
        let at = |name: &str| {
            let name = format!("\0{name}\0");
            strings.windows(name.len()).position(|w| w == name.as_bytes()).unwrap() as u32 + 1
        };
        let mut types: Vec<u32> = vec![at("int"), 1 << 24, 4, 32];
        types.extend([at("task_struct"), 4 << 24 | 3, 12]);
        for (name, bits) in [("state", 0), ("pid", 32), ("comm", 64)] {
            types.extend([at(name), 1, bits]);
        }
        let len = types.len() as u32 * 4;
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        for word in [24, 0, len, len, strings.len() as u32].into_iter().chain(types) {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn offsets_come_from_btf() {
        assert_eq!(task_offsets(&btf(), ["comm", "pid"]), Some([8, 4]));
        assert_eq!(task_offsets(&btf(), ["pid", "prio"]), None);
        assert_eq!(task_offsets(&btf()[..40], ["pid"]), None);
        assert_eq!(task_offsets(&[], ["pid"]), None);
    }
}
