//! The median, everywhere the same: the nearest-rank one, a value that was seen. Of an even number of values it is the lower one
//! of the two in the middle.

/// Of values in ascending order; nothing of none.
pub fn of_sorted<T: Copy>(sorted: &[T]) -> Option<T> {
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// Of values in any order; nothing of none.
pub fn of<T: Copy + Ord>(values: impl IntoIterator<Item = T>) -> Option<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
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
