//! The probe's clock (CLOCK_MONOTONIC), sleeping until an instant of it, and CPU time.

use super::check;
use std::io;
use std::num::NonZeroU64;
use worstcase_logs::Nanos;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A clock whose resolution can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The clock of all samples.
    Monotonic,
    /// The clock that only moves with the tick: its resolution is 1/HZ.
    Tick,
}

pub(super) fn timespec(t: Nanos) -> libc::timespec {
    libc::timespec {
        tv_sec: (t.0 / NANOS_PER_SECOND) as libc::time_t,
        tv_nsec: (t.0 % NANOS_PER_SECOND) as libc::c_long,
    }
}

/// The same in the form of rustix.
pub fn rustix_timespec(t: Nanos) -> rustix::time::Timespec {
    let whole = std::time::Duration::from_nanos(t.0);
    whole.try_into().expect("64 bits hold every duration of this type")
}

fn nanos(t: libc::timespec) -> Nanos {
    Nanos(t.tv_sec as u64 * NANOS_PER_SECOND + t.tv_nsec as u64)
}

#[inline(always)]
fn read(clock: libc::clockid_t) -> io::Result<Nanos> {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec for the kernel (or the vDSO) to fill.
    check(unsafe { libc::clock_gettime(clock, &mut t) })?;
    Ok(nanos(t))
}

/// Now, on CLOCK_MONOTONIC; no system call where the vDSO serves the clock source.
#[inline(always)]
pub fn monotonic() -> Nanos {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec to fill; CLOCK_MONOTONIC always exists, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    nanos(t)
}

/// The CPU's own counter, read without asking anybody; in the lab it counts virtual nanoseconds.
#[inline(always)]
pub fn counter() -> Nanos {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has the counter, and reading it changes nothing.
    return Nanos(unsafe { core::arch::x86_64::_rdtsc() });
    #[cfg(not(target_arch = "x86_64"))]
    monotonic()
}

/// Sleeps until `due` on CLOCK_MONOTONIC; signals that are handled meanwhile do not end the sleep.
#[inline(always)]
pub fn sleep_until(due: Nanos) {
    let t = timespec(due);
    loop {
        // SAFETY: `t` is a valid timespec; with TIMER_ABSTIME no remaining time is written back.
        let error =
            unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &t, core::ptr::null_mut()) };
        if error != libc::EINTR {
            return;
        }
    }
}

/// How much later than asked for the kernel may end this thread's sleeps, to end several by one interrupt.
pub(crate) fn set_timer_slack(slack: Nanos) -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(slack.0))?)
}

/// The resolution that the kernel states for `clock`.
pub fn resolution(clock: Clock) -> io::Result<Nanos> {
    let id = match clock {
        Clock::Monotonic => libc::CLOCK_MONOTONIC,
        Clock::Tick => libc::CLOCK_MONOTONIC_COARSE,
    };
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec for the kernel to fill.
    check(unsafe { libc::clock_getres(id, &mut t) })?;
    Ok(nanos(t))
}

/// The shortest of many distances between two reads of the clock.
pub fn read_cost(trials: usize) -> Nanos {
    let mut shortest = Nanos(u64::MAX);
    let mut before = monotonic();
    for _ in 0..trials {
        let now = monotonic();
        shortest = shortest.min(now - before);
        before = now;
    }
    shortest
}

/// CPU time of this process, all threads.
pub fn own_cpu_time() -> io::Result<Nanos> {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of the calling thread.
#[inline(always)]
pub(crate) fn thread_cpu_time() -> Nanos {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec to fill; CLOCK_THREAD_CPUTIME_ID always exists, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    nanos(t)
}

/// CPU time of the process `pid`, all threads, without its children.
pub(crate) fn cpu_time_of(pid: i32) -> io::Result<Nanos> {
    let mut clock = 0;
    // SAFETY: `clock` is a valid clockid_t to fill.
    match unsafe { libc::clock_getcpuclockid(pid, &mut clock) } {
        0 => read(clock),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_until_an_instant_ends_after_it() {
        let due = monotonic() + Nanos::from_millis(2);
        sleep_until(due);
        assert!(monotonic() >= due);
        sleep_until(Nanos(1)); // long past: returns at once
    }

    #[test]
    fn timespecs_and_back() {
        for n in [0, 1, 999_999_999, 1_000_000_000, 123_456_789_012_345] {
            assert_eq!(nanos(timespec(Nanos(n))), Nanos(n));
        }
    }
}
