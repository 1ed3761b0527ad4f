//! On which CPUs the calling thread may run; what it starts inherits that.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// The CPUs that the calling thread may run on, in ascending order.
pub fn current() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU as u32)
        .filter(|cpu| set.is_set(*cpu as usize))
        .collect())
}

/// How many CPUs the calling thread may run on.
pub fn count() -> u32 {
    current().map_or(1, |cpus| cpus.len() as u32)
}

/// Lets the calling thread run on `cpus` only; an error if one of them cannot be had.
pub fn set(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        set.set(cpu as usize);
    }
    sched_setaffinity(None, &set)?;
    let granted = current()?;
    // The kernel silently leaves out what the cpuset or the machine does not have.
    match cpus.iter().all(|cpu| granted.contains(cpu)) {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "of CPUs {cpus:?} only {granted:?} are to be had"
        ))),
    }
}
