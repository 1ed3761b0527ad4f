//! Where a CPU of QEMU 8.2 counts how often it has the machine for itself: found by what QEMU writes when it takes and leaves it.

use std::ffi::c_void;
use std::sync::atomic::AtomicU32;

/// The count of a CPU, from its begin on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HolderCount(usize);

impl HolderCount {
    /// Finds it in a CPU of so many bytes. `take` has QEMU give the machine to the CPU, `leave` take it back.
    ///
    /// # Safety
    /// `cpu` must be a CPU of QEMU's that does not run, and have as many bytes.
    pub(crate) unsafe fn find(
        cpu: *mut c_void,
        size: usize,
        take: impl FnOnce(),
        leave: impl FnOnce(),
    ) -> Option<HolderCount> {
        let mut places: Vec<usize> = (0..size.saturating_sub(3)).step_by(4).collect();
        let mut keep = |count: u32| {
            // SAFETY: an offset within the CPU, by the caller's promise.
            places.retain(|at| unsafe { cpu.byte_add(*at).cast::<u32>().read_volatile() } == count);
        };
        keep(0);
        take();
        keep(1);
        leave();
        keep(0);
        match places[..] {
            [place] => Some(HolderCount(place)),
            _ => None,
        }
    }

    /// # Safety
    /// `cpu` must be a CPU of the QEMU that this was found in.
    pub(crate) unsafe fn of(self, cpu: *mut c_void) -> &'static AtomicU32 {
        // SAFETY: aligned, within the CPU, which stays until QEMU ends.
        unsafe { AtomicU32::from_ptr(cpu.byte_add(self.0).cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 256;
    const COUNT: usize = 0xd4;
    /// Also changes, but not to and fro.
    const TAKEN_EVER: usize = 0x40;
    const ALWAYS: usize = 0x80;

    fn find(counts: bool) -> (Option<HolderCount>, Vec<u32>) {
        let mut memory = vec![0u32; SIZE / 4];
        memory[ALWAYS / 4] = 1;
        let cpu: *mut c_void = memory.as_mut_ptr().cast();
        // SAFETY: offsets within the memory.
        let write = |at: usize, value: u32| unsafe { cpu.byte_add(at).cast::<u32>().write(value) };
        let take = || {
            write(TAKEN_EVER, 1);
            write(COUNT, u32::from(counts));
        };
        // SAFETY: the memory's size.
        let found = unsafe { HolderCount::find(cpu, SIZE, take, || write(COUNT, 0)) };
        (found, memory)
    }

    #[test]
    fn the_count_is_what_goes_up_and_down() {
        let (found, mut memory) = find(true);
        assert_eq!(found, Some(HolderCount(COUNT)));
        memory[COUNT / 4] = 3;
        // SAFETY: the memory outlives the use.
        let count = unsafe { found.unwrap().of(memory.as_mut_ptr().cast()) };
        assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), 3);
    }

    #[test]
    fn a_cpu_without_it_is_not_guessed_at() {
        assert_eq!(find(false).0, None);
    }
}
