//! The percentiles of a real machine's cell with their intervals, from one pass over its samples.

use super::{MissedPeriods, Quantity, Record};
use crate::stats::Percentile;
use crate::stats::blocks::BlockShares;
use worstcase_contract::Nanos;

/// A percentile of all periods, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentileInterval {
    /// The percentile; none is the median.
    pub percentile: Option<Percentile>,
    /// Its value.
    pub value: Nanos,
    /// The lower end.
    pub low: Nanos,
    /// The upper end; nothing if so few samples are above that it lies beyond the largest.
    pub high: Option<Nanos>,
}

/// Gathers the blocks' shares of samples above the record's median and percentiles.
#[derive(Debug)]
pub struct PercentileBlocks {
    expected: u32,
    missed: MissedPeriods,
    sought: Vec<(Option<Percentile>, Nanos, BlockShares)>,
}

impl PercentileBlocks {
    /// For the latencies of a record; nothing if it does not hold each sample of evenly spaced periods.
    pub fn new(record: &Record) -> Option<PercentileBlocks> {
        let summary = record.summary(Quantity::Latency)?;
        if record.foreign.is_some() || record.samples.selection.is_some() || record.accounting.periods().is_none() {
            return None;
        }
        let percentiles = summary.percentiles().iter().map(|(p, ns)| (Some(*p), Nanos(*ns)));
        let sought = [(None, summary.median()?)].into_iter().chain(percentiles);
        Some(PercentileBlocks {
            expected: record.cell.periods,
            missed: MissedPeriods::new(Nanos(record.cell.period_ns)),
            sought: sought.map(|(p, value)| (p, value, BlockShares::default())).collect(),
        })
    }

    /// Takes the sample of a period; all in their order.
    pub fn add(&mut self, index: u32, latency: Nanos) {
        let (expected, sought) = (self.expected, &mut self.sought);
        let mut take = |index: u32, latency: Nanos| {
            let each = |(_, value, shares): &mut (_, Nanos, BlockShares)| shares.add(index, expected, latency > *value);
            sought.iter_mut().for_each(each);
        };
        self.missed.add(index, latency, |missed| take(index, missed));
        take(index, latency);
    }

    /// The intervals, from the record's histogram.
    pub fn intervals(&self, record: &Record) -> Vec<PercentileInterval> {
        let Some(histogram) = record.summary(Quantity::Latency).and_then(|s| s.histogram()) else {
            return Vec::new();
        };
        let at = |share_above: f64| Nanos(histogram.value_at_quantile((1.0 - share_above).max(0.0)));
        let interval = |(percentile, value, shares): &(Option<Percentile>, Nanos, BlockShares)| {
            let share = percentile.map_or(0.5, |p: Percentile| 1.0 / p.one_in() as f64);
            let [fewer, more] = shares.factors()?;
            let is_held = share * fewer * histogram.len() as f64 >= 1.0;
            Some(PercentileInterval {
                percentile: *percentile,
                value: *value,
                low: at((share * more).min(1.0)).min(*value),
                high: is_held.then(|| at(share * fewer).max(*value)),
            })
        };
        self.sought.iter().filter_map(interval).collect()
    }
}
