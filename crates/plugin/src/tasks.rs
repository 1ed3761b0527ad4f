//! Which task the guest's CPU runs, read from the guest's memory.

use crate::guest_memory::GuestMemory;
use worstcase_probe::window::ask::TaskPlaces;

/// A task as the log names it: id, name as the kernel keeps it.
pub type Task = (u32, [u8; TaskPlaces::COMM_LEN]);

/// The current task; none if the pointers lead out of memory.
pub fn current(memory: &GuestMemory, places: &TaskPlaces) -> Option<Task> {
    let task = u64::from_le_bytes(memory.read(places.current)?);
    let task = places.physical(task)?;
    let pid = u32::from_le_bytes(memory.read(task.checked_add(places.pid)?)?);
    Some((pid, memory.read(task.checked_add(places.comm)?)?))
}

/// A task's name as text.
pub fn name(comm: &[u8]) -> String {
    let end = comm.iter().position(|b| *b == 0).unwrap_or(comm.len());
    String::from_utf8_lossy(&comm[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_its_nul() {
        assert_eq!(name(b"swapper/0\0\0\0\0\0\0\0"), "swapper/0");
        assert_eq!(name(b"sixteen letters!"), "sixteen letters!");
    }
}
