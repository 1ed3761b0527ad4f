//! Are the values of one side larger than those of the other, where each has a partner: in the lab the same seed? What a seed
//! brings to both sides (the phase, the load's random numbers) is in neither difference.
//!
//! The test is the signed-rank test (F. Wilcoxon, Biometrics Bulletin 1, 1945) in its exact form: if a pair's two values were
//! drawn from one distribution, its difference has either sign as likely, so the ways to give signs to the differences whose
//! rank sum is as extreme are counted. Equal differences share the mean of their ranks, pairs that do not differ take no part,
//! and the count stays exact. The estimate is the median of all means of two differences (J. L. Hodges, E. L. Lehmann, Annals of
//! Mathematical Statistics 34, 1963), its interval those of them that the test does not refuse.

use super::ranks::{RankTest, Shift};

/// Pairs up to which ways are counted; above, their number is taken to be normal.
const COUNTED: usize = 200;

/// The smallest one-sided probability that so many pairs can give: all differences of one sign.
pub fn least(pairs: usize) -> f64 {
    0.5_f64.powi(pairs as i32)
}

/// The fewest pairs with which a one-sided probability can be as small as `level`.
pub fn needed(level: f64) -> usize {
    (1..).find(|n| least(*n) <= level).expect("it is halved with each")
}

/// Tests whether the second of each pair is larger; nothing of no pair.
pub fn test(pairs: &[(u64, u64)]) -> Option<RankTest> {
    if pairs.is_empty() {
        return None;
    }
    let differences: Vec<i128> = pairs.iter().map(|(a, b)| i128::from(*b) - i128::from(*a)).collect();
    let differences: Vec<i128> = differences.into_iter().filter(|d| *d != 0).collect();
    let ranks = doubled_ranks(&differences);
    let rise = differences.iter().zip(&ranks).filter(|(d, _)| **d > 0);
    let observed: usize = rise.map(|(_, rank)| rank).sum();
    let least = least(differences.len());
    let (greater, less) = match differences.len() <= COUNTED {
        true => counted(&ranks, observed),
        false => normal(&ranks, observed),
    };
    Some(RankTest {
        greater,
        less,
        least_greater: least,
        least_less: least,
    })
}

/// Twice the rank of each difference by its size.
fn doubled_ranks(differences: &[i128]) -> Vec<usize> {
    let mut sizes: Vec<u128> = differences.iter().map(|d| d.unsigned_abs()).collect();
    sizes.sort_unstable();
    let rank = |d: &i128| {
        let size = d.unsigned_abs();
        sizes.partition_point(|s| *s < size) + sizes.partition_point(|s| *s <= size) + 1
    };
    differences.iter().map(rank).collect()
}

/// By sum of ranks: the share of all ways to choose which differences are positive.
fn shares(ranks: &[usize]) -> Vec<f64> {
    let mut shares = vec![0.0; ranks.iter().sum::<usize>() + 1];
    shares[0] = 1.0;
    let mut reached = 0;
    for rank in ranks {
        for sum in (0..=reached).rev() {
            shares[sum] /= 2.0;
            shares[sum + rank] += shares[sum];
        }
        reached += rank;
    }
    shares
}

fn counted(ranks: &[usize], observed: usize) -> (f64, f64) {
    let shares = shares(ranks);
    let at_least: f64 = shares[observed..].iter().sum();
    let at_most: f64 = shares[..=observed].iter().sum();
    (at_least.min(1.0), at_most.min(1.0))
}

/// With the correction for continuity; ties are in the sum of squares.
fn normal(ranks: &[usize], observed: usize) -> (f64, f64) {
    let sum: f64 = ranks.iter().map(|rank| *rank as f64).sum();
    let deviation = ranks.iter().map(|rank| (*rank as f64).powi(2)).sum::<f64>().sqrt() / 2.0;
    let above = |by: f64| libm::erfc((by - 1.0) / deviation / std::f64::consts::SQRT_2) / 2.0;
    let by = observed as f64 - sum / 2.0;
    (above(by), above(-by))
}

/// How much larger the second of each pair is.
pub fn difference(pairs: &[(u64, u64)]) -> Option<Shift> {
    walsh(pairs.iter().map(|(a, b)| *b as f64 - *a as f64).collect())
}

/// How many times as large the second of each pair is; nothing if a first is 0.
pub fn ratio(pairs: &[(u64, u64)]) -> Option<Shift> {
    if pairs.iter().any(|(a, _)| *a == 0) {
        return None;
    }
    // The mean of two ratios is that of their logarithms; that of 0 is as far below as can be.
    let logarithms = pairs
        .iter()
        .map(|(a, b)| (*b as f64 / *a as f64).ln().max(f64::MIN / 4.0));
    let shift = walsh(logarithms.collect())?;
    Some(Shift {
        best: shift.best.exp(),
        low: shift.low.exp(),
        high: shift.high.exp(),
        coverage: shift.coverage,
    })
}

