//! Are the values of one side larger than those of the other, and by how much? Both from their order alone.
//!
//! The test is the rank-sum test (F. Wilcoxon, Biometrics Bulletin 1, 1945; H. B. Mann, D. R. Whitney, Annals of
//! Mathematical Statistics 18, 1947) in its exact form: if both sides were drawn from one distribution, each way to deal
//! the pooled values out to them was as likely, so the ways whose rank sum is as extreme are counted. Equal values share
//! the mean of their ranks, and the count stays exact. The estimate is that of Hodges and Lehmann (Annals of Mathematical
//! Statistics 34, 1963): the median of all differences between a value of the one side and one of the other; its
//! interval are those order statistics of the same differences that the test does not refuse.

use serde::Serialize;

/// Coverage that intervals aim at.
pub const AIM: f64 = 0.95;
/// Values of both sides together, without those that share the most frequent value, up to which ways are counted; above, their
/// number is taken to be normal.
const COUNTED: usize = 80;

/// The result of the test of `b` against `a`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// Probability that `b` would rank as high by chance.
    pub(crate) greater: f64,
    /// Probability that it would rank as low.
    pub less: f64,
    /// The smallest `greater` that these pooled values could have given.
    pub(crate) least_greater: f64,
    /// The smallest `less`.
    pub(crate) least_less: f64,
}

impl RankTest {
    /// Tests; nothing if a side has no value.
    pub fn of(a: &[u64], b: &[u64]) -> Option<RankTest> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let (ranks, ties) = ranks(a, b);
        let observed: usize = ranks[a.len()..].iter().sum();
        let (_, copies) = most_shared(&ranks);
        Some(match ranks.len() - copies < COUNTED {
            true => counted(&ranks, b.len(), observed),
            false => normal(a.len() as f64, b.len() as f64, observed as f64 / 2.0, ties),
        })
    }

    /// Probability of a difference as large in either direction.
    pub fn two_sided(&self) -> f64 {
        (2.0 * self.greater.min(self.less)).min(1.0)
    }

    /// The smallest two-sided probability that these pooled values could have given.
    pub fn least_two_sided(&self) -> f64 {
        (2.0 * self.least_greater.min(self.least_less)).min(1.0)
    }
}

/// The smallest one-sided probability that `a` against `b` values can give: one way of all to deal them out.
pub fn least(a: usize, b: usize) -> f64 {
    // Each step is a binomial coefficient, so a whole number.
    1.0 / (1..=a).fold(1.0, |ways, i| ways * (b + i) as f64 / i as f64)
}

/// The fewest values on each side with which a one-sided probability can be as small as `level`.
pub fn needed(level: f64) -> usize {
    (1..)
        .find(|n| least(*n, *n) <= level)
        .expect("it falls fourfold with each")
}

/// Twice the rank of each value, first of `a`, then of `b`; and the sum of t^3 - t over ties.
fn ranks(a: &[u64], b: &[u64]) -> (Vec<usize>, f64) {
    let pooled: Vec<u64> = a.iter().chain(b).copied().collect();
    let mut sorted = pooled.clone();
    sorted.sort_unstable();
    let rank = |value: &u64| {
        let below = sorted.partition_point(|v| v < value);
        let to = sorted.partition_point(|v| v <= value);
        below + to + 1
    };
    let ties = sorted
        .chunk_by(|x, y| x == y)
        .map(|run| (run.len() as f64).powi(3) - run.len() as f64);
    (pooled.iter().map(rank).collect(), ties.sum())
}

fn counted(ranks: &[usize], taken: usize, observed: usize) -> RankTest {
    let ways = ways(ranks, taken);
    let all: f64 = ways.iter().sum();
    let share = |range: &[f64]| range.iter().sum::<f64>() / all;
    let possible = || ways.iter().copied().filter(|n| *n > 0.0);
    RankTest {
        greater: share(&ways[observed..]),
        less: share(&ways[..=observed]),
        least_greater: possible().next_back().map_or(1.0, |n| n / all),
        least_less: possible().next().map_or(1.0, |n| n / all),
    }
}

