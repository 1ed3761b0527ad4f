//! On which CPUs the calling thread may run.

use super::check;
use std::io;

fn empty_set() -> libc::cpu_set_t {
    // SAFETY: cpu_set_t is plain data, for which all zeroes are the empty set.
    unsafe { core::mem::zeroed() }
}

/// Keeps the calling thread on `cpu`.
pub fn pin(cpu: u32) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as u32 {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let mut set = empty_set();
    // SAFETY: the set has room for CPU_SETSIZE CPUs.
    unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    // SAFETY: `set` is a valid set of the stated size; 0 is the calling thread.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) })?;
    Ok(())
}

/// The CPUs on which the calling thread may run, in ascending order.
pub fn allowed() -> io::Result<Vec<u32>> {
    let mut set = empty_set();
    // SAFETY: `set` is a valid set of the stated size to fill; 0 is the calling thread.
    check(unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) })?;
    // SAFETY: the set has room for CPU_SETSIZE CPUs.
    let has = |cpu: &u32| unsafe { libc::CPU_ISSET(*cpu as usize, &set) };
    Ok((0..libc::CPU_SETSIZE as u32).filter(has).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_may_run_on_its_cpu_alone() {
        let pinned = std::thread::spawn(|| {
            let last = *allowed().unwrap().last().unwrap();
            pin(last).unwrap();
            (allowed().unwrap(), vec![last])
        });
        let (may, wanted) = pinned.join().unwrap();
        assert_eq!(may, wanted);
        assert!(pin(100_000).is_err());
    }
}
