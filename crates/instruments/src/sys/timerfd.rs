//! Timers that are files.

use super::clock::rustix_timespec;
use rustix::io::Errno;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};
use rustix::time::{timerfd_create, timerfd_settime};
use std::io;
use std::os::fd::OwnedFd;
use worstcase_logs::Nanos;

/// A timer on CLOCK_MONOTONIC.
#[derive(Debug)]
pub(crate) struct TimerFd(OwnedFd);

impl TimerFd {
    /// Expires at `first`, and from then on every `period`.
    pub(crate) fn periodic(first: Nanos, period: Nanos) -> io::Result<TimerFd> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let times = Itimerspec {
            it_interval: rustix_timespec(period),
            it_value: rustix_timespec(first),
        };
        timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &times)?;
        Ok(TimerFd(timer))
    }

    /// How many periods have passed since it was asked last.
    pub(crate) fn expired(&self) -> io::Result<u64> {
        let mut count = [0; 8];
        match rustix::io::read(&self.0, &mut count) {
            Ok(_) => Ok(u64::from_ne_bytes(count)),
            Err(Errno::AGAIN) => Ok(0),
            Err(e) => Err(e.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::clock;

    #[test]
    fn expiries_are_counted_once() {
        let first = clock::monotonic() + Nanos::from_millis(1);
        let timer = TimerFd::periodic(first, Nanos(3_600_000_000_000)).unwrap();
        clock::sleep_until(first + Nanos::from_millis(1));
        assert_eq!((timer.expired().unwrap(), timer.expired().unwrap()), (1, 0));
    }
}
