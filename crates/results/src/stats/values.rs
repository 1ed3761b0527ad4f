//! Repetitions of several seeds, which may be negative: a net cost is a difference.
//!
//! A seed's repetitions share one path and depend on each other, so an interval is over seeds, each of them one value.

use super::{interval, median};
use serde::Serialize;

/// Share of the values that the article drops at each end.
pub const TRIMMED: f64 = 0.1;

/// The repetitions of each seed, ascending; no seed is empty, and there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedValues(Vec<Vec<f64>>);

/// The figures of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ValueFigures {
    /// The number of repetitions.
    pub count: usize,
    /// The number of seeds.
    pub seeds: usize,
    /// The mean over the seeds of each seed's mean of all but its smallest and its largest tenth.
    pub trimmed_mean: f64,
    /// The median over the seeds of each seed's median: of an even number the mean of the two in the middle.
    pub median: f64,
    /// Ends of that median's interval over the seeds, and its coverage ([`interval`]); nothing of one seed.
    pub interval: Option<(f64, f64, f64)>,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The mean of all.
    pub mean: f64,
}

impl SeedValues {
    /// The values of seeds with their repetitions; nothing if a seed has none, or there is none.
    pub fn new(seeds: impl IntoIterator<Item = Vec<f64>>) -> Option<SeedValues> {
        let sorted = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values
        };
        let seeds: Vec<Vec<f64>> = seeds.into_iter().map(sorted).collect();
        let whole = !seeds.is_empty() && seeds.iter().all(|values| !values.is_empty());
        whole.then_some(SeedValues(seeds))
    }

    /// The figures of the values.
    pub fn figures(&self) -> ValueFigures {
        let seeds = &self.0;
        let all: Vec<f64> = seeds.iter().flatten().copied().collect();
        let mut medians: Vec<f64> = seeds.iter().map(|values| median(values)).collect();
        medians.sort_by(f64::total_cmp);
        let n = medians.len();
        ValueFigures {
            count: all.len(),
            seeds: n,
            trimmed_mean: mean(&seeds.iter().map(|values| trimmed(values)).collect::<Vec<_>>()),
            median: median(&medians),
            interval: interval::ranks(n).map(|(low, high, coverage)| (medians[low], medians[high], coverage)),
            min: all.iter().copied().fold(f64::INFINITY, f64::min),
            max: all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mean: mean(&all),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(sorted: &[f64]) -> f64 {
    median::of_sorted(sorted).expect("there is a value")
}

fn trimmed(sorted: &[f64]) -> f64 {
    // A tenth at each end, rounded down: under ten values have no outliers to spare.
    let dropped = (sorted.len() as f64 * TRIMMED) as usize;
    mean(&sorted[dropped..sorted.len() - dropped])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_dropped_at_each_end_of_a_seed() {
        let values = (1..=10).map(f64::from).chain([1e6, -1e6]).collect();
        let f = SeedValues::new([values]).unwrap().figures();
        assert_eq!((f.count, f.trimmed_mean, f.median), (12, 5.5, 5.0));
        assert_eq!((f.min, f.max, f.interval), (-1e6, 1e6, None));
        assert_eq!(SeedValues::new([]), None);
        assert_eq!(SeedValues::new([vec![1.0], vec![]]), None);
    }

    /// Many repetitions of few seeds are few values.
    #[test]
    fn an_interval_is_over_seeds() {
        let seed = |level: f64| (0..100).map(|i| level + f64::from(i % 3) / 100.0).collect::<Vec<f64>>();
        let f = SeedValues::new([1.0, 2.0, 9.0].map(seed)).unwrap().figures();
        assert_eq!((f.count, f.seeds, f.median), (300, 3, 2.01));
        assert_eq!(f.interval, Some((1.01, 9.01, 0.75)));
    }
}
