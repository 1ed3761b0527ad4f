//! What the arguments of `worstcase host run` may be.

use clap::ValueEnum;
use std::str::FromStr;
use worstcase_host::spec::Timer;
use worstcase_probe::Venue;
use worstcase_probe::probe::{PROBES, Probe};
use worstcase_probe::spec::SpecError;

/// The long help of `--probe`.
pub(super) fn probe_help() -> String {
    let mut help = String::from("Instruments, separated by commas:\n");
    for probe in &PROBES {
        help += &format!("  {:<10} {}\n", probe.name, probe.about);
    }
    help + "Alternatives stand between slashes; every parameter is in docs/probes.md."
}

/// The probes that one word of `--probe` asks for.
#[derive(Clone, Debug)]
pub(super) struct ProbeList(pub Vec<Probe>);

impl FromStr for ProbeList {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<ProbeList, SpecError> {
        let probes = Probe::expand(text)?;
        probes.iter().try_for_each(|probe| probe.check_venue(Venue::Host))?;
        Ok(ProbeList(probes))
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
