//! A gate between the threads of a process: each opening lets one pass. A bare futex, which knows nothing of priorities.

use super::futex::{self, Scope};
use std::sync::atomic::{AtomicU32, Ordering};
use worstcase_logs::Nanos;

/// Closed at first. At most one thread waits at a gate.
#[derive(Debug, Default)]
pub struct Gate(AtomicU32);

impl Gate {
    /// Lets one pass, now or later; makes the one that waits ready to run.
    #[inline(always)]
    pub fn open(&self) {
        self.0.fetch_add(1, Ordering::Release);
        // Waking a word of one's own cannot fail.
        let _ = futex::wake_one(&self.0, Scope::Private);
    }

    /// Waits until it may pass.
    #[inline(always)]
    pub fn pass(&self) {
        while !self.try_pass() {
            // Whatever ended it, the gate is asked again.
            let _ = futex::wait(&self.0, 0, Scope::Private);
        }
    }

    /// Waits until it may pass, at the longest until `end` on CLOCK_MONOTONIC; says whether it passed.
    pub(crate) fn pass_before(&self, end: Nanos) -> bool {
        while !self.try_pass() {
            if futex::wait_until(&self.0, 0, Scope::Private, end) {
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
