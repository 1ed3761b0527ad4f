//! The measures of a line, and the points that have enough samples for them.

use super::HistoryPoint;
use crate::stats::Percentile;
use serde::{Serialize, Serializer};

/// The typical late sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typical {
    /// The highest percentile up to p99.9 that nearly all points bear.
    Percentile(Percentile),
    /// The median, if there are too few samples for a percentile.
    Median,
    /// `noise`: time in gaps, of a second of observation.
    Noise,
}

/// A measure of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryMeasure {
    /// A percentile, the median, or noise.
    Typical(Typical),
    /// The maximum.
    Max,
    /// Missed periods, of a thousand million.
    Missed,
    /// Lost samples or gaps, per thousand million.
    Lost,
}

impl HistoryMeasure {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            HistoryMeasure::Typical(Typical::Percentile(p)) => p.name(),
            HistoryMeasure::Typical(Typical::Median) => "median",
            HistoryMeasure::Typical(Typical::Noise) => "noise",
            HistoryMeasure::Max => "maximum",
            HistoryMeasure::Missed => "missed",
            HistoryMeasure::Lost => "lost",
        }
    }

    /// Whether it is a time; else a share.
    pub const fn is_time(self) -> bool {
        matches!(self, HistoryMeasure::Typical(_) | HistoryMeasure::Max)
    }

    /// A point's value; times in ns.
    pub fn value(self, point: &HistoryPoint) -> Option<u64> {
        match self {
            HistoryMeasure::Typical(Typical::Percentile(p)) => point.percentiles_ns.get(&p).copied(),
            HistoryMeasure::Typical(Typical::Median) => point.median_ns,
            HistoryMeasure::Typical(Typical::Noise) => point.noise_ns_a_second,
            HistoryMeasure::Max => point.max_ns,
            HistoryMeasure::Missed => share(point.missed?, point.expected),
            HistoryMeasure::Lost => share(point.lost, point.expected.max(point.samples)),
        }
    }
}

impl Serialize for HistoryMeasure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The whole to which shares refer.
const SHARE: u64 = 1_000_000_000;

fn share(part: u64, all: u64) -> Option<u64> {
    let share = u128::from(part) * u128::from(SHARE) / u128::from(all.max(1));
    (all > 0).then(|| u64::try_from(share).unwrap_or(u64::MAX))
}
