//! Where the kernel keeps what it is in for a task: the count of reasons not to preempt is each CPU's own.

use crate::guest_memory::GuestMemory;
use worstcase_logs::window::ask::TaskPlaces;

/// What the kernel leaves free at the top of a stack: nothing, or the room that FRED needs (6.9 and later).
const PADDINGS: [u64; 2] = [0, 16];
/// `struct pt_regs` ends with orig_ax, ip, cs, flags, sp, ss.
const ORIG_AX: u64 = 48;
const CS: u64 = 32;
const SS: u64 = 8;
/// Segments of 64-bit user code on Linux.
const USER_CS: u64 = 0x33;
const USER_SS: u64 = 0x2b;

/// The physical address of the count of reasons not to preempt.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it is found by the current task")]
pub(crate) fn preempt_count(_memory: &GuestMemory, places: &TaskPlaces) -> Option<u64> {
    Some(places.preempt_count)
}

/// Makes the place of the count that of a CPU whose memory is so far away.
pub(crate) fn move_preempt_count(places: &mut TaskPlaces, distance: u64) {
    places.preempt_count = places.preempt_count.wrapping_add(distance);
}

/// The number of the system call, or another one, by which user code entered the kernel, from words so many bytes below the top
/// of its stack there.
pub(crate) fn system_call(_places: &TaskPlaces, word: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    let is_user = |padding: &u64| word(padding + CS) == Some(USER_CS) && word(padding + SS) == Some(USER_SS);
    let padding = PADDINGS.into_iter().find(is_user)?;
    word(padding + ORIG_AX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::tests::context;

    #[test]
    fn a_system_call_is_known_by_what_user_code_left() {
        let context = |words: &[u64]| context(words, [1, 0], 0);
        let regs = |call: u64, cs: u64| [call, 0x40_1000, cs, 0x246, 0x7fff_0000, USER_SS];
        assert_eq!(context(&regs(28, USER_CS)), (Some(28), false));
        let padded = [&regs(28, USER_CS)[..], &[0, 0]].concat();
        assert_eq!(context(&padded), (Some(28), false));
        assert_eq!(context(&regs(u64::MAX, USER_CS)).0, None, "a fault or an interrupt");
        assert_eq!(context(&regs(28, 0x10)).0, None, "a thread of the kernel");
        assert_eq!(context(&regs(28, 0x23)).0, None, "another table of system calls");
    }

    #[test]
    fn interrupts_are_no_reason_that_stays() {
        let is_off = |count| context(&[], [0, count], 0).1;
        assert!(!is_off(0x8001_0000) && is_off(0x8001_0001) && is_off(0x100));
    }
}
