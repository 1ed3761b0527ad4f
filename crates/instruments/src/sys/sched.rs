//! Scheduling policy and nice value of this process.

use super::check;
use super::process::Pid;
use rustix::process::{getpriority_process, setpriority_process};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use worstcase_logs::Nanos;

/// A policy with its real-time priority, as the kernel reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    /// SCHED_RR at `priority` (1 to 99).
    pub const fn round_robin(priority: u8) -> Policy {
        Policy {
            policy: libc::SCHED_RR,
            priority: priority as libc::c_int,
        }
    }

    /// The policy of the calling thread.
    pub fn current() -> io::Result<Policy> {
        Policy::of(0)
    }

    /// The policy of another thread, by its number.
    pub fn of(thread: Pid) -> io::Result<Policy> {
        let mut param = libc::sched_param { sched_priority: 0 };
        // SAFETY: no pointers are passed.
        let policy = check(unsafe { libc::sched_getscheduler(thread) })?;
        // SAFETY: `param` is a valid sched_param to fill.
        check(unsafe { libc::sched_getparam(thread, &mut param) })?;
        Ok(Policy {
            policy,
            priority: param.sched_priority,
        })
    }

    /// Puts the calling thread under this policy.
    pub fn apply(self) -> io::Result<()> {
        self.apply_to(0)
    }

    /// Puts another thread under it, by its number.
    pub fn apply_to(self, thread: Pid) -> io::Result<()> {
        let param = libc::sched_param {
            sched_priority: self.priority,
        };
        // SAFETY: `param` is a valid sched_param; the kernel checks the number, of which 0 is the caller.
        check(unsafe { libc::sched_setscheduler(thread, self.policy, &param) })?;
        Ok(())
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.policy {
            libc::SCHED_FIFO => write!(f, "fifo:{}", self.priority),
            libc::SCHED_RR => write!(f, "rr:{}", self.priority),
            libc::SCHED_OTHER => f.write_str("other"),
            n => write!(f, "policy {n}:{}", self.priority),
        }
    }
}

/// `struct sched_attr` as of Linux 3.14.
#[repr(C)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Puts the calling thread under SCHED_DEADLINE, with the period as deadline.
pub fn apply_deadline(runtime: Nanos, period: Nanos) -> io::Result<()> {
    let attr = SchedAttr {
        size: size_of::<SchedAttr>() as u32,
        policy: libc::SCHED_DEADLINE as u32,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime: runtime.0,
        deadline: period.0,
        period: period.0,
    };
    // SAFETY: `attr` is a valid sched_attr of the size that it states; 0 is the calling thread.
    check(unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0) })?;
    Ok(())
}

/// Gives the CPU away; the calling thread can go on at once.
#[inline(always)]
pub(crate) fn give_away() {
    rustix::thread::sched_yield();
}

/// The nice value of this process.
pub fn nice() -> i32 {
    // Asking for the own process cannot fail.
    getpriority_process(None).unwrap_or(0)
}

/// Sets the nice value of this process; raising it needs no right, lowering it does.
pub fn set_nice(value: i32) -> io::Result<()> {
    Ok(setpriority_process(None, value)?)
}
