//! Interrupts off in every kernel: to show the n-th timer, /proc/timer_list goes past all before it under the timers'
//! raw spin lock.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use worstcase_contract::Nanos;

/// Later than any cell ends.
const FAR: Nanos = Nanos(1_000_000_000_000_000);

/// Arms so many timers, then reads the list again and again.
pub(crate) fn run(timers: u32) -> io::Result<Infallible> {
    allow_files(u64::from(timers) + 64)?;
    let timers: Vec<OwnedFd> = (0..timers).map(|_| timer()).collect::<io::Result<_>>()?;
    timers.iter().try_for_each(|timer| arm(timer, FAR))?;
    let mut buffer = vec![0_u8; 1 << 16];
    loop {
        let mut list = File::open("/proc/timer_list")?;
        while list.read(&mut buffer)? > 0 {}
    }
}

/// Lets this process have so many files.
pub(crate) fn allow_files(number: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: number,
        rlim_max: number,
    };
    // SAFETY: `limit` is a valid rlimit.
    match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A timer that is not armed.
pub(crate) fn timer() -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Lets it expire once, at this time of the monotonic clock.
pub(crate) fn arm(timer: &OwnedFd, due: Nanos) -> io::Result<()> {
    let time = |ns: u64| libc::timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as i64,
    };
    let when = libc::itimerspec {
        it_interval: time(0),
        it_value: time(due.0),
    };
    // SAFETY: `when` is a valid itimerspec; the old one is not asked for.
    let armed =
        unsafe { libc::timerfd_settime(timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &when, std::ptr::null_mut()) };
    match armed {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
