//! Quantiles, everywhere the same: nearest-rank, so each is a value that was seen. A quantile is asked for by how few lie above
//! it: one in 2 above is the median, one in 100 the 99th percentile, one in infinitely many the maximum.

/// Half of the values above it.
pub const MEDIAN: f64 = 2.0;
/// The value of `one_in` with no value above.
pub const MAXIMUM: f64 = f64::INFINITY;

/// The rank of the quantile among `count` values in ascending order, from 1 on: the smallest that has at least the share `1 - 1
/// / one_in` of all at or below it. For an even number the median is the lower one of the two in the middle.
pub fn rank(count: u64, one_in: f64) -> u64 {
    // The quotient of whole numbers below 2^53 is exact enough not to reach the next whole one.
    (count - (count as f64 / one_in) as u64).max(1)
}

/// The quantile of values in ascending order; nothing without values.
pub fn of_sorted<T: Copy>(sorted: &[T], one_in: f64) -> Option<T> {
    sorted.get(rank(sorted.len() as u64, one_in) as usize - 1).copied()
}

/// The quantile of values in ascending order, each with its count; nothing without values.
pub fn of_counts<T: Copy>(counted: &[(T, u64)], one_in: f64) -> Option<T> {
    let count = counted.iter().map(|(_, count)| count).sum();
    at_rank(counted.iter().copied(), rank(count, one_in))
}

/// The value at a rank from 1 on; nothing beyond the last.
pub fn at_rank<T>(counted: impl IntoIterator<Item = (T, u64)>, rank: u64) -> Option<T> {
    let mut seen = 0_u64;
    let reaches = |(_, count): &(T, u64)| {
        seen = seen.saturating_add(*count);
        seen >= rank
    };
    counted.into_iter().find(reaches).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each of these differs from another definition: interpolation gives 230 and 297.5, the upper median 250,
    /// a rank that is rounded 260.
    #[test]
    fn another_definition_fails() {
        let rounds = [190, 205, 210, 250, 260, 300];
        assert_eq!(of_sorted(&rounds, MEDIAN), Some(210));
        assert_eq!(of_sorted(&rounds, 20.0), Some(300));
        assert_eq!(of_sorted(&rounds, 5.0), Some(260));
        assert_eq!(of_sorted(&rounds, MAXIMUM), Some(300));
        assert_eq!(of_sorted(&rounds, 1.0), Some(190));
        assert_eq!(of_sorted::<u64>(&[], MEDIAN), None);
        assert_eq!(rank(1_000, 100.0), 990);
        assert_eq!(rank(999, 100.0), 990);
    }

    #[test]
    fn of_counts_as_of_all_values_one_by_one() {
        let counted = [(10, 1), (20, 98), (900, 1)];
        let got = [1.0, MEDIAN, 100.0, MAXIMUM].map(|one_in| of_counts(&counted, one_in).unwrap());
        assert_eq!(got, [10, 20, 20, 900]);
        assert_eq!(of_counts::<u64>(&[], MEDIAN), None);
        assert_eq!(at_rank(counted, 101), None);
    }

    proptest! {
        /// Against the definition, counted value by value.
        #[test]
        fn the_smallest_with_enough_at_or_below(mut values in prop::collection::vec(0_u64..50, 1..300), one_in in 2_u64..400) {
            values.sort_unstable();
            let count = values.len() as u64;
            let enough = |v: u64| {
                let at_or_below = values.iter().filter(|x| **x <= v).count() as u64;
                at_or_below * one_in >= count * (one_in - 1)
            };
            let naive = values.iter().copied().find(|v| enough(*v));
            prop_assert_eq!(of_sorted(&values, one_in as f64), naive);
            let counted: Vec<(u64, u64)> = values.chunk_by(|a, b| a == b).map(|c| (c[0], c.len() as u64)).collect();
            prop_assert_eq!(of_counts(&counted, one_in as f64), naive);
        }
    }
}
