//! The rights to measure with: a real-time policy and locked memory. What is not permitted becomes a warning
//! that says what it does to the result; measuring goes on at what is possible.

use crate::sys::{memory, sched};

/// All memory locked and the stack present, until dropped.
#[derive(Debug)]
pub(super) struct Locked(bool);

impl Locked {
    /// As far as permitted.
    pub fn acquire(warnings: &mut Vec<String>) -> Locked {
        let locked = memory::lock_all();
        if let Err(e) = &locked {
            warnings.push(format!(
                "memory is not locked ({e}): page faults may be part of the samples; run as root, or give CAP_IPC_LOCK or `ulimit -l unlimited`"
            ));
        }
        memory::prefault_stack();
        Locked(locked.is_ok())
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if self.0 {
            memory::unlock_all();
        }
    }
}

/// Real-time policy and locked memory, given back when dropped.
#[derive(Debug)]
pub(super) struct RealTime {
    before: Option<sched::Policy>,
    _locked: Locked,
}

impl RealTime {
    /// Takes SCHED_FIFO at `priority` and locks all memory, as far as permitted.
    pub fn acquire(priority: u8, warnings: &mut Vec<String>) -> RealTime {
        let locked = Locked::acquire(warnings);
        let before = sched::Policy::current().ok();
        let fifo = sched::Policy::fifo(priority).apply();
        if let Err(e) = &fifo {
            warnings.push(format!(
                "NOT REAL-TIME: SCHED_FIFO at priority {priority} is refused ({e}): samples hold the waiting for ordinary processes; run as root, or give CAP_SYS_NICE or `ulimit -r {priority}`"
            ));
        }
        RealTime {
            before: before.filter(|_| fifo.is_ok()),
            _locked: locked,
        }
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        if let Some(policy) = self.before {
            // Going back to where one came from needs no right beyond the one that was there.
            let _ = policy.apply();
        }
    }
}
