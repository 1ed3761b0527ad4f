//! The distribution of one cell's samples: exact order statistics, each of them a sample that was taken.

use super::{median, quantile};
use serde::{Deserialize, Serialize};
use worstcase_contract::Nanos;

/// A percentile is reported only if at least this many samples follow it in order of size; with fewer it is the
/// maximum under another name, and would move with the number of samples instead of with the subject.
pub const SAMPLES_ABOVE: u64 = 10;

/// Percentiles that are reported where the sample count bears them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Percentile {
    /// 90 %, from 100 samples on.
    #[serde(rename = "p90")]
    P90,
    /// 99 %, from 1 000 samples on.
    #[serde(rename = "p99")]
    P99,
    /// 99.9 %, from 10 000 samples on.
    #[serde(rename = "p99.9")]
    P99_9,
    /// 99.99 %, from 100 000 samples on.
    #[serde(rename = "p99.99")]
    P99_99,
    /// 99.999 %, from 1 000 000 samples on.
    #[serde(rename = "p99.999")]
    P99_999,
    /// 99.9999 %, from 10 000 000 samples on.
    #[serde(rename = "p99.9999")]
    P99_9999,
}

impl Percentile {
    /// All of them, ascending.
    pub const ALL: [Percentile; 6] = [
        Percentile::P90,
        Percentile::P99,
        Percentile::P99_9,
        Percentile::P99_99,
        Percentile::P99_999,
        Percentile::P99_9999,
    ];

    /// The number n so that one sample in n lies above the percentile.
    pub const fn one_in(self) -> u64 {
        match self {
            Percentile::P90 => 10,
            Percentile::P99 => 100,
            Percentile::P99_9 => 1_000,
            Percentile::P99_99 => 10_000,
            Percentile::P99_999 => 100_000,
            Percentile::P99_9999 => 1_000_000,
        }
    }

    /// Whether `count` samples bear it.
    pub const fn borne_by(self, count: u64) -> bool {
        count >= self.bearing()
    }

    /// As many samples bear it ([`SAMPLES_ABOVE`]).
    pub const fn bearing(self) -> u64 {
        self.one_in() * SAMPLES_ABOVE
    }

    /// The name, as in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Percentile::P90 => "p90",
            Percentile::P99 => "p99",
            Percentile::P99_9 => "p99.9",
            Percentile::P99_99 => "p99.99",
            Percentile::P99_999 => "p99.999",
            Percentile::P99_9999 => "p99.9999",
        }
    }
}

/// Samples in ascending order; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    sorted: Vec<u64>,
}

impl Distribution {
    /// The distribution of values in any order; nothing without values.
    pub fn new(values: impl IntoIterator<Item = Nanos>) -> Option<Distribution> {
        let mut sorted: Vec<u64> = values.into_iter().map(|n| n.0).collect();
        sorted.sort_unstable();
        (!sorted.is_empty()).then_some(Distribution { sorted })
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.sorted.len() as u64
    }

    /// The smallest sample.
    pub fn min(&self) -> Nanos {
        Nanos(self.sorted[0])
    }

    /// The largest sample.
    pub fn max(&self) -> Nanos {
        Nanos(self.sorted[self.sorted.len() - 1])
    }

    /// The mean, rounded down to 1 ns.
    pub fn mean(&self) -> Nanos {
        let sum: u128 = self.sorted.iter().map(|v| u128::from(*v)).sum();
        Nanos((sum / self.sorted.len() as u128) as u64)
    }

    /// The nearest-rank median: of an even number of samples the lower one in the middle.
    pub fn median(&self) -> Nanos {
        Nanos(median::of_sorted(&self.sorted).expect("there is a sample"))
    }

    /// The nearest-rank percentile, the smallest sample that has at least that share of the samples at or
    /// below it; nothing if the count does not bear it.
    pub fn percentile(&self, p: Percentile) -> Option<Nanos> {
        let value = quantile::of_sorted(&self.sorted, p.one_in() as f64);
        value.filter(|_| p.borne_by(self.count())).map(Nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Distribution {
        Distribution::new(values.into_iter().map(Nanos)).unwrap()
    }

    #[test]
    fn one_to_a_thousand() {
        let d = of((1..=1000).rev());
        assert_eq!(
            (d.min(), d.median(), d.mean(), d.max()),
            (Nanos(1), Nanos(500), Nanos(500), Nanos(1000))
        );
        assert_eq!(d.percentile(Percentile::P90), Some(Nanos(900)));
        assert_eq!(d.percentile(Percentile::P99), Some(Nanos(990)));
        assert_eq!(d.percentile(Percentile::P99_9), None);
    }

    #[test]
    fn a_percentile_needs_ten_samples_above_it() {
        assert_eq!(of(1..=999).percentile(Percentile::P99), None);
        assert!(of(1..=1000).percentile(Percentile::P99).is_some());
        assert_eq!(of([7]).percentile(Percentile::P90), None);
        assert!(Distribution::new([]).is_none());
    }

    /// What stands above it by rank may be equal to it, where a path has always the same length.
    #[test]
    fn equal_samples_may_be_above_it() {
        let d = of(std::iter::repeat_n(1_000, 995).chain([9_000; 5]));
        assert_eq!(d.percentile(Percentile::P99), Some(Nanos(1_000)));
    }

    #[test]
    fn a_mean_of_huge_values_does_not_overflow() {
        assert_eq!(of([u64::MAX, u64::MAX]).mean(), Nanos(u64::MAX));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Against the definition, counted sample by sample.
        #[test]
        fn percentiles_are_what_their_definition_says(values in prop::collection::vec(0_u64..5_000, 1..3_000)) {
            let d = of(values.clone());
            for p in Percentile::ALL {
                let above = values.len() as u64 / p.one_in();
                let at_or_below = |v: u64| values.iter().filter(|x| **x <= v).count() as u64;
                let enough = |v: u64| at_or_below(v) * p.one_in() >= values.len() as u64 * (p.one_in() - 1);
                let naive = values.iter().copied().filter(|v| enough(*v)).min().unwrap();
                prop_assert_eq!(d.percentile(p).map(|n| n.0), (above >= SAMPLES_ABOVE).then_some(naive));
            }
            prop_assert!(d.min() <= d.median() && d.median() <= d.max());
            prop_assert!(d.min() <= d.mean() && d.mean() <= d.max());
        }
    }
}
