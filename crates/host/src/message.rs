//! Messages of the measuring process to the controller while it runs: a JSON object on each line.

use crate::buckets::Buckets;
use crate::trace::EventSnapshot;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_contract::bench::Details;
use worstcase_contract::record::{Periods, Sample, SelfCost, Work};
use worstcase_results::record::Summary;
use worstcase_results::stats::bucket_counts::{BucketRule, FourAnOctave};

/// Samples of a CPU so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuStats {
    /// The CPU.
    pub cpu: u32,
    /// Samples.
    pub taken: u64,
    /// Periods that passed while the probe was late, before the last sample.
    pub missed: u64,
    /// Samples, or gaps, that were taken and could not be kept.
    pub lost: u64,
    /// The smallest latency.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// Sum of all latencies.
    pub sum_ns: u64,
    /// Period of the largest latency.
    pub max_index: u64,
    /// Counts of samples, by [`bucket`].
    pub histogram: Vec<u64>,
}

/// The histogram's bucket of a latency.
pub fn bucket(ns: u64) -> usize {
    FourAnOctave::bucket(ns) as usize
}

impl CpuStats {
    /// Counts the sample of period `index`, or the gap with this number.
    pub fn add(&mut self, index: u64, latency: u64) {
        if self.taken == 0 || latency < self.min_ns {
            self.min_ns = latency;
        }
        self.taken += 1;
        if latency > self.max_ns || self.taken == 1 {
            self.max_ns = latency;
            self.max_index = index;
        }
        self.sum_ns += latency;
        let bucket = bucket(latency);
        if self.histogram.len() <= bucket {
            self.histogram.resize(bucket + 1, 0);
        }
        self.histogram[bucket] += 1;
    }
}

/// A thread's own cost and its results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuDone {
    /// The CPU.
    pub cpu: u32,
    /// The due time of period 0.
    pub start: Nanos,
    /// The account of its periods or gaps.
    pub seen: ThreadCounts,
    /// `timerlat`: lines of the trace that the kernel dropped, as far as it counts them.
    pub(crate) lost_lines: u64,
    /// Samples before their due time.
    pub early: u64,
    /// One read of the clock.
    pub clock_read: Nanos,
    /// One turn of the loop with nothing to wait for.
    pub empty_sample: Nanos,
    /// CPU time of the thread while it measured.
    pub cpu_time: Nanos,
    /// Its page faults without a device.
    pub minor_faults: u64,
    /// Its page faults that needed a device.
    pub major_faults: u64,
    /// Time that the hypervisor took from this CPU meanwhile, where the kernel counts it.
    pub(crate) steal: Option<Nanos>,
    /// Whether parts of its samples were written.
    pub parts: bool,
    /// Number of samples with a captured trace.
    pub captures: usize,
    /// `noise`: what took the CPU, where the trace was read.
    pub causes: Vec<GapCause>,
}

/// What a thread's numbers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadCounts {
    /// Every period, with or without a sample.
    Periods(Periods),
    /// `noise`: gaps in the observed time.
    Gaps {
        /// Windows that it began.
        windows: u32,
        /// Time in which it looked for gaps, gaps included.
        observed: Nanos,
        /// Gaps that could not be kept.
        lost: u64,
    },
}

impl ThreadCounts {
    /// Periods that were due, or windows of `noise`.
    pub(crate) fn expected(&self) -> u32 {
        match self {
            ThreadCounts::Periods(periods) => periods.expected as u32,
            ThreadCounts::Gaps { windows, .. } => *windows,
        }
    }

    /// Samples or gaps that could not be kept.
    pub fn lost(&self) -> u64 {
        match self {
            ThreadCounts::Periods(periods) => periods.lost,
            ThreadCounts::Gaps { lost, .. } => *lost,
        }
    }
}

/// A cause of gaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapCause {
    /// An interrupt, a soft interrupt, a thread, or `unexplained`.
    pub name: String,
    /// How often.
    pub count: u64,
    /// The total of its time.
    pub total: Nanos,
    /// Its longest.
    pub max: Nanos,
}

