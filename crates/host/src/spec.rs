//! What is asked of one measurement on this machine.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use worstcase_probe::loads::LoadSpec;
use worstcase_probe::{Nanos, Probe, schedule};

/// What wakes the measuring thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// clock_nanosleep until an absolute time.
    Nanosleep,
    /// A periodic timerfd, read.
    Timerfd,
    /// A periodic POSIX timer that sends SIGALRM; the handler takes the instant.
    Posix,
    /// setitimer(ITIMER_REAL); one CPU only, because a process has one.
    Setitimer,
    /// The periodic interrupt of /dev/rtc; no due times, so jitter only.
    Rtc,
    /// The high-resolution timer of the kernel's timerlat threads.
    Timerlat,
    /// No timer: the probe has no due times.
    None,
}

impl Timer {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Timer::Nanosleep => "nanosleep",
            Timer::Timerfd => "timerfd",
            Timer::Posix => "posix",
            Timer::Setitimer => "setitimer",
            Timer::Rtc => "rtc",
            Timer::Timerlat => "timerlat",
            Timer::None => "none",
        }
    }
}

/// The scheduling policy of the measuring threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// SCHED_FIFO at a priority.
    Fifo(u8),
    /// SCHED_RR at a priority.
    Rr(u8),
    /// SCHED_DEADLINE, the interval as period and deadline.
    Deadline,
    /// SCHED_OTHER.
    Other,
}

impl Policy {
    /// Its priority, 0 where it has none.
    pub const fn priority(self) -> u8 {
        match self {
            Policy::Fifo(priority) | Policy::Rr(priority) => priority,
            Policy::Deadline | Policy::Other => 0,
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Fifo(priority) => write!(f, "fifo:{priority}"),
            Policy::Rr(priority) => write!(f, "rr:{priority}"),
            Policy::Deadline => f.write_str("deadline"),
            Policy::Other => f.write_str("other"),
        }
    }
}

/// One measurement: all its CPUs at once, under one load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSpec {
    /// The instrument.
    pub probe: Probe,
    /// What wakes it.
    pub timer: Timer,
    /// How it is scheduled.
    pub policy: Policy,
    /// A measuring thread on each of these CPUs; or the CPUs that a [`Probe::Bench`] uses.
    pub cpus: Vec<u32>,
    /// Distance of two due times of a thread.
    pub interval: Nanos,
    /// The due times of each CPU are this much after those of the CPU before it.
    pub distance: Nanos,
    /// Periods of each thread, or repetitions.
    pub periods: u32,
    /// The load runs alone for this long before.
    pub warmup: Nanos,
    /// The loads' access patterns, and the phase of the first due time.
    pub seed: u64,
    /// The load.
    pub load: LoadSpec,
    /// `noise`: gaps at least this long are kept.
    pub threshold: Nanos,
    /// The trace around this many of the largest samples of each CPU is kept; 0: no trace.
    pub captures: usize,
    /// Where the loads make their files.
    pub work_dir: PathBuf,
    /// The loads' own cgroup, if there is one.
    pub cgroup: Option<PathBuf>,
    /// `timerlat`: its instance of tracefs.
    pub tracing: Option<PathBuf>,
    /// Where the samples are written, one file a CPU.
    pub samples_dir: PathBuf,
}

impl HostSpec {
    /// When period 0 of the `place`-th CPU is due, if nothing may be due before `earliest`.
    pub fn start(&self, earliest: Nanos, place: usize) -> Nanos {
        schedule::start(earliest, self.seed) + Nanos(place as u64 * self.distance.0)
    }

    /// The samples of a CPU.
    pub fn samples_file(&self, cpu: u32) -> PathBuf {
        self.samples_dir.join(format!("cpu{cpu}.samples"))
    }

    /// The parts of the samples of a CPU.
    pub fn parts_file(&self, cpu: u32) -> PathBuf {
        self.samples_dir.join(format!("cpu{cpu}.parts"))
    }

    /// The trace around the latest samples of a CPU.
    pub fn captures_file(&self, cpu: u32) -> PathBuf {
        self.samples_dir.join(format!("cpu{cpu}.captures.json"))
    }

    /// How long it measures, without the warm-up.
    pub fn length(&self) -> Nanos {
        Nanos(self.interval.0.saturating_mul(u64::from(self.periods)))
    }
}
