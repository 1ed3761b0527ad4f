//! The order for one measurement on this machine.

use crate::loads::LoadPlace;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use worstcase_contract::loads::LoadSpec;
use worstcase_contract::{Nanos, Probe, schedule};
use worstcase_plan::{CpuList, IoScheduler, SchedulingPolicy, TimerKind};
use worstcase_results::record::SampleSelection;

/// What wakes the measuring threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WakeSource {
    /// A timer that the thread sets, or reads.
    Timer(TimerKind),
    /// The high-resolution timer of the kernel's timerlat threads.
    Timerlat,
    /// Nothing: the probe has no due times.
    None,
}

impl WakeSource {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            WakeSource::Timer(timer) => timer.name(),
            WakeSource::Timerlat => "timerlat",
            WakeSource::None => "none",
        }
    }
}

/// How the measuring threads are scheduled: a policy, and a priority where the policy has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadScheduling {
    policy: SchedulingPolicy,
    priority: u8,
    nice: i8,
}

impl ThreadScheduling {
    /// SCHED_OTHER.
    pub(crate) const OTHER: ThreadScheduling = ThreadScheduling::new(SchedulingPolicy::Other, 0);

    /// With a policy, and a priority if the policy has one.
    pub const fn new(policy: SchedulingPolicy, priority: u8) -> ThreadScheduling {
        let priority = match policy {
            SchedulingPolicy::Fifo | SchedulingPolicy::Rr => priority,
            SchedulingPolicy::Deadline | SchedulingPolicy::Other => 0,
        };
        ThreadScheduling {
            policy,
            priority,
            nice: 0,
        }
    }

    /// The same with a nice value, which matters under SCHED_OTHER alone.
    #[must_use]
    pub const fn at_nice(self, nice: i8) -> ThreadScheduling {
        ThreadScheduling { nice, ..self }
    }

    /// Its nice value.
    pub(crate) const fn nice(self) -> i8 {
        self.nice
    }

    /// The policy.
    pub const fn policy(self) -> SchedulingPolicy {
        self.policy
    }

    /// Its priority, 0 where it has none.
    pub(crate) const fn priority(self) -> u8 {
        self.priority
    }
}

impl fmt::Display for ThreadScheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.policy {
            SchedulingPolicy::Fifo | SchedulingPolicy::Rr => write!(f, "{}:{}", self.policy, self.priority),
            SchedulingPolicy::Other if self.nice != 0 => write!(f, "{}:{}", self.policy, self.nice),
            SchedulingPolicy::Deadline | SchedulingPolicy::Other => self.policy.fmt(f),
        }
    }
}

/// One measurement: all its CPUs at once, under one load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSpec {
    /// The instrument.
    pub probe: Probe,
    /// What wakes the instrument.
    pub waker: WakeSource,
    /// How the instrument is scheduled.
    pub scheduling: ThreadScheduling,
    /// The CPUs with a measuring thread on each; or the CPUs that a [`Probe::Bench`] uses.
    pub cpus: Vec<u32>,
    /// Distance of two due times of a thread.
    pub interval: Nanos,
    /// How much later each CPU's due times are than those of the CPU before it.
    pub distance: Nanos,
    /// Periods of each thread, or repetitions.
    pub periods: u32,
    /// How long the load runs alone before measuring.
    pub warmup: Nanos,
    /// Seeds the loads' access patterns, and shifts the phase of the first due time.
    pub seed: u64,
    /// The load.
    pub load: LoadSpec,
    /// The I/O scheduler during the measurement, for the disk with its files; `None` leaves it as it is.
    pub io_scheduler: Option<IoScheduler>,
    /// The load's CPUs; if empty, those with which the measuring process was started.
    pub load_cpus: Vec<u32>,
    /// The CPUs of `cpus` that the kernel keeps ordinary work away from.
    pub isolated: CpuList,
    /// `noise`: gaps at least this long are kept.
    pub threshold: Nanos,
    /// For how many of the largest samples of each CPU the trace is kept; 0: no trace.
    pub captures: usize,
    /// Without permission for the trace, measure all the same; otherwise that is an error.
    pub captures_if_permitted: bool,
    /// Why none are kept, where they would be if the kernel let this user trace it.
    pub captures_refused: Option<String>,
    /// The first sample above this ends the measurement.
    pub break_at: Option<Nanos>,
    /// The parent folder of the loads' files.
    pub work_dir: PathBuf,
    /// The loads' own cgroup, if there is one.
    pub cgroup: Option<PathBuf>,
    /// The instance of tracefs for `timerlat`.
    pub tracing: Option<PathBuf>,
    /// Where the samples are written, one file a CPU.
    pub samples_dir: PathBuf,
    /// For an endless measurement: `periods` are those of a segment, and one segment follows the other. No file of
    /// samples is written.
    pub segments: Option<SegmentSpec>,
}

/// The segments of an endless measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentSpec {
    /// Number of periods between two reports about a segment.
    pub checkpoint: u32,
    /// The samples that are kept of each segment.
    pub selection: SampleSelection,
    /// How many there are at most, so that the last one is whole; no number for an end by the user alone.
    pub most: Option<u64>,
}

impl HostSpec {
    /// When period 0 of the `place`-th CPU is due, which is not before `earliest`.
    pub fn start(&self, earliest: Nanos, place: usize) -> Nanos {
        schedule::start(earliest, self.seed) + Nanos(place as u64 * self.distance.0)
    }

    /// The file with the samples of a CPU.
    pub fn samples_file(&self, cpu: u32) -> PathBuf {
        self.samples_dir.join(format!("cpu{cpu}.samples"))
    }

    /// The file with the parts of a CPU's samples.
    pub(crate) fn parts_file(&self, cpu: u32) -> PathBuf {
        self.samples_dir.join(format!("cpu{cpu}.parts"))
    }

    /// The file with the trace around a CPU's latest samples.
    pub(crate) fn captures_file(&self, cpu: u32) -> PathBuf {
        self.samples_dir.join(format!("cpu{cpu}.captures.json"))
    }

    /// Where the load works.
    pub(crate) fn load_place(&self) -> LoadPlace {
        LoadPlace {
            work_dir: self.work_dir.clone(),
            cgroup: self.cgroup.clone(),
            cpus: self.load_cpus.clone(),
        }
    }

    /// The length of the measurement, without the warm-up.
    pub fn length(&self) -> Nanos {
        Nanos(self.interval.0.saturating_mul(u64::from(self.periods)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_name_what_wakes_and_schedules() {
        let words = [
            (ThreadScheduling::new(SchedulingPolicy::Fifo, 95), "fifo:95", 95),
            (ThreadScheduling::new(SchedulingPolicy::Rr, 1), "rr:1", 1),
            (ThreadScheduling::new(SchedulingPolicy::Deadline, 90), "deadline", 0),
            (ThreadScheduling::new(SchedulingPolicy::Other, 90), "other", 0),
            (
                ThreadScheduling::new(SchedulingPolicy::Other, 90).at_nice(-5),
                "other:-5",
                0,
            ),
        ];
        for (scheduling, word, priority) in words {
            assert_eq!(
                (scheduling.to_string().as_str(), scheduling.priority()),
                (word, priority)
            );
        }
        assert_eq!(WakeSource::Timer(TimerKind::Setitimer).name(), "setitimer");
        assert_eq!(
            [WakeSource::Timerlat, WakeSource::None].map(WakeSource::name),
            ["timerlat", "none"]
        );
    }
}
