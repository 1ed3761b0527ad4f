//! Where the kernel keeps what it is in for a task: the count of reasons not to preempt is each task's own.

use crate::guest_memory::GuestMemory;
use crate::tasks::current_pointer;
use worstcase_logs::window::ask::TaskPlaces;

/// In `struct pt_regs`, behind the 31 registers and the stack pointer.
const PC: u64 = 256;
const PSTATE: u64 = 264;
/// 32 bits; x0 as it was comes before it.
const SYSCALL: u64 = 280;
/// Of PSTATE: the exception level, the stack in use, and whether code has 32 bits. All are 0 in 64-bit user code.
const MODE: u64 = 0x1f;

/// The physical address of the count of reasons not to preempt.
pub(crate) fn preempt_count(memory: &GuestMemory, places: &TaskPlaces) -> Option<u64> {
    let task = places.physical(current_pointer(memory, places)?)?;
    task.checked_add(places.preempt_count)
}

/// Makes the place of the count that of a CPU whose memory is so far away: it is the same.
pub(crate) fn move_preempt_count(_places: &mut TaskPlaces, _distance: u64) {}

/// The number of the system call, or another one, by which user code entered the kernel, from words so many bytes below the top
/// of its stack there.
pub(crate) fn system_call(places: &TaskPlaces, word: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    let of_regs = |offset: u64| word(places.regs.checked_sub(offset).filter(|below| *below >= 8)?);
    // The idle task has never been in user code: all is 0.
    let is_user = of_regs(PSTATE)? & MODE == 0 && of_regs(PC)? != 0;
    is_user
        .then(|| of_regs(SYSCALL))?
        .map(|call| call & u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use crate::tasks::tests::context;

    /// `struct pt_regs` of 6.12.
    const REGS: u64 = 336;

    fn call(number: u64, pstate: u64, pc: u64) -> Option<u32> {
        let mut words = [0xaaaa; (REGS / 8) as usize];
        for (offset, value) in [(256, pc), (264, pstate), (280, number)] {
            words[offset / 8] = value;
        }
        context(&words, [0, 1], REGS).0
    }

    #[test]
    fn a_system_call_is_known_by_what_user_code_left() {
        assert_eq!(call(197, 0x8000_0000, 0x40_1000), Some(197));
        assert_eq!(call(0x5_0000_00c5, 0, 0x40_1000), Some(197), "something else behind it");
        assert_eq!(call(0xffff_ffff, 0, 0x40_1000), None, "a fault or an interrupt");
        assert_eq!(call(197, 0x5, 0x40_1000), None, "a thread of the kernel");
        assert_eq!(call(197, 0x10, 0x40_1000), None, "another table of system calls");
        assert_eq!(call(0, 0, 0), None, "the idle task");
        assert_eq!(context(&[], [0, 0], 0).0, None);
    }

    #[test]
    fn interrupts_are_no_reason_that_stays() {
        let is_off = |count| context(&[], [count, 1], REGS).1;
        assert!(!is_off(0x0001_0000) && is_off(0x0001_0001) && is_off(0x100));
        assert!(!is_off(0x1_0000_0000), "another field");
    }
}
