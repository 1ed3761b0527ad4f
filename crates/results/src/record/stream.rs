//! The summary of more samples than memory should hold: two passes over them give the same result to the bit as one pass over
//! all.
//!
//! The first pass counts into a histogram of three digits. This histogram tells the range of each order statistic; the second
//! pass keeps only the values of those ranges, which are sorted.

use super::Summary;
use super::summary::{empty_histogram, encode};
use crate::stats::Percentile;
use hdrhistogram::Histogram;
use std::ops::RangeInclusive;
use worstcase_contract::Nanos;

/// The first pass.
pub struct FirstPass {
    histogram: Histogram<u64>,
    sum: u128,
    min: u64,
    max: u64,
    max_index: u32,
}

impl Default for FirstPass {
    fn default() -> FirstPass {
        FirstPass {
            histogram: empty_histogram(),
            sum: 0,
            min: u64::MAX,
            max: 0,
            max_index: 0,
        }
    }
}

impl FirstPass {
    /// Takes a value of period `index`.
    pub fn add(&mut self, index: u32, value: Nanos) {
        if self.histogram.is_empty() || value.0 > self.max {
            (self.max, self.max_index) = (value.0, index);
        }
        self.min = self.min.min(value.0);
        self.sum += u128::from(value.0);
        self.histogram
            .record(value.0)
            .expect("a growing histogram takes every value");
    }

    /// The summary without a second pass; nothing if there was no value. Median and percentiles have the histogram's three
    /// digits, rounded up.
    pub fn to_three_digits(&self) -> Option<Summary> {
        let count = self.histogram.len();
        if count == 0 {
            return None;
        }
        let at = |rank: u64| (*self.seek(None, rank).range.end()).clamp(self.min, self.max);
        let percentiles = Percentile::ALL.into_iter().filter(|p| p.borne_by(count));
        Some(Summary {
            count,
            min_ns: Some(self.min),
            mean_ns: Some((self.sum / u128::from(count)) as u64),
            median_ns: Some(at((count - 1) / 2 + 1)),
            max_ns: self.max,
            max_index: Some(self.max_index),
            percentiles_ns: percentiles.map(|p| (p, at(count - count / p.one_in()))).collect(),
            hdr_v2_base64: encode(&self.histogram),
        })
    }

    /// The largest value so far; 0 without any.
    pub fn max(&self) -> Nanos {
        Nanos(self.max)
    }

    /// The second pass; nothing if there was no value.
    pub fn second(self) -> Option<SecondPass> {
        let count = self.histogram.len();
        if count == 0 {
            return None;
        }
        // Ranks from 1, as `Distribution` counts them: the lower median, then the percentiles.
        let percentiles = Percentile::ALL.into_iter().filter(|p| p.borne_by(count));
        let ranks = percentiles.map(|p| (Some(p), count - count / p.one_in()));
        let wanted = std::iter::once((None, (count - 1) / 2 + 1)).chain(ranks);
        let sought = wanted.map(|(what, rank)| self.seek(what, rank)).collect();
        Some(SecondPass { first: self, sought })
    }

    /// The histogram range that holds the value of `rank`, and the number of values below that range.
    fn seek(&self, what: Option<Percentile>, rank: u64) -> Sought {
        let mut below = 0;
        for bin in self.histogram.iter_recorded() {
            let here = bin.count_at_value();
            if below + here >= rank {
                let (low, high) = (
                    self.histogram.lowest_equivalent(bin.value_iterated_to()),
                    self.histogram.highest_equivalent(bin.value_iterated_to()),
                );
                return Sought {
                    what,
                    rank_in_range: rank - below,
                    range: low..=high,
                    values: Vec::new(),
                };
            }
            below += here;
        }
        unreachable!("a rank is at most the number of values")
    }
}

/// An order statistic that is sought.
struct Sought {
    /// A percentile, or the median.
    what: Option<Percentile>,
    rank_in_range: u64,
    range: RangeInclusive<u64>,
    values: Vec<u64>,
}

impl Sought {
    fn value(&mut self) -> u64 {
        let place = self.rank_in_range as usize - 1;
        *self.values.select_nth_unstable(place).1
    }
}

/// The second pass, over the same values.
pub struct SecondPass {
    first: FirstPass,
    sought: Vec<Sought>,
}

impl SecondPass {
    /// Takes a value.
    pub fn add(&mut self, value: Nanos) {
        for sought in &mut self.sought {
            if sought.range.contains(&value.0) {
                sought.values.push(value.0);
            }
        }
    }

    /// The summary.
    pub fn finish(mut self) -> Summary {
        let count = self.first.histogram.len();
        let found: Vec<(Option<Percentile>, u64)> = self.sought.iter_mut().map(|s| (s.what, s.value())).collect();
        let median = found.iter().find(|(what, _)| what.is_none());
        Summary {
            count,
            min_ns: Some(self.first.min),
            mean_ns: Some((self.first.sum / u128::from(count)) as u64),
            median_ns: median.map(|(_, value)| *value),
            max_ns: self.first.max,
            max_index: Some(self.first.max_index),
            percentiles_ns: found
                .iter()
                .filter_map(|(what, value)| Some(((*what)?, *value)))
                .collect(),
            hdr_v2_base64: encode(&self.first.histogram),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn streamed(values: &[(u32, Nanos)]) -> Option<Summary> {
        let mut first = FirstPass::default();
        values.iter().for_each(|(i, v)| first.add(*i, *v));
        let mut second = first.second()?;
        values.iter().for_each(|(_, v)| second.add(*v));
        Some(second.finish())
    }

    #[test]
    fn nothing_from_nothing() {
        assert_eq!(streamed(&[]), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_same_as_from_all_at_once(values in prop::collection::vec(prop_oneof![0_u64..9_000_000, any::<u64>()], 1..3_000)) {
            let values: Vec<(u32, Nanos)> = values.into_iter().enumerate().map(|(i, v)| (i as u32, Nanos(v))).collect();
            prop_assert_eq!(streamed(&values), Summary::new(&values));
        }

        #[test]
        fn three_digits_differ_by_a_thousandth_and_nothing_else_does(values in prop::collection::vec(0_u64..9_000_000_000, 1..3_000)) {
            let values: Vec<(u32, Nanos)> = values.into_iter().enumerate().map(|(i, v)| (i as u32, Nanos(v))).collect();
            let mut first = FirstPass::default();
            values.iter().for_each(|(i, v)| first.add(*i, *v));
            let (rounded, exact) = (first.to_three_digits().unwrap(), Summary::new(&values).unwrap());
            prop_assert_eq!(rounded.check(values.len() as u64), Ok(()));
            prop_assert_eq!(
                (rounded.min_ns, rounded.mean_ns, rounded.max_ns, rounded.max_index, &rounded.hdr_v2_base64),
                (exact.min_ns, exact.mean_ns, exact.max_ns, exact.max_index, &exact.hdr_v2_base64)
            );
            let close = |rounded: u64, exact: u64| rounded >= exact && rounded - exact <= exact / 1_000;
            prop_assert!(close(rounded.median_ns.unwrap(), exact.median_ns.unwrap()));
            prop_assert!(rounded.percentiles_ns.keys().eq(exact.percentiles_ns.keys()));
            prop_assert!(rounded.percentiles_ns.iter().all(|(p, value)| close(*value, exact.percentiles_ns[p])));
        }
    }
}