/// The Hodges-Lehmann estimate of one value for each pair.
fn walsh(values: Vec<f64>) -> Option<Shift> {
    let with_all_before =
        |(at, x): (usize, &f64)| values[..=at].iter().map(move |y| (x + y) / 2.0).collect::<Vec<f64>>();
    let means = values.iter().enumerate().flat_map(with_all_before);
    let ranks: Vec<usize> = (1..=values.len()).collect();
    let shares = match values.len() <= COUNTED {
        true => shares(&ranks),
        false => Vec::new(),
    };
    Shift::of_estimates(means.collect(), |k| match shares.is_empty() {
        true => normal(&ranks, k - 1).1,
        false => shares[..k].iter().sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    /// Every seed 5 % higher, whatever the seeds themselves spread by.
    #[test]
    fn a_rise_in_every_seed_is_found_though_seeds_differ_more() {
        let a: Vec<u64> = vec![1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000];
        let b: Vec<u64> = a.iter().map(|v| v + v / 20).collect();
        let pairs: Vec<(u64, u64)> = a.iter().copied().zip(b.iter().copied()).collect();
        near(test(&pairs).unwrap().greater, 1.0 / 256.0);
        assert!(RankTest::of(&a, &b).unwrap().greater > 0.3);
        let ratio = ratio(&pairs).unwrap();
        near(ratio.best, 1.05);
        near(ratio.low, 1.05);
        assert_eq!([0.05, 0.025, 0.01].map(needed), [5, 6, 7]);
    }

    /// Of differences 1, 3, -2, 8, 5, 7 three of 64 ways to give signs have so high a rank sum, 19 of 21. Of their 21 means the
    /// 11th is 4; the interval is from the first to the last, as only two of 64 ways lie beyond.
    #[test]
    fn a_test_and_its_interval() {
        let pairs = [(10, 11), (10, 13), (10, 8), (10, 18), (10, 15), (10, 17)];
        let found = test(&pairs).unwrap();
        near(found.two_sided(), 0.09375);
        near(found.least_two_sided(), 0.03125);
        let shift = difference(&pairs).unwrap();
        assert_eq!((shift.low, shift.high, shift.coverage), (-2.0, 8.0, 0.9688));
        near(shift.best, 4.0);
    }

    #[test]
    fn pairs_that_are_equal_say_nothing() {
        let found = test(&[(5, 5), (7, 7)]).unwrap();
        assert_eq!([found.greater, found.less, found.least_two_sided()], [1.0; 3]);
        assert_eq!(test(&[]), None);
        assert_eq!(difference(&[]), None);
        assert_eq!(ratio(&[(0, 1)]), None);
    }

    #[test]
    fn many_pairs_are_normal() {
        let ranks: Vec<usize> = (1..=150).map(|i| 2 * (i / 2) + 1).collect();
        for observed in [4_500, 5_650, 7_000] {
            let (exact, about) = (counted(&ranks, observed), normal(&ranks, observed));
            assert!((exact.0 - about.0).abs() < 0.001, "{exact:?} {about:?}");
        }
        let pairs: Vec<(u64, u64)> = (0..300).map(|i| (1000 + i * 7 % 101, 1010 + i * 11 % 103)).collect();
        let shift = difference(&pairs).unwrap();
        assert!((0.95..0.951).contains(&shift.coverage), "{shift:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Against every way to give signs, one by one.
        #[test]
        fn the_count_is_that_of_all_ways(pairs in prop::collection::vec((0_u64..8, 0_u64..8), 1..11)) {
            let found = test(&pairs).unwrap();
            let differences: Vec<i128> = pairs.iter().map(|(a, b)| i128::from(*b) - i128::from(*a)).filter(|d| *d != 0).collect();
            let ranks = doubled_ranks(&differences);
            let observed: usize = differences.iter().zip(&ranks).filter(|(d, _)| **d > 0).map(|(_, r)| r).sum();
            let sums = (0_u32..1 << ranks.len()).map(|signs| {
                let positive = ranks.iter().enumerate().filter(|(i, _)| signs >> i & 1 == 1);
                positive.map(|(_, r)| r).sum::<usize>()
            });
            let as_high = sums.filter(|sum| *sum >= observed).count() as f64;
            prop_assert!((found.greater - as_high / (1_u32 << ranks.len()) as f64).abs() < 1e-9);
            let mirrored: Vec<(u64, u64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
            prop_assert!((found.greater - test(&mirrored).unwrap().less).abs() < 1e-9);
            prop_assert!(found.least_greater <= found.greater + 1e-12);
        }
    }
}
