//! Several tests at once: the corrected p value of each.

/// Holm's step-down method (S. Holm, Scandinavian Journal of Statistics 6, 1979): the probability that any true "nothing
/// happened" is refused stays at the level, however the tests depend on each other.
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

/// The step-up method of Benjamini and Hochberg (Journal of the Royal Statistical Society B 57, 1995): among all
/// results called a difference, the expected share of false ones stays at the level. Holds for independent tests and
/// for those that go up and down together (Y. Benjamini, D. Yekutieli, Annals of Statistics 29, 2001).
pub(crate) fn benjamini_hochberg(values: &[f64]) -> Vec<f64> {
    let count = values.len();
    let mut corrected = vec![0.0; count];
    let mut least = 1.0_f64;
    for (rank, place) in ascending(values).into_iter().enumerate().rev() {
        least = least.min(count as f64 / (rank + 1) as f64 * values[place]);
        corrected[place] = least;
    }
    corrected
}

/// The p that a test must be able to reach to take part in a correction at `level`: `level / k`, for the smallest k such
/// that at most k tests can reach it (R. E. Tarone, Biometrics 46, 1990). `least` are the smallest p that each test could
/// give, by its pooled values. Tests left out cost the others nothing, and could not have been refused beside them.
pub(crate) fn testable(least: &[f64], level: f64) -> f64 {
    let can = |k: usize| least.iter().filter(|p| **p <= level / k as f64).count();
    let k = (1..=least.len().max(1)).find(|k| can(*k) <= *k);
    level / k.expect("of all tests no more than all can") as f64
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

    /// One of three tests cannot go below 0.02: at 0.05 / 2 it can show something, beside two others at 0.05 / 3
    /// not.
    #[test]
    fn what_can_show_nothing_takes_no_part() {
        assert_eq!(testable(&[0.5, 0.02, 0.001], 0.05), 0.05 / 2.0);
        assert_eq!(testable(&[0.001, 0.02, 0.001], 0.05), 0.05 / 3.0);
        assert_eq!(testable(&[0.05], 0.05), 0.05);
        assert_eq!(testable(&[], 0.05), 0.05);
        // Three seeds on each side, two tests: neither can.
        assert!(testable(&[0.05, 0.05], 0.05) < 0.05);
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
