//! On which CPUs the calling thread may run; what it starts inherits that.

use super::check;
use std::io;

/// The CPUs that the calling thread may run on, in ascending order.
pub fn current() -> io::Result<Vec<u32>> {
    // SAFETY: cpu_set_t is plain data, for which all zeroes are the empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: `set` is a valid set of the stated size to fill; thread 0 is the caller.
    check(unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) })?;
    // SAFETY: every number asked for lies within the set.
    let has = |cpu: &u32| unsafe { libc::CPU_ISSET(*cpu as usize, &set) };
    Ok((0..libc::CPU_SETSIZE as u32).filter(has).collect())
}

/// How many CPUs the calling thread may run on.
pub fn count() -> u32 {
    current().map_or(1, |cpus| cpus.len() as u32)
}

/// Lets the calling thread run on `cpus` only; an error if one of them cannot be had.
pub fn set(cpus: &[u32]) -> io::Result<()> {
    // SAFETY: as above.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    for &cpu in cpus {
        if cpu >= libc::CPU_SETSIZE as u32 {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        // SAFETY: the number lies within the set.
        unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    }
    // SAFETY: `set` is a valid set of the stated size; thread 0 is the caller.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) })?;
    let granted = current()?;
    // The kernel silently leaves out what the cpuset or the machine does not have.
    match cpus.iter().all(|cpu| granted.contains(cpu)) {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "of CPUs {cpus:?} only {granted:?} are to be had"
        ))),
    }
}
