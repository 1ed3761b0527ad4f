//! On which CPUs the calling thread may run.

use super::check;
use std::io;

fn no_cpu() -> libc::cpu_set_t {
    // SAFETY: cpu_set_t is plain data, for which all zeroes are the empty set.
    unsafe { core::mem::zeroed() }
}

/// The lowest CPU on which the calling thread may run.
pub fn first_allowed() -> io::Result<u32> {
    let mut set = no_cpu();
    // SAFETY: `set` is valid to fill, and the size is its own.
    check(unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) })?;
    // SAFETY: every number is within the set.
    let first = (0..libc::CPU_SETSIZE as u32).find(|cpu| unsafe { libc::CPU_ISSET(*cpu as usize, &set) });
    first.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

/// From now on the calling thread runs on `cpu` alone, and so do those that it starts.
pub fn to(cpu: u32) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as u32 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut set = no_cpu();
    // SAFETY: `cpu` is within the set.
    unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    // SAFETY: `set` is valid, and the size is its own.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_where_it_is_put() {
        let cpu = first_allowed().unwrap();
        let put = std::thread::spawn(move || to(cpu).and_then(|()| first_allowed()));
        assert_eq!(put.join().unwrap().unwrap(), cpu);
        assert_eq!(to(u32::MAX).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
