//! A gate between the threads of a process: each opening lets one pass. A bare futex, which knows nothing of priorities.

use super::clock::timespec;
use crate::units::Nanos;
use std::sync::atomic::{AtomicU32, Ordering};

/// Closed at first. At most one thread waits at a gate.
#[derive(Debug, Default)]
pub struct Gate(AtomicU32);

impl Gate {
    /// Lets one pass, now or later; makes the one that waits ready to run.
    #[inline(always)]
    pub fn open(&self) {
        self.0.fetch_add(1, Ordering::Release);
        // SAFETY: the word is valid as long as the borrow; waking reads no other memory.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.0.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1,
            )
        };
    }

    /// Waits until it may pass.
    #[inline(always)]
    pub fn pass(&self) {
        while !self.try_pass() {
            self.sleep(None);
        }
    }

    /// Waits until it may pass, at the longest until `end` on CLOCK_MONOTONIC; says whether it passed.
    pub fn pass_before(&self, end: Nanos) -> bool {
        let end = timespec(end);
        while !self.try_pass() {
            if self.sleep(Some(&end)) {
                return self.try_pass();
            }
        }
        true
    }

    #[inline(always)]
    fn try_pass(&self) -> bool {
        let less = |openings: u32| openings.checked_sub(1);
        self.0.fetch_update(Ordering::Acquire, Ordering::Relaxed, less).is_ok()
    }

    /// Sleeps while the gate is closed; says whether the time was over. Wakes for other reasons, too.
    fn sleep(&self, end: Option<&libc::timespec>) -> bool {
        let end = end.map_or(core::ptr::null(), core::ptr::from_ref);
        // SAFETY: the word and, if given, the timespec (an instant of CLOCK_MONOTONIC) are valid as long as the borrows.
        let woken = unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.0.as_ptr(),
                libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG,
                0,
                end,
                core::ptr::null::<u32>(),
                libc::FUTEX_BITSET_MATCH_ANY,
            )
        };
        woken == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ETIMEDOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::clock;

    #[test]
    fn each_opening_lets_one_pass() {
        let gate = Gate::default();
        gate.open();
        gate.open();
        gate.pass();
        assert!(gate.pass_before(Nanos(1)));
        assert!(!gate.pass_before(Nanos(1)));
    }

    #[test]
    fn waiting_ends_with_the_time() {
        let end = clock::monotonic() + Nanos::from_millis(2);
        assert!(!Gate::default().pass_before(end));
        assert!(clock::monotonic() >= end);
    }

    #[test]
    fn who_waits_is_woken() {
        let (to, back) = (Gate::default(), Gate::default());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    to.pass();
                    back.open();
                }
            });
            for _ in 0..1_000 {
                to.open();
                back.pass();
            }
        });
        assert!(!back.pass_before(Nanos(1)));
    }
}
