//! The summary of more samples than memory should hold: two passes over them give the same result to the bit as one pass over
//! all.
//!
//! The first pass counts into a histogram of three digits. This histogram tells the range of each order statistic; the second
//! pass keeps only the values of those ranges, which are sorted.

use super::missed::MissedPeriods;
use super::summary::{PeriodSummary, Summary, empty_histogram, encode};
use crate::stats::Percentile;
use hdrhistogram::Histogram;
use std::ops::RangeInclusive;
use worstcase_contract::Nanos;

/// The first pass.
#[derive(Default)]
pub struct FirstPass {
    taken: RunningTally,
    /// For latencies: the periods, and the tally of all of them from the first missed one on.
    missed: Option<(MissedPeriods, Option<RunningTally>)>,
}

impl FirstPass {
    /// A pass over the latencies of samples that are due at the begin of each period.
    pub fn of_latencies(period: Nanos) -> FirstPass {
        FirstPass {
            taken: RunningTally::default(),
            missed: Some((MissedPeriods::new(period), None)),
        }
    }

    /// Takes a value of period `index`.
    pub fn add(&mut self, index: u32, value: Nanos) {
        if let Some((missed, all)) = &mut self.missed {
            missed.add(index, value, |n| {
                all.get_or_insert_with(|| self.taken.clone()).add(index, n)
            });
            if let Some(all) = all {
                all.add(index, value);
            }
        }
        self.taken.add(index, value);
    }

    /// The summary of `expected` periods without a second pass; nothing if there was no value. Median and percentiles have the
    /// histogram's three digits, rounded up.
    pub fn to_three_digits(&self, expected: u32) -> Option<Summary> {
        let summary = self.taken.to_three_digits()?;
        let periods = self.all(expected).and_then(|all| all.to_three_digits());
        Some(Summary {
            periods: periods.map(PeriodSummary::from),
            ..summary
        })
    }

    /// The largest value so far; 0 without any.
    pub fn max(&self) -> Nanos {
        Nanos(self.taken.max)
    }

    /// The second pass; nothing if there was no value.
    pub fn second(self, expected: u32) -> Option<SecondPass> {
        let all = self.all(expected).and_then(SoughtValues::new);
        let missed = self.missed.map(|(periods, _)| MissedPeriods { last: None, ..periods });
        Some(SecondPass {
            taken: SoughtValues::new(self.taken)?,
            missed: missed.zip(all),
            expected,
        })
    }

    /// The tally of all periods, if some were missed.
    fn all(&self, expected: u32) -> Option<RunningTally> {
        let (missed, all) = self.missed.as_ref()?;
        let mut all = all.clone();
        missed.until(expected, |n| {
            all.get_or_insert_with(|| self.taken.clone()).add(expected, n)
        });
        all
    }
}

#[derive(Clone)]
struct RunningTally {
    histogram: Histogram<u64>,
    sum: u128,
    min: u64,
    max: u64,
    max_index: u32,
}

impl Default for RunningTally {
    fn default() -> RunningTally {
        RunningTally {
            histogram: empty_histogram(),
            sum: 0,
            min: u64::MAX,
            max: 0,
            max_index: 0,
        }
    }
}

impl RunningTally {
    fn add(&mut self, index: u32, value: Nanos) {
        if self.histogram.is_empty() || value.0 > self.max {
            (self.max, self.max_index) = (value.0, index);
        }
        self.min = self.min.min(value.0);
        self.sum += u128::from(value.0);
        self.histogram
            .record(value.0)
            .expect("a growing histogram takes every value");
    }

    fn to_three_digits(&self) -> Option<Summary> {
        let count = self.histogram.len();
        if count == 0 {
            return None;
        }
        let at = |sought: &Sought| (*sought.range.end()).clamp(self.min, self.max);
        let percentiles = Percentile::ALL.into_iter().filter(|p| p.borne_by(count));
        let sought = percentiles.map(|p| (p, self.seek(Some(p), count - count / p.one_in())));
        let median = at(&self.seek(None, (count - 1) / 2 + 1));
        Some(self.summary(median, sought.map(|(p, sought)| (p, at(&sought)))))
    }

