//! A PAUSE of a CPU that is alone. QEMU leaves its execution at each, so that another CPU may run; here it goes on at once.
//!
//! An exit for anything else must not be taken for one: it may be the only sign that a timer is due earlier than it was.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// No count comes so far.
const NONE: u64 = u64::MAX;

/// What the count is after the PAUSE that is executed, until QEMU has left for it.
pub(super) struct LonePause(AtomicU64);

/// Of the machine's CPU.
pub(super) static LONE_PAUSE: LonePause = LonePause::none();

impl LonePause {
    const fn none() -> LonePause {
        LonePause(AtomicU64::new(NONE))
    }

    /// A PAUSE starts, after which the count is `count`.
    pub(super) fn begins(&self, count: u64) {
        self.0.store(count, Relaxed);
    }

    /// Whether a PAUSE is why the CPU was left at this count; asked once for each exit. One that a hypervisor of the guest's
    /// intercepts is left for elsewhere, with another count.
    pub(super) fn is_why(&self, count: u64) -> bool {
        self.0.swap(NONE, Relaxed) == count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_exit_is_one_pause() {
        let pause = LonePause::none();
        assert!(!pause.is_why(7));
        pause.begins(7);
        assert!(pause.is_why(7));
        assert!(!pause.is_why(7), "interrupted before the next instruction");
        pause.begins(8);
        assert!(!pause.is_why(20), "interrupted later: this one did not leave");
        assert!(!pause.is_why(8));
    }
}
