//! Scheduling policy and nice value of this process.

use super::check;
use std::io;

/// A policy with its real-time priority, as the kernel reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    policy: libc::c_int,
    priority: libc::c_int,
}

impl Policy {
    /// The ordinary time-sharing policy.
    pub const OTHER: Policy = Policy {
        policy: libc::SCHED_OTHER,
        priority: 0,
    };

    /// SCHED_FIFO at `priority` (1 to 99).
    pub const fn fifo(priority: u8) -> Policy {
        Policy {
            policy: libc::SCHED_FIFO,
            priority: priority as libc::c_int,
        }
    }

    /// The policy of the calling thread.
    pub fn current() -> io::Result<Policy> {
        let mut param = libc::sched_param { sched_priority: 0 };
        // SAFETY: no pointers are passed.
        let policy = check(unsafe { libc::sched_getscheduler(0) })?;
        // SAFETY: `param` is a valid sched_param to fill.
        check(unsafe { libc::sched_getparam(0, &mut param) })?;
        Ok(Policy {
            policy,
            priority: param.sched_priority,
        })
    }

    /// Puts the calling thread under this policy.
    pub fn apply(self) -> io::Result<()> {
        let param = libc::sched_param {
            sched_priority: self.priority,
        };
        // SAFETY: `param` is a valid sched_param; thread 0 is the caller.
        check(unsafe { libc::sched_setscheduler(0, self.policy, &param) })?;
        Ok(())
    }
}

/// The nice value of this process.
pub fn nice() -> i32 {
    // SAFETY: no pointers are passed; asking for the own process cannot fail.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

/// Sets the nice value of this process; raising it needs no right, lowering it does.
pub fn set_nice(value: i32) -> io::Result<()> {
    // SAFETY: no pointers are passed.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, value) })?;
    Ok(())
}
