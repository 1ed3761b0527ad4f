//! A handful of values that may be negative: a net cost is a difference.

use super::interval;
use serde::Serialize;

/// Share of the values that the article drops at each end.
pub const TRIMMED: f64 = 0.1;

/// Some values, ascending; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(Vec<f64>);

/// What is said of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// How many there are.
    pub count: usize,
    /// The mean of all but the smallest and the largest tenth.
    pub trimmed_mean: f64,
    /// The median: of an even number the mean of the two in the middle.
    pub median: f64,
    /// Ends of the median's interval, and its coverage ([`interval`]).
    pub interval: Option<(f64, f64, f64)>,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
}

impl Values {
    /// Nothing from no values.
    pub fn new(values: impl IntoIterator<Item = f64>) -> Option<Values> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then_some(Values(sorted))
    }

    /// Ascending.
    pub fn sorted(&self) -> &[f64] {
        &self.0
    }

    /// What is said of them.
    pub fn figures(&self) -> Figures {
        let sorted = &self.0;
        let n = sorted.len();
        // A tenth at each end, rounded up from ten values on: fewer values have no outliers to spare.
        let dropped = (n as f64 * TRIMMED) as usize;
        let kept = &sorted[dropped..n - dropped];
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        Figures {
            count: n,
            trimmed_mean: mean(kept),
            median: (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
            interval: interval::ranks(n).map(|(low, high, coverage)| (sorted[low], sorted[high], coverage)),
            min: sorted[0],
            max: sorted[n - 1],
            mean: mean(sorted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_dropped_at_each_end() {
        let values = (1..=10).map(f64::from).chain([1e6, -1e6]);
        let f = Values::new(values).unwrap().figures();
        assert_eq!((f.count, f.trimmed_mean, f.median), (12, 5.5, 5.5));
        assert_eq!((f.min, f.max), (-1e6, 1e6));
        let few = Values::new([1.0, 2.0, 9.0]).unwrap().figures();
        assert_eq!((few.trimmed_mean, few.median, few.mean), (4.0, 2.0, 4.0));
        assert_eq!(few.interval, Some((1.0, 9.0, 0.75)));
        assert_eq!(Values::new([]), None);
    }
}
