//! What one thread cost: CPU time and page faults.

use std::io;
use worstcase_probe::Nanos;

/// CPU time and page faults of a thread so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time.
    pub cpu_time: Nanos,
    /// Page faults served without waiting for a device.
    pub minor_faults: u64,
    /// Page faults served by reading from a device.
    pub major_faults: u64,
}

/// Of the calling thread.
pub fn of_thread() -> io::Result<Usage> {
    // SAFETY: rusage and timespec hold integers only, for which all zeroes are valid.
    let (mut usage, mut time): (libc::rusage, libc::timespec) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    // SAFETY: `usage` is a valid rusage to fill.
    super::check(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) })?;
    // SAFETY: `time` is a valid timespec to fill.
    super::check(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) })?;
    Ok(Usage {
        cpu_time: Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64),
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
    })
}

impl Usage {
    /// What was added since `before`.
    pub fn since(self, before: Usage) -> Usage {
        Usage {
            cpu_time: self.cpu_time.saturating_sub(before.cpu_time),
            minor_faults: self.minor_faults - before.minor_faults,
            major_faults: self.major_faults - before.major_faults,
        }
    }
}
