//! The rights to measure with: a real-time policy and locked memory. What is not permitted becomes a warning
//! that says what it does to the result; measuring goes on at what is possible.

use crate::order::PolicyOrder;
use worstcase_instruments::sys::{memory, sched};

/// All memory locked and the stack present, until dropped.
#[derive(Debug)]
struct Locked(bool);

impl Locked {
    /// As far as permitted.
    fn acquire(warnings: &mut Vec<String>) -> Locked {
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

/// The probe's policy and locked memory, given back when dropped.
#[derive(Debug)]
pub(super) struct RealTime {
    before: Option<sched::Policy>,
    nice: Option<i32>,
    _locked: Locked,
}

impl RealTime {
    /// Takes the policy, a real-time one at `priority`, and locks all memory, as far as permitted.
    pub(crate) fn acquire(policy: PolicyOrder, priority: u8, warnings: &mut Vec<String>) -> RealTime {
        let locked = Locked::acquire(warnings);
        let before = sched::Policy::current().ok();
        let (policy, name) = match policy {
            PolicyOrder::Ordinary(nice) => return RealTime::ordinary(nice, locked, warnings),
            PolicyOrder::Fifo => (sched::Policy::fifo(priority), "SCHED_FIFO"),
            PolicyOrder::RoundRobin => (sched::Policy::round_robin(priority), "SCHED_RR"),
        };
        let taken = policy.apply();
        if let Err(e) = &taken {
            warnings.push(format!(
                "NOT REAL-TIME: {name} at priority {priority} is refused ({e}): samples hold the waiting for ordinary processes; run as root, or give CAP_SYS_NICE or `ulimit -r {priority}`"
            ));
        }
        RealTime {
            before: before.filter(|_| taken.is_ok()),
            nice: None,
            _locked: locked,
        }
    }

    /// Scheduled like everybody else, but for the nice value.
    fn ordinary(nice: i8, locked: Locked, warnings: &mut Vec<String>) -> RealTime {
        let before = sched::nice();
        if let Err(e) = sched::set_nice(nice.into()) {
            warnings.push(format!(
                "the nice value {nice} is refused ({e}), it stays {before}; run as root, or give CAP_SYS_NICE"
            ));
        }
        RealTime {
            before: None,
            nice: Some(before),
            _locked: locked,
        }
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        if let Some(nice) = self.nice {
            let _ = sched::set_nice(nice);
        }
        if let Some(policy) = self.before {
            // Going back to where one came from needs no right beyond the one that was there.
            let _ = policy.apply();
        }
    }
}