    fn summary(&self, median: u64, percentiles: impl Iterator<Item = (Percentile, u64)>) -> Summary {
        let count = self.histogram.len();
        Summary {
            count,
            min_ns: Some(self.min),
            mean_ns: Some((self.sum / u128::from(count)) as u64),
            median_ns: Some(median),
            max_ns: self.max,
            max_index: Some(self.max_index),
            percentiles_ns: percentiles.collect(),
            hdr_v2_base64: encode(&self.histogram),
            periods: None,
        }
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

/// What the first pass counted, and the order statistics that the second one seeks.
struct SoughtValues {
    first: RunningTally,
    sought: Vec<Sought>,
}

impl SoughtValues {
    fn new(first: RunningTally) -> Option<SoughtValues> {
        let count = first.histogram.len();
        if count == 0 {
            return None;
        }
        // Ranks from 1, as `Distribution` counts them: the lower median, then the percentiles.
        let percentiles = Percentile::ALL.into_iter().filter(|p| p.borne_by(count));
        let ranks = percentiles.map(|p| (Some(p), count - count / p.one_in()));
        let wanted = std::iter::once((None, (count - 1) / 2 + 1)).chain(ranks);
        let sought = wanted.map(|(what, rank)| first.seek(what, rank)).collect();
        Some(SoughtValues { first, sought })
    }

    fn add(&mut self, value: Nanos) {
        for sought in &mut self.sought {
            if sought.range.contains(&value.0) {
                sought.values.push(value.0);
            }
        }
    }

    fn finish(mut self) -> Summary {
        let found: Vec<(Option<Percentile>, u64)> = self.sought.iter_mut().map(|s| (s.what, s.value())).collect();
        let (_, median) = *found.iter().find(|(what, _)| what.is_none()).expect("it is sought");
        let percentiles = found.iter().filter_map(|(what, value)| Some(((*what)?, *value)));
        self.first.summary(median, percentiles)
    }
}

/// The second pass, over the same values.
pub struct SecondPass {
    taken: SoughtValues,
    missed: Option<(MissedPeriods, SoughtValues)>,
    expected: u32,
}

impl SecondPass {
    /// Takes a value of period `index`.
    pub fn add(&mut self, index: u32, value: Nanos) {
        self.taken.add(value);
        if let Some((missed, all)) = &mut self.missed {
            missed.add(index, value, |n| all.add(n));
            all.add(value);
        }
    }

    /// The summary.
    pub fn finish(self) -> Summary {
        let periods = self.missed.map(|(missed, mut all)| {
            missed.until(self.expected, |n| all.add(n));
            PeriodSummary::from(all.finish())
        });
        Summary {
            periods,
            ..self.taken.finish()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD: Nanos = Nanos(100_000);

    fn streamed(mut first: FirstPass, values: &[(u32, Nanos)], expected: u32) -> Option<Summary> {
        values.iter().for_each(|(i, v)| first.add(*i, *v));
        let mut second = first.second(expected)?;
        values.iter().for_each(|(i, v)| second.add(*i, *v));
        Some(second.finish())
    }

    #[test]
    fn nothing_from_nothing() {
        assert_eq!(streamed(FirstPass::default(), &[], 9), None);
        assert_eq!(streamed(FirstPass::of_latencies(PERIOD), &[], 9), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_same_as_from_all_at_once(values in prop::collection::vec(prop_oneof![0_u64..9_000_000, any::<u64>()], 1..3_000)) {
            let values: Vec<(u32, Nanos)> = values.into_iter().enumerate().map(|(i, v)| (i as u32, Nanos(v))).collect();
            prop_assert_eq!(streamed(FirstPass::default(), &values, 3_000), Summary::new(&values));
        }

        #[test]
        fn with_missed_periods_too(steps in prop::collection::vec((1_u32..40, 0_u64..9_000_000), 1..1_000), more in 1_u32..100) {
            let indices = steps.iter().scan(0, |index, (step, _)| { *index += step; Some(*index) });
            let values: Vec<(u32, Nanos)> = indices.zip(&steps).map(|(index, (_, v))| (index, Nanos(*v))).collect();
            let expected = values.last().unwrap().0 + more;
            let exact = Summary::of_latencies(&values, PERIOD, expected).unwrap();
            prop_assert_eq!(streamed(FirstPass::of_latencies(PERIOD), &values, expected).unwrap(), exact.clone());
            let mut first = FirstPass::of_latencies(PERIOD);
            values.iter().for_each(|(i, v)| first.add(*i, *v));
            let rounded = first.to_three_digits(expected).unwrap().periods;
            prop_assert_eq!(rounded.map(|p| (p.count, p.hdr_v2_base64)), exact.periods.map(|p| (p.count, p.hdr_v2_base64)));
        }

        #[test]
        fn three_digits_differ_by_a_thousandth_and_nothing_else_does(values in prop::collection::vec(0_u64..9_000_000_000, 1..3_000)) {
            let values: Vec<(u32, Nanos)> = values.into_iter().enumerate().map(|(i, v)| (i as u32, Nanos(v))).collect();
            let mut first = FirstPass::default();
            values.iter().for_each(|(i, v)| first.add(*i, *v));
            let (rounded, exact) = (first.to_three_digits(3_000).unwrap(), Summary::new(&values).unwrap());
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
