//! The evidence of a verdict: the observation time, lost samples, interference.

use super::PeriodsAbove;
use super::limit::largest;
use super::reservations::is_ordinary;
use crate::record::{Quantity, Record, Venue};
use crate::stats::Percentile;
use serde::Serialize;
use worstcase_base::duration;
use worstcase_base::format::{counted, grouped, micros_exact};
use worstcase_contract::Nanos;

/// The evidence of all records of a subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// Cells measured.
    pub cells: usize,
    /// Samples; gaps that a spinning thread saw are none.
    pub samples: u64,
    /// `noise`: gaps.
    pub gaps: u64,
    /// Observation time: periods times period, and for `noise` the time that was watched.
    pub observation_ns: Nanos,
    /// The largest latency.
    pub max_ns: Nanos,
    /// Periods without a sample; nothing if a cell does not know.
    pub missed: Option<u64>,
    /// The missed periods that no sample bounds.
    pub missed_at_ends: u64,
    /// Samples or gaps that were not kept; nothing if a cell does not know.
    pub lost: Option<u64>,
    /// The periods above the limit; nothing if a cell does not tell.
    pub above: Option<PeriodsAbove>,
    /// Cells whose probe was an ordinary thread.
    pub ordinary_cells: usize,
    /// Host: cells in which the kernel throttled real-time threads; nothing if a cell does not know.
    pub throttled_cells: Option<usize>,
    /// Host: largest share of a cell's time that the hypervisor took away; nothing if a cell does not know.
    pub steal_share: Option<f64>,
}

impl Evidence {
    /// The evidence of a subject's records for or against a limit.
    pub(crate) fn of(records: &[&Record], limit: Nanos) -> Evidence {
        let sum = |of: fn(&Record) -> u64| records.iter().map(|r| of(r)).sum();
        let throttled = records.iter().map(|r| throttled(r));
        let steal = records.iter().map(|r| steal_share(r));
        let known = !records.is_empty();
        Evidence {
            cells: records.len(),
            samples: sum(|r| r.accounting.taken()),
            gaps: sum(|r| r.accounting.gaps().map_or(0, |g| g.gaps)),
            observation_ns: Nanos(sum(|r| r.observation_time().0)),
            max_ns: Nanos(records.iter().map(|r| latency(r)).max().unwrap_or(0)),
            missed: records.iter().map(|r| r.missed()).sum(),
            missed_at_ends: sum(|r| r.accounting.periods().map_or(0, |p| p.missed_at_ends)),
            lost: records.iter().map(|r| r.lost()).sum(),
            above: PeriodsAbove::of(records.iter().copied(), Quantity::Latency, limit),
            ordinary_cells: records.iter().filter(|r| is_ordinary(r)).count(),
            throttled_cells: throttled
                .map(|count| count.map(|count| usize::from(count > 0)))
                .sum::<Option<usize>>()
                .filter(|_| known),
            steal_share: steal
                .collect::<Option<Vec<f64>>>()
                .filter(|_| known)
                .map(|shares| shares.into_iter().fold(0.0, f64::max)),
        }
    }

    /// Why it is a PASS.
    pub(super) fn at_most(&self, records: &[&Record], percentile: Option<Percentile>) -> String {
        let unit = records.first().map_or("", |r| r.subject.micros_name());
        let (what, most) = match percentile {
            Some(percentile) => (format!("{} ", percentile.name()), largest(records, percentile)),
            None => (String::new(), self.max_ns),
        };
        format!(
            "{what}at most {} {unit} in {}, {}, {} observed",
            micros_exact(most),
            self.amount(records),
            counted(self.cells as u64, "cell"),
            duration::show(self.observation_ns)
        )
    }

    /// `3 000 samples`, `214 gaps`.
    pub fn amount(&self, records: &[&Record]) -> String {
        let noise = records.iter().filter(|r| r.accounting.gaps().is_some()).count();
        let (samples, gaps) = (grouped(self.samples), grouped(self.gaps));
        match noise {
            0 => format!("{samples} samples"),
            n if n == records.len() => format!("{gaps} gaps"),
            _ => format!("{samples} samples and {gaps} gaps"),
        }
    }
}

/// The largest latency of a cell, or its longest gap.
pub(super) fn latency(record: &Record) -> u64 {
    let gap = || record.accounting.gaps().map_or(0, |g| g.max_single_ns);
    record.summary(Quantity::Latency).map_or_else(gap, |s| s.max_ns)
}

/// How often the kernel throttled real-time threads meanwhile, if that is known.
pub(super) fn throttled(record: &Record) -> Option<u64> {
    number(record, "rt_throttled")
}

/// The share of its time that the hypervisor took away, if that is known.
pub(super) fn steal_share(record: &Record) -> Option<f64> {
    let measured = number(record, "measured_ns").unwrap_or(record.observation_time().0);
    let share = number(record, "steal_ns")? as f64 / measured as f64;
    share.is_finite().then_some(share)
}

/// A number from the measured machine's description. The lab's machines are alone: there it is not asked.
fn number(record: &Record, key: &str) -> Option<u64> {
    match record.subject.venue() {
        Venue::Lab => None,
        Venue::Host => record.environment.get(key)?.parse().ok(),
    }
}