/// What a probe of [`worstcase_contract::bench`] gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchDone {
    /// When it began.
    pub start: Nanos,
    /// Its samples.
    pub samples: Vec<Sample>,
    /// What it reports in addition to samples.
    pub details: Details,
    /// What measuring cost.
    pub self_cost: SelfCost,
    /// Time that the hypervisor took from its CPUs meanwhile, where the kernel counts it.
    pub(crate) steal: Option<Nanos>,
    /// How long it took.
    pub measured: Nanos,
}

/// The end of a measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasurementEnd {
    /// Each CPU.
    pub cpus: Vec<CpuDone>,
    /// The result of a probe that does not measure CPU by CPU.
    pub bench: Option<BenchDone>,
    /// What the load did while measuring.
    pub work: Vec<Work>,
    /// What was missing, and may have changed the result.
    pub warnings: Vec<String>,
    /// Notes about the load.
    pub notes: Vec<String>,
    /// What the machine reports about itself.
    pub environment: BTreeMap<String, String>,
    /// Real-time threads may have been throttled; `None` if that is not known.
    pub(crate) throttled: Option<bool>,
    /// The user ended it early.
    pub(crate) stopped: bool,
    /// A sample above [`crate::HostSpec::break_at`] ended it.
    pub broke: bool,
    /// It ended because the disk had little more room than keeping the samples takes.
    pub full: bool,
    /// Peak memory of the measuring process.
    pub(crate) peak_memory_kb: u64,
    /// Trace events that the kernel dropped.
    pub(crate) lost_events: u64,
}

/// A segment of an endless measurement, as far as it has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchSegment {
    /// Its number, from 0.
    pub number: u64,
    /// The segment is over.
    pub ended: bool,
    /// The results, as at the end of a measurement.
    pub done: MeasurementEnd,
    /// The samples of each of its CPUs, in the order of the CPUs.
    pub taken: Vec<Taken>,
}

/// Samples of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Summary of all samples.
    pub summary: Option<Summary>,
    /// Period and latency of the kept samples.
    pub rows: Vec<(u32, u64)>,
    /// When the segment is over, the trace around its latest samples.
    pub captures: Vec<EventSnapshot>,
}

/// The state of a CPU in an endless measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pulse {
    /// The CPU.
    pub cpu: u32,
    /// All samples since the begin.
    pub latencies: Buckets,
    /// Periods since the begin that passed while the probe was late.
    pub missed: u64,
    /// Samples since the begin that could not be kept.
    pub lost: u64,
    /// The largest sample of the running segment.
    pub max: Nanos,
}

/// A message of the measuring process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The load runs alone.
    WarmUp {
        /// For how long.
        length: Nanos,
    },
    /// The state of a measurement, several times a second.
    Tick {
        /// How long it has measured.
        elapsed: Nanos,
        /// Samples so far.
        cpus: Vec<CpuStats>,
        /// The load's work so far.
        work: Vec<Work>,
    },
    /// A sample was above [`crate::HostSpec::break_at`]: the measurement ends.
    Broke {
        /// Its CPU.
        cpu: u32,
        /// Its period, or the number of the gap.
        index: u64,
        /// Its latency, or length.
        latency: Nanos,
    },
    /// A segment of an endless measurement, unfinished or complete.
    Segment(Box<WatchSegment>),
    /// The state of an endless measurement, every second.
    Pulse(Vec<Pulse>),
    /// The measurement has ended.
    Done(Box<MeasurementEnd>),
    /// The measurement failed.
    Failed {
        /// The reason, in one line.
        reason: String,
        /// A right, a program or a kernel feature is missing.
        missing: bool,
        /// A file could not be written.
        storage: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_sample_is_named_by_its_period() {
        let mut stats = CpuStats::default();
        for (index, latency) in [(0, 5), (3, 90), (4, 7)] {
            stats.add(index, latency);
        }
        assert_eq!(
            (stats.taken, stats.max_ns, stats.max_index, stats.min_ns),
            (3, 90, 3, 5)
        );
        assert_eq!(stats.histogram.iter().sum::<u64>(), 3);
    }
}
