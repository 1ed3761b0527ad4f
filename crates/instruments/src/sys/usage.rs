//! What a process or thread has used: CPU time, page faults, and how often it gave the CPU away.

use std::ops::{Add, Sub};
use worstcase_logs::Nanos;

/// From its birth on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// User and system time, as the kernel accounts them (in whole microseconds).
    pub cpu: Nanos,
    /// Page faults served without waiting for a device.
    pub minor_faults: u64,
    /// Page faults served by reading from a device.
    pub major_faults: u64,
    /// Switches because it waited.
    pub voluntary: u64,
    /// Switches because something else got the CPU.
    pub involuntary: u64,
}

impl Usage {
    pub(super) fn of(usage: &libc::rusage) -> Usage {
        let time = |t: libc::timeval| Nanos::from_micros(t.tv_sec as u64 * 1_000_000 + t.tv_usec as u64);
        Usage {
            cpu: time(usage.ru_utime) + time(usage.ru_stime),
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
        }
    }
}

impl Add for Usage {
    type Output = Usage;
    fn add(self, other: Usage) -> Usage {
        Usage {
            cpu: self.cpu + other.cpu,
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
            voluntary: self.voluntary + other.voluntary,
            involuntary: self.involuntary + other.involuntary,
        }
    }
}

impl Sub for Usage {
    type Output = Usage;
    /// Never below nothing: the parts of a whole are read one after the other.
    fn sub(self, other: Usage) -> Usage {
        Usage {
            cpu: self.cpu.saturating_sub(other.cpu),
            minor_faults: self.minor_faults.saturating_sub(other.minor_faults),
            major_faults: self.major_faults.saturating_sub(other.major_faults),
            voluntary: self.voluntary.saturating_sub(other.voluntary),
            involuntary: self.involuntary.saturating_sub(other.involuntary),
        }
    }
}

/// Of all threads of this process, those that have ended too.
pub fn own_process() -> Usage {
    ask(libc::RUSAGE_SELF)
}

/// Of the calling thread.
pub fn own_thread() -> Usage {
    ask(libc::RUSAGE_THREAD)
}

fn ask(who: libc::c_int) -> Usage {
    let mut usage = nothing();
    // SAFETY: `usage` is a valid rusage to fill; both `who` above always exist.
    unsafe { libc::getrusage(who, &mut usage) };
    Usage::of(&usage)
}

pub(super) fn nothing() -> libc::rusage {
    // SAFETY: rusage holds integers only, for which all zeroes are valid.
    unsafe { core::mem::zeroed() }
}