/// For each sum: the number of ways to choose `taken` of the ranks, as a multiple of one number for all sums. The rank that most
/// values share is counted at once, so many equal values cost little.
fn ways(ranks: &[usize], taken: usize) -> Vec<f64> {
    let (shared, copies) = most_shared(ranks);
    let others: Vec<usize> = ranks.iter().copied().filter(|rank| *rank != shared).collect();
    let most: usize = others.iter().sum();
    let largest = taken.min(others.len());
    let mut chosen = vec![vec![0.0; most + 1]; largest + 1];
    chosen[0][0] = 1.0;
    let mut reached = 0;
    for (seen, rank) in others.iter().enumerate() {
        reached += rank;
        for size in (1..=largest.min(seen + 1)).rev() {
            let (fewer, more) = chosen.split_at_mut(size);
            for sum in *rank..=reached {
                more[0][sum] += fewer[size - 1][sum - rank];
            }
        }
    }
    let ln_ways = |of_shared: usize| {
        let ln = |n: usize| libm::lgamma(n as f64 + 1.0);
        ln(copies) - ln(of_shared) - ln(copies - of_shared)
    };
    let largest_ln = ln_ways(copies / 2);
    let mut all = vec![0.0; ranks.iter().sum::<usize>() + 1];
    for (size, sums) in chosen.iter().enumerate() {
        let of_shared = taken - size;
        if of_shared > copies {
            continue;
        }
        let times = (ln_ways(of_shared) - largest_ln).exp();
        let place = of_shared * shared;
        for (sum, ways) in sums.iter().enumerate().filter(|(_, ways)| **ways > 0.0) {
            all[sum + place] += ways * times;
        }
    }
    all
}

/// The rank that most values share, and how many do.
fn most_shared(ranks: &[usize]) -> (usize, usize) {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len()));
    runs.max_by_key(|(_, copies)| *copies).unwrap_or((0, 0))
}

/// The normal approximation, with the corrections for continuity and for ties (E. L. Lehmann, Nonparametrics,
/// 1975).
fn normal(a: f64, b: f64, sum: f64, ties: f64) -> RankTest {
    let n = a + b;
    let mean = b * (n + 1.0) / 2.0;
    let deviation = (a * b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)))).sqrt();
    let above = |z: f64| match deviation > 0.0 {
        true => libm::erfc(z / deviation / std::f64::consts::SQRT_2) / 2.0,
        false => 1.0,
    };
    let extreme = above(a * b / 2.0 - 0.5);
    RankTest {
        greater: above(sum - mean - 0.5),
        less: above(mean - sum - 0.5),
        least_greater: extreme,
        least_less: extreme,
    }
}

/// The distance of one side from the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shift {
    /// The best estimate.
    pub best: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The probability with which the interval covers the true shift: below [`AIM`] if too few values allow no
    /// more.
    pub coverage: f64,
}

impl Shift {
    /// The Hodges-Lehmann estimate of the difference, or ratio, that `between` computes from a value of `a` and one
    /// of `b`.
    pub fn of<T: Copy>(a: &[T], b: &[T], between: fn(T, T) -> f64) -> Option<Shift> {
        let all = a.iter().flat_map(|x| b.iter().map(move |y| between(*x, *y)));
        Shift::of_estimates(all.collect(), beyond(a.len(), b.len()))
    }

    /// The median of single estimates, and an interval from one of them to one of them; `beyond` gives the probability that the
    /// test refuses as many at one end. Nothing without an estimate.
    pub(super) fn of_estimates(mut all: Vec<f64>, beyond: impl Fn(usize) -> f64) -> Option<Shift> {
        all.sort_by(f64::total_cmp);
        let last = all.len().checked_sub(1)?;
        // The ends, counted from either side.
        let mut cut = 1;
        while cut < all.len() / 2 && 1.0 - 2.0 * beyond(cut + 1) >= AIM {
            cut += 1;
        }
        let coverage = (1.0 - 2.0 * beyond(cut)).max(0.0);
        Some(Shift {
            best: (all[last / 2] + all[last.div_ceil(2)]) / 2.0,
            low: all[cut - 1],
            high: all[last + 1 - cut],
            // A reader can use four digits, and they are the same on every machine.
            coverage: (coverage * 1e4).round() / 1e4,
        })
    }
}

