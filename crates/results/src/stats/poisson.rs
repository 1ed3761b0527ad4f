//! Does a number of events fit the number that was expected?
//!
//! The exact two-sided test: the probability, under a Poisson law with the expected mean, of all numbers that are no
//! more likely than the one that was seen (as `poisson.test` of R does).

/// Likelihoods as close as this are equal: rounding must not decide which counts are no more likely.
const EQUAL: f64 = 1e-7;

/// Probability of a number of events as unlikely as `seen`, or more so.
pub fn two_sided(expected: f64, seen: u64) -> f64 {
    if expected <= 0.0 {
        return if seen == 0 { 1.0 } else { 0.0 };
    }
    let mut ln = -expected;
    let mut before = Vec::new();
    // ln P(0), ln P(1), ... until far behind both the mean and the seen count.
    let far = (expected + 40.0 * expected.sqrt()) as u64 + 200;
    for k in 0..=far.max(seen) {
        before.push(ln);
        ln += expected.ln() - ((k + 1) as f64).ln();
    }
    let limit = before[seen as usize] + EQUAL;
    before
        .iter()
        .filter(|p| **p <= limit)
        .map(|p| p.exp())
        .sum::<f64>()
        .min(1.0)
}

/// The 98.75 % quantile of the normal distribution.
const DEVIATIONS: f64 = 2.241_402_727_604_947;

/// The interval of the mean of so many events at 97.5 %, by the approximation of the chi-squared quantiles by E. B. Wilson and
/// M. M. Hilferty (Proceedings of the National Academy of Sciences 17, 1931): within 0.1 % from 20 events on.
pub fn interval(seen: u64) -> (f64, f64) {
    let end = |n: f64, deviations: f64| n * (1.0 - 1.0 / (9.0 * n) + deviations / (3.0 * n.sqrt())).powi(3);
    match seen as f64 {
        0.0 => (0.0, end(1.0, DEVIATIONS)),
        n => (end(n, -DEVIATIONS).max(0.0), end(n + 1.0, DEVIATIONS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values computed from the definition in Python.
    #[test]
    fn known_probabilities() {
        for (expected, seen, p) in [
            (5.0, 10, 0.038_566_004_3),
            (5.0, 5, 1.0),
            (126.0, 139, 0.246_520_748_6),
            (26.7, 31, 0.383_084_631_7),
            (0.5, 1, 0.393_469_340_3),
            (20.0, 5, 1.251_108_656e-4),
            (100.0, 60, 2.044_813_837e-5),
        ] {
            let found = two_sided(expected, seen);
            assert!((found / p - 1.0).abs() < 1e-7, "{expected} {seen}: {found}");
        }
        assert_eq!((two_sided(0.0, 0), two_sided(0.0, 1)), (1.0, 0.0));
        assert!(two_sided(2.0, 5_000) < 1e-300);
    }

    /// Against the tails of the law, summed.
    #[test]
    fn an_interval_leaves_a_half_of_the_rest_at_each_end() {
        for seen in [20_u64, 50, 400] {
            let (low, high) = interval(seen);
            let at_most = |mean: f64, most: u64| {
                let terms = (1..=most).scan(-mean, |ln, k| {
                    *ln += mean.ln() - (k as f64).ln();
                    Some(ln.exp())
                });
                (-mean).exp() + terms.sum::<f64>()
            };
            let (below, above) = (1.0 - at_most(low, seen - 1), at_most(high, seen));
            assert!((below / 0.0125 - 1.0).abs() < 0.02, "{seen}: {below}");
            assert!((above / 0.0125 - 1.0).abs() < 0.02, "{seen}: {above}");
        }
    }

    /// The promise, tried: a true expectation is refused no more often than the level says, a false one is.
    #[test]
    fn the_test_keeps_its_level() {
        let mut random = worstcase_contract::prng::SplitMix64::new(7);
        let mut draw = |n: u64, one_in: u64| (0..n).filter(|_| random.below(one_in) == 0).count() as u64;
        let refused = (0..2_000).filter(|_| two_sided(6.0, draw(600, 100)) < 0.05).count();
        assert!(refused < 120, "{refused} of 2000 at 5 %");
        let found = (0..200).filter(|_| two_sided(6.0, draw(600, 25)) < 0.05).count();
        assert!(found > 190, "{found} of 200");
    }
}
