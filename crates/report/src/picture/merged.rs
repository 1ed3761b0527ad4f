//! Records taken together as one distribution: their histograms, at three digits, and their exact values.

use hdrhistogram::Histogram;
use worstcase_results::record::{Quantity, Record};
use worstcase_results::stats::quantile::{at_rank, rank};

/// Several records as one.
pub(crate) struct Merged {
    /// All samples at three digits.
    pub histogram: Histogram<u64>,
    /// The largest, exactly.
    pub max: u64,
    /// The smallest, exactly.
    pub min: u64,
    /// Periods without a sample.
    pub missed: u64,
}

impl Merged {
    /// Merges these records; nothing if none has a sample.
    pub fn new(records: &[&Record], quantity: Quantity) -> Option<Merged> {
        let mut merged = Merged {
            histogram: Histogram::new(3).ok()?,
            max: 0,
            min: u64::MAX,
            missed: records.iter().map(|r| r.accounting.missed()).sum(),
        };
        for summary in records.iter().filter_map(|r| r.summary(quantity)) {
            merged.histogram.add(summary.histogram()?).ok()?;
            merged.max = merged.max.max(summary.max_ns);
            merged.min = merged.min.min(summary.min_ns?);
        }
        (!merged.histogram.is_empty()).then_some(merged)
    }

    /// Values in us and how often, ascending; none outside of the smallest and the largest.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (f64, u64)> {
        let values = self.histogram.iter_recorded();
        values.map(|bin| {
            let value = self.histogram.median_equivalent(bin.value_iterated_to());
            (value.clamp(self.min, self.max) as f64 / 1_000.0, bin.count_at_value())
        })
    }

    /// The value that one sample in `one_in` is above, in us.
    pub(crate) fn exceeded_once_in(&self, one_in: f64) -> f64 {
        let values = self.histogram.iter_recorded();
        let counted = values.map(|bin| (bin.value_iterated_to(), bin.count_at_value()));
        let value = at_rank(counted, rank(self.histogram.len(), one_in)).unwrap_or(self.max);
        let value = self.histogram.median_equivalent(value);
        value.clamp(self.min, self.max) as f64 / 1_000.0
    }
}
