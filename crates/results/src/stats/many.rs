//! Several tests at once: what each of their p values is worth beside the others.

/// Holm's step-down method (S. Holm, Scandinavian Journal of Statistics 6, 1979): the probability that any true "nothing
/// happened" is refused stays at the level, whatever the tests have to do with each other.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let count = values.len();
    let mut corrected = vec![0.0; count];
    let mut least = 0.0_f64;
    for (rank, place) in ascending(values).into_iter().enumerate() {
        least = least.max((count - rank) as f64 * values[place]).min(1.0);
        corrected[place] = least;
    }
    corrected
}

/// The step-up method of Benjamini and Hochberg (Journal of the Royal Statistical Society B 57, 1995): of all that is
/// called a difference, the expected share that is none stays at the level. Holds for independent tests and for those
/// that go up and down together (Y. Benjamini, D. Yekutieli, Annals of Statistics 29, 2001).
pub fn benjamini_hochberg(values: &[f64]) -> Vec<f64> {
    let count = values.len();
    let mut corrected = vec![0.0; count];
    let mut least = 1.0_f64;
    for (rank, place) in ascending(values).into_iter().enumerate().rev() {
        least = least.min(count as f64 / (rank + 1) as f64 * values[place]);
        corrected[place] = least;
    }
    corrected
}

fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_corrects_step_by_step() {
        assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
        assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    /// R: p.adjust(c(0.01, 0.04, 0.03, 0.5), "BH").
    #[test]
    fn benjamini_hochberg_corrects_from_above() {
        let corrected = benjamini_hochberg(&[0.01, 0.04, 0.03, 0.5]);
        let expected = [0.04, 4.0 / 3.0 * 0.04, 4.0 / 3.0 * 0.04, 0.5];
        for (found, expected) in corrected.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert!(benjamini_hochberg(&[]).is_empty());
    }
}
