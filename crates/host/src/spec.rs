//! What is asked of one measurement on this machine.

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
    pub const OTHER: ThreadScheduling = ThreadScheduling::new(SchedulingPolicy::Other, 0);

    /// Under a policy, at a priority if that has one.
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

    /// The same at a nice value, which counts under SCHED_OTHER alone.
    #[must_use]
    pub const fn at_nice(self, nice: i8) -> ThreadScheduling {
        ThreadScheduling { nice, ..self }
    }

    /// Its nice value.
    pub const fn nice(self) -> i8 {
        self.nice
    }

    /// The policy.
    pub const fn policy(self) -> SchedulingPolicy {
        self.policy
    }

    /// Its priority, 0 where it has none.
    pub const fn priority(self) -> u8 {
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
    /// What wakes it.
    pub waker: WakeSource,
    /// How it is scheduled.
    pub scheduling: ThreadScheduling,
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
    /// The I/O scheduler that the disk with its files has meanwhile; none: the one that it has.
    pub io_scheduler: Option<IoScheduler>,
    /// The CPUs that it runs on; none: where the measuring process was started.
    pub load_cpus: Vec<u32>,
    /// Those of `cpus` that the kernel keeps ordinary work away from.
    pub isolated: CpuList,
    /// `noise`: gaps at least this long are kept.
    pub threshold: Nanos,
    /// The trace around this many of the largest samples of each CPU is kept; 0: no trace.
    pub captures: usize,
    /// The trace is kept if the kernel permits it; else it has to be.
    pub captures_if_permitted: bool,
    /// The first sample above this ends the measurement.
    pub break_at: Option<Nanos>,
    /// Where the loads make their files.
    pub work_dir: PathBuf,
    /// The loads' own cgroup, if there is one.
    pub cgroup: Option<PathBuf>,
    /// `timerlat`: its instance of tracefs.
    pub tracing: Option<PathBuf>,
    /// Where the samples are written, one file a CPU.
    pub samples_dir: PathBuf,
    /// It has no end: `periods` are those of a segment, and one segment follows the other. Nothing is written then.
    pub segments: Option<SegmentSpec>,
}

/// Of a measurement without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentSpec {
    /// It tells what it has of a segment every so many periods.
    pub checkpoint: u32,
    /// The samples that it keeps of each segment.
    pub selection: SampleSelection,
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
