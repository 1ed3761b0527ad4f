//! What the arguments of `worstcase host run` may be.

use clap::ValueEnum;
use worstcase_host::spec::{Probe, Timer};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProbeArg {
    /// How late a periodic thread wakes up
    Wakeup,
    /// The same, each sample split by the kernel's trace (root)
    Response,
    /// Realfeel: how far periods differ from what they should be
    Jitter,
    /// What takes the CPU away from a thread that never sleeps
    Noise,
    /// How late the kernel's own timerlat threads are (root; CONFIG_TIMERLAT_TRACER)
    Timerlat,
}

impl From<ProbeArg> for Probe {
    fn from(arg: ProbeArg) -> Probe {
        match arg {
            ProbeArg::Wakeup => Probe::Wakeup,
            ProbeArg::Response => Probe::Response,
            ProbeArg::Jitter => Probe::Jitter,
            ProbeArg::Noise => Probe::Noise,
            ProbeArg::Timerlat => Probe::Timerlat,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TimerArg {
    /// clock_nanosleep until an absolute time
    Nanosleep,
    /// A periodic timerfd
    Timerfd,
    /// A POSIX timer that sends SIGALRM
    Posix,
    /// setitimer, one CPU only
    Setitimer,
    /// The periodic interrupt of /dev/rtc, jitter on one CPU only
    Rtc,
}

impl From<TimerArg> for Timer {
    fn from(arg: TimerArg) -> Timer {
        match arg {
            TimerArg::Nanosleep => Timer::Nanosleep,
            TimerArg::Timerfd => Timer::Timerfd,
            TimerArg::Posix => Timer::Posix,
            TimerArg::Setitimer => Timer::Setitimer,
            TimerArg::Rtc => Timer::Rtc,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum PolicyArg {
    /// SCHED_FIFO
    Fifo,
    /// SCHED_RR
    Rr,
    /// SCHED_DEADLINE, the interval as period; not pinned
    Deadline,
    /// SCHED_OTHER
    Other,
}
