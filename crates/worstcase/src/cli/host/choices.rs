//! What the arguments of `worstcase host run` may be.

use clap::ValueEnum;
use std::str::FromStr;
use worstcase_host::spec::{Probe, Timer};
use worstcase_probe::bench::Bench;
use worstcase_probe::spec::SpecError;

pub(super) const PROBES: &str = "\
Instruments, separated by commas:
  wakeup     how late a periodic thread wakes up
  response   the same, each sample split by the kernel's trace (root)
  jitter     Realfeel: how far periods differ from what they should be
  noise      what takes the CPU away from a thread that never sleeps
  timerlat   how late the kernel's own timerlat threads are (root; CONFIG_TIMERLAT_TRACER)
  switch     what a context switch costs: lat_ctx's ring, e.g. switch:2/16x0/16k+pipe/futex; alone: its grid
  hackbench  how long message passing takes, e.g. hackbench:1/10x25x100x100+pipes+cpus1/2
  inversion  priority inversion on a mutex, e.g. inversion:1/4+inherit/none (real-time right)
Alternatives stand between slashes; every parameter is in docs/probes.md.";

/// The probes that one word of `--probe` asks for.
#[derive(Clone, Debug)]
pub(super) struct ProbeList(pub Vec<Probe>);

impl FromStr for ProbeList {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<ProbeList, SpecError> {
        if let Some(probe) = Probe::TIMED.into_iter().find(|p| p.name() == text) {
            return Ok(ProbeList(vec![probe]));
        }
        let name = text.split([':', '+']).next().unwrap_or_default();
        if Bench::NAMES.contains(&name) {
            return Ok(ProbeList(Bench::expand(text)?.into_iter().map(Probe::Bench).collect()));
        }
        let known: Vec<&str> = Probe::TIMED.into_iter().map(Probe::name).chain(Bench::NAMES).collect();
        Err(SpecError(format!(
            "unknown probe '{text}'; known: {}",
            known.join(", ")
        )))
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
