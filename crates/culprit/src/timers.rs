//! Interrupts off in every kernel: to show the n-th timer, /proc/timer_list goes past all before it under the timers'
//! raw spin lock.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};

/// Longer than any cell.
const FAR_SECONDS: i64 = 1_000_000;

/// Arms so many timers, then reads the list again and again.
pub fn run(timers: u32) -> io::Result<Infallible> {
    allow_files(u64::from(timers) + 64)?;
    let _armed: Vec<OwnedFd> = (0..timers).map(|_| armed()).collect::<io::Result<_>>()?;
    let mut buffer = vec![0_u8; 1 << 16];
    loop {
        let mut list = File::open("/proc/timer_list")?;
        while list.read(&mut buffer)? > 0 {}
    }
}

fn allow_files(number: u64) -> io::Result<()> {
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

/// A timer that will not expire.
fn armed() -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let timer = unsafe { OwnedFd::from_raw_fd(fd) };
    let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let when = libc::itimerspec {
        it_interval: never,
        it_value: libc::timespec {
            tv_sec: FAR_SECONDS,
            tv_nsec: 0,
        },
    };
    // SAFETY: `when` is a valid itimerspec; the old one is not asked for.
    match unsafe { libc::timerfd_settime(fd, 0, &when, std::ptr::null_mut()) } {
        0 => Ok(timer),
        _ => Err(io::Error::last_os_error()),
    }
}