/// Of so many differences, of all values of one side from all of the other: the probability of a rank sum that refuses as many.
fn beyond(a: usize, b: usize) -> Box<dyn Fn(usize) -> f64> {
    match a + b <= COUNTED {
        true if a > 0 && b > 0 => {
            let ranks: Vec<usize> = (1..=a + b).collect();
            let (ways, lowest) = (ways(&ranks, b), b * (b + 1) / 2);
            let all: f64 = ways.iter().sum();
            Box::new(move |k| ways[lowest..lowest + k].iter().sum::<f64>() / all)
        }
        _ => {
            let (a, b) = (a as f64, b as f64);
            let lowest = b * (b + 1.0) / 2.0;
            Box::new(move |k| normal(a, b, lowest + k as f64 - 1.0, 0.0).less)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    fn difference(a: u64, b: u64) -> f64 {
        b as f64 - a as f64
    }

    #[test]
    fn three_seeds_a_side_prove_nothing() {
        let test = RankTest::of(&[1, 2, 3], &[7, 8, 9]).unwrap();
        near(test.greater, 0.05);
        near(test.two_sided(), 0.1);
        near(test.least_two_sided(), 0.1);
        near(test.less, 1.0);
        near(least(3, 3), 0.05);
        near(least(5, 7), 1.0 / 792.0);
        assert_eq!([0.05, 0.025, 0.01, 0.001].map(needed), [3, 4, 5, 7]);
    }

    /// All 252 ways counted in Python: 7 have as many pairs (22 of 25) in which `b` is larger.
    #[test]
    fn a_test_and_its_interval() {
        let (a, b) = ([12, 15, 18, 20, 24], [19, 23, 26, 28, 31]);
        near(RankTest::of(&a, &b).unwrap().greater, 7.0 / 252.0);
        let shift = Shift::of(&a, &b, difference).unwrap();
        // Order statistics 3 and 23 of 25 differences, coverage 1 - 2 * 4 / 252.
        assert_eq!((shift.low, shift.best, shift.high), (-1.0, 8.0, 16.0));
        near(shift.coverage, 0.9683);
    }

    #[test]
    fn values_that_are_all_equal_say_nothing() {
        let test = RankTest::of(&[5; 4], &[5; 6]).unwrap();
        assert_eq!([test.greater, test.less, test.least_two_sided()], [1.0; 3]);
        assert_eq!(RankTest::of(&[], &[1]), None);
        assert_eq!(Shift::of(&[1], &[], difference), None);
    }

    /// Three of 100 periods of one side were missed: all three are on that side in C(100, 3) of C(200, 3) ways. The normal law
    /// would say 0.041.
    #[test]
    fn many_equal_values_are_counted_too() {
        let b: Vec<u64> = (0..100).map(|i| if i < 3 { 5 + i } else { 0 }).collect();
        let test = RankTest::of(&[0; 100], &b).unwrap();
        near(test.greater, 100.0 * 99.0 * 98.0 / (200.0 * 199.0 * 198.0));
        near(test.least_greater, test.greater);
    }

    #[test]
    fn many_values_are_normal() {
        let a: Vec<u64> = (0..40).map(|i| i * 7 % 101).collect();
        let b: Vec<u64> = (0..40).map(|i| 12 + i * 11 % 103).collect();
        let (ranks, ties) = ranks(&a, &b);
        let observed: usize = ranks[40..].iter().sum();
        let exact = counted(&ranks, 40, observed);
        let about = normal(40.0, 40.0, observed as f64 / 2.0, ties);
        assert!((exact.greater - about.greater).abs() < 0.002, "{exact:?} {about:?}");
        let shift = Shift::of(&[a.clone(), a].concat(), &[b.clone(), b].concat(), difference).unwrap();
        assert!((0.95..0.96).contains(&shift.coverage), "{shift:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Against every way to deal the values out, one by one.
        #[test]
        fn the_count_is_that_of_all_ways(a in prop::collection::vec(0_u64..6, 1..6), b in prop::collection::vec(0_u64..6, 1..6)) {
            let test = RankTest::of(&a, &b).unwrap();
            let (ranks, _) = ranks(&a, &b);
            let observed: usize = ranks[a.len()..].iter().sum();
            let (mut all, mut high) = (0.0, 0.0);
            for chosen in 0_u32..1 << ranks.len() {
                if chosen.count_ones() as usize == b.len() {
                    let sum: usize = ranks.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1).map(|(_, r)| r).sum();
                    all += 1.0;
                    high += f64::from(u8::from(sum >= observed));
                }
            }
            prop_assert!((test.greater - high / all).abs() < 1e-9);
            let mirrored = RankTest::of(&b, &a).unwrap();
            prop_assert!((test.greater - mirrored.less).abs() < 1e-9);
            prop_assert!(test.least_greater <= test.greater + 1e-12 && test.least_less <= test.less + 1e-12);
        }
    }
}
