//! The median: the quantile ([`super::quantile`]) with half of the values above it.

use super::quantile::{self, MEDIAN, rank};

/// The median of values in ascending order; nothing without values.
pub fn of_sorted<T: Copy>(sorted: &[T]) -> Option<T> {
    quantile::of_sorted(sorted, MEDIAN)
}

/// The median of values in any order; nothing without values.
pub fn of<T: Copy + Ord>(values: impl IntoIterator<Item = T>) -> Option<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    let middle = rank(values.len() as u64, MEDIAN) as usize - 1;
    (middle < values.len()).then(|| *values.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_one_of_two_in_the_middle() {
        let rounds = [300, 190, 250, 205, 260, 210];
        assert_eq!(of(rounds), Some(210));
        assert_eq!(of_sorted(&[190, 205, 210, 250, 260, 300]), Some(210));
        assert_eq!(of([3, 1, 2]), Some(2));
        assert_eq!(of_sorted(&[7.5]), Some(7.5));
        assert_eq!((of::<u64>([]), of_sorted::<f64>(&[])), (None, None));
    }
}
