//! What wakes a measuring thread: one type for each timer, all with the same two steps.

use rustix::fd::OwnedFd;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};
use std::io;
use worstcase_contract::{Nanos, Schedule};
use worstcase_instruments::sys::alarm::{Alarm, OnExpiry};
use worstcase_instruments::sys::clock;
use worstcase_instruments::sys::rtc::Rtc;

/// A wake-up.
#[derive(Clone, Copy, Debug)]
pub struct Wake {
    /// The instant at which user code ran again.
    pub now: Nanos,
    /// Periods that became due after the awaited one.
    pub(crate) overrun: u64,
}

/// A timer.
pub trait TimerSource {
    /// Arms the timer for the schedule; gives the schedule as the timer keeps it.
    fn arm(&mut self, schedule: Schedule) -> io::Result<Schedule>;

    /// Waits for period `index`; `None` if something else woke the thread.
    fn wait(&mut self, schedule: &Schedule, index: u32) -> io::Result<Option<Wake>>;
}

/// clock_nanosleep.
pub struct Nanosleep;

impl TimerSource for Nanosleep {
    fn arm(&mut self, schedule: Schedule) -> io::Result<Schedule> {
        Ok(schedule)
    }

    #[inline(always)]
    fn wait(&mut self, schedule: &Schedule, index: u32) -> io::Result<Option<Wake>> {
        clock::sleep_until(schedule.due(index));
        let now = clock::monotonic();
        Ok(Some(Wake {
            now,
            overrun: schedule.overrun(index, now),
        }))
    }
}

/// A periodic timerfd.
pub(crate) struct Timerfd(OwnedFd);

impl Timerfd {
    /// A timer, not yet armed.
    pub fn new() -> io::Result<Timerfd> {
        Ok(Timerfd(rustix::time::timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::CLOEXEC,
        )?))
    }
}

impl TimerSource for Timerfd {
    fn arm(&mut self, schedule: Schedule) -> io::Result<Schedule> {
        let value = Itimerspec {
            it_interval: clock::rustix_timespec(schedule.interval),
            it_value: clock::rustix_timespec(schedule.start),
        };
        rustix::time::timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &value)?;
        Ok(schedule)
    }

    #[inline(always)]
    fn wait(&mut self, _schedule: &Schedule, _index: u32) -> io::Result<Option<Wake>> {
        let mut expirations = [0; 8];
        let read = rustix::io::read(&self.0, &mut expirations);
        let now = clock::monotonic();
        match read {
            Ok(_) => Ok(Some(Wake {
                now,
                overrun: u64::from_ne_bytes(expirations).saturating_sub(1),
            })),
            Err(rustix::io::Errno::INTR) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }
}

/// What the handler of SIGALRM recorded.
#[derive(Default)]
struct SignalWake(Option<Wake>);

impl OnExpiry for SignalWake {
    #[inline(always)]
    fn expired(&mut self, now: Nanos, overrun: u64) {
        self.0 = Some(Wake { now, overrun });
    }
}

/// Arms the timer for the schedule; forgets an earlier expiry.
fn arm(alarm: &mut Alarm<SignalWake>, schedule: Schedule) -> io::Result<Schedule> {
    alarm.state().0 = None;
    let start = alarm.arm(schedule.start, schedule.interval)?;
    Ok(Schedule { start, ..schedule })
}

/// SIGALRM of a timer that counts its overruns.
pub(crate) struct PosixTimer(Alarm<SignalWake>);

impl PosixTimer {
    /// A timer of the calling thread, not yet armed.
    pub fn new() -> io::Result<PosixTimer> {
        Alarm::posix(SignalWake::default()).map(PosixTimer)
    }
}

impl TimerSource for PosixTimer {
    fn arm(&mut self, schedule: Schedule) -> io::Result<Schedule> {
        arm(&mut self.0, schedule)
    }

    #[inline(always)]
    fn wait(&mut self, _schedule: &Schedule, _index: u32) -> io::Result<Option<Wake>> {
        self.0.wait();
        Ok(self.0.state().0.take())
    }
}

/// SIGALRM of setitimer. It does not count overruns, so they are computed from the clock.
pub(crate) struct IntervalTimer(Alarm<SignalWake>);

impl IntervalTimer {
    /// The process's timer, not yet armed.
    pub fn new() -> io::Result<IntervalTimer> {
        Alarm::interval(SignalWake::default()).map(IntervalTimer)
    }
}

impl TimerSource for IntervalTimer {
    fn arm(&mut self, schedule: Schedule) -> io::Result<Schedule> {
        arm(&mut self.0, schedule)
    }

    #[inline(always)]
    fn wait(&mut self, schedule: &Schedule, index: u32) -> io::Result<Option<Wake>> {
        self.0.wait();
        Ok(self.0.state().0.take().map(|wake| Wake {
            overrun: schedule.overrun(index, wake.now),
            ..wake
        }))
    }
}

/// The real-time clock's periodic interrupt. It has no due times: each one is the sample before plus the interval.
pub(crate) struct RtcTicks {
    rtc: Rtc,
    last: Nanos,
}

impl RtcTicks {
    /// For a clock that ticks already.
    pub fn new(rtc: Rtc) -> RtcTicks {
        RtcTicks { rtc, last: Nanos(0) }
    }
}

impl TimerSource for RtcTicks {
    fn arm(&mut self, schedule: Schedule) -> io::Result<Schedule> {
        self.rtc.wait()?;
        self.last = clock::monotonic();
        Ok(Schedule {
            start: self.last + schedule.interval,
            ..schedule
        })
    }

    fn wait(&mut self, schedule: &Schedule, index: u32) -> io::Result<Option<Wake>> {
        let interrupts = self.rtc.wait()?.max(1);
        let now = clock::monotonic();
        // The distance to the sample before stands in place of the latency: see `TimerKind::Rtc` in the controller's `jitter`.
        let distance = now - self.last;
        self.last = now;
        Ok(Some(Wake {
            now: schedule.due(index) + distance,
            overrun: interrupts - 1,
        }))
    }
}
