//! Whether and where the level of a series changed: rank tests of all cuts at once, part by part.
//!
//! Each cut of the series gives a rank-sum statistic (Wilcoxon, Mann and Whitney); the largest in its own standard deviations
//! is the place of a possible change (A. N. Pettitt, Applied Statistics 28, 1979; D. M. Hawkins, Q. Deng, Journal of Quality
//! Technology 42, 2010). The values take part by their ranks alone, so neither heavy tails nor single outliers matter. The
//! probability of so large a statistic by chance is counted over random orders of the same ranks (seeded: the answer is
//! always the same). A series with a change is cut there, and its parts are tested in turn; a part of a share s of the series
//! is tested at s times the level (N. Meinshausen, Biometrika 95, 2008).

use worstcase_contract::prng::SplitMix64;

/// The number of random orders in which the probability is counted.
pub const ORDERS: u32 = 9_999;

/// The seed of the generator: any number will do.
const SEED: u64 = 0x0007_a57c_a5e5;

/// The strongest candidate for a change in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The first value behind the change.
    pub at: usize,
    /// Probability of a change as strong by chance, in a series without one.
    pub p: f64,
    /// The smallest probability that these values could have given in any order.
    pub least: f64,
}

/// The strongest candidate; none of fewer than two values.
pub fn candidate(values: &[u64]) -> Option<Candidate> {
    candidate_of(values, ORDERS)
}

/// The same with so many random orders.
pub fn candidate_of(values: &[u64], orders: u32) -> Option<Candidate> {
    if values.len() < 2 {
        return None;
    }
    let centred = centred_ranks(values);
    let (at, seen) = farthest(&centred);
    let mut ascending = centred.clone();
    ascending.sort_by(f64::total_cmp);
    let (_, most) = farthest(&ascending);
    let [p, least] = chance(&centred, [seen, most], orders);
    Some(Candidate { at, p, least })
}

/// The share of random orders of centred values that have a cut at least as far as each of these.
pub(super) fn chance<const N: usize>(centred: &[f64], far: [f64; N], orders: u32) -> [f64; N] {
    let mut random = SplitMix64::new(SEED);
    let mut shuffled = centred.to_vec();
    let mut counts = [1_u32; N];
    for _ in 0..orders {
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, random.below(last as u64 + 1) as usize);
        }
        let (_, distance) = farthest(&shuffled);
        for (count, far) in counts.iter_mut().zip(far) {
            // Equal fractions may be rounded differently.
            *count += u32::from(distance >= far * (1.0 - 1e-12));
        }
    }
    counts.map(|count| f64::from(count) / f64::from(orders + 1))
}

/// Series that are tested together.
#[derive(Clone, Copy, Debug)]
pub struct Together {
    /// The number of tests.
    pub tests: usize,
    /// Probability of any change shown where there is none.
    pub level: f64,
    /// Random orders of each test.
    pub orders: u32,
}

impl Together {
    /// The cut of every change that is shown, in order. `first` is the whole series' candidate, `corrected` its probability among
    /// all tests. A cut that was made while others were not known may be none.
    pub fn cuts(&self, values: &[u64], first: Candidate, corrected: f64) -> Vec<usize> {
        if corrected > self.level {
            return Vec::new();
        }
        let mut cuts = vec![first.at];
        let mut parts = vec![(0, first.at), (first.at, values.len())];
        while let Some((from, to)) = parts.pop() {
            if let Some(found) = self.test(values, from, to).filter(|found| found.p <= self.level) {
                cuts.push(found.at);
                parts.extend([(from, found.at), (found.at, to)]);
            }
        }
        cuts.sort_unstable();
        relocated(values, cuts)
    }

    /// The probability of each cut by chance between its neighbours, corrected for all tests.
    pub fn probabilities(&self, values: &[u64], cuts: &[usize]) -> Vec<f64> {
        let of = |nth: usize| {
            let (from, to) = around(cuts, nth, values.len());
            self.test(values, from, to).map_or(1.0, |found| found.p)
        };
        (0..cuts.len()).map(of).collect()
    }

    /// The strongest candidate of a part, its probability corrected.
    fn test(&self, values: &[u64], from: usize, to: usize) -> Option<Candidate> {
        let found = candidate_of(&values[from..to], self.orders)?;
        let share = (to - from) as f64 / values.len() as f64;
        Some(Candidate {
            at: from + found.at,
            p: (found.p * self.tests as f64 / share).min(1.0),
            least: found.least,
        })
    }
}

/// The neighbours of a cut.
fn around(cuts: &[usize], nth: usize, len: usize) -> (usize, usize) {
    let from = nth.checked_sub(1).map_or(0, |before| cuts[before]);
    (from, cuts.get(nth + 1).copied().unwrap_or(len))
}

/// Each cut where it lies best between its neighbours.
pub(super) fn relocated(values: &[u64], mut cuts: Vec<usize>) -> Vec<usize> {
    for nth in 0..cuts.len() {
        let (from, to) = around(&cuts, nth, values.len());
        cuts[nth] = from + farthest(&centred_ranks(&values[from..to])).0;
    }
    cuts
}

/// Twice each value's rank less the mean rank; equal values get the mean of their ranks.
fn centred_ranks(values: &[u64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|at| values[*at]);
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0_i64;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let count = equal.len() as i64;
        for at in equal {
            ranks[*at] = (2 * below + count - values.len() as i64) as f64;
        }
        below += count;
    }
    ranks
}

/// The cut with the largest statistic, and that, squared: the first value behind the cut.
fn farthest(centred: &[f64]) -> (usize, f64) {
    let (mut sum, mut best) = (0.0_f64, (1, 0.0));
    for (at, rank) in (1..centred.len()).zip(centred) {
        sum += rank;
        let variance = (at * (centred.len() - at)) as f64;
        let far = sum.powi(2) / variance;
        if far > best.1 {
            best = (at, far);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(values: &[u64]) -> Vec<usize> {
        let first = candidate(values).unwrap();
        let together = Together {
            tests: 1,
            level: 0.05,
            orders: ORDERS,
        };
        together.cuts(values, first, first.p)
    }

    fn noisy(levels: &[(usize, u64)]) -> Vec<u64> {
        let mut random = SplitMix64::new(1);
        let parts = levels.iter().flat_map(|(count, level)| vec![*level; *count]);
        parts.map(|level| level * 1_000 + random.below(level * 100)).collect()
    }

    /// The rank sum by its definition: the signs of all differences across the cut, and its variance without ties.
    #[test]
    fn each_cut_is_a_rank_sum() {
        let values = [5, 3, 9, 9, 1, 7, 12];
        let sign = |a: u64, b: u64| (i64::from(a > b)) - i64::from(a < b);
        let at = |t: usize| -> f64 {
            let pairs = values[..t]
                .iter()
                .flat_map(|a| values[t..].iter().map(|b| sign(*a, *b)));
            (pairs.sum::<i64>() as f64).powi(2) / (t * (values.len() - t)) as f64
        };
        let naive = (1..values.len()).map(at).fold(0.0, f64::max);
        assert_eq!(farthest(&centred_ranks(&values)).1, naive);
    }

    /// With four values on each side, two orders in 70 separate them, and no order of eight values is stronger.
    #[test]
    fn eight_values_can_show_a_change_and_seven_cannot() {
        let of = |n: u64| candidate(&(0..n).collect::<Vec<u64>>()).unwrap();
        assert!((of(8).least - 2.0 / 70.0).abs() < 0.005, "{:?}", of(8));
        assert_eq!(of(8).p, of(8).least);
        assert!(of(7).least > 0.05, "{:?}", of(7));
    }

    #[test]
    fn each_change_is_found_in_its_place() {
        assert_eq!(all(&noisy(&[(20, 40), (20, 60)])), [20]);
        let stairs = all(&noisy(&[(20, 40), (20, 60), (20, 80)]));
        assert!(
            [20, 40]
                .iter()
                .all(|step| stairs.iter().any(|at| at.abs_diff(*step) <= 1)),
            "{stairs:?}"
        );
        assert!(all(&noisy(&[(40, 40)])).is_empty());
        assert!(all(&[7; 30]).is_empty());
    }

    #[test]
    fn single_outliers_are_no_change() {
        let mut values = noisy(&[(30, 40)]);
        values[29] = 9_000_000;
        values[12] = 8_000_000;
        assert!(all(&values).is_empty());
    }

    proptest! {
        /// Only the order matters, and the answer is always the same.
        #[test]
        fn any_scale_gives_the_same_answer(values in prop::collection::vec(0_u64..1_000, 2..40)) {
            let stretched: Vec<u64> = values.iter().map(|v| v * v + 3).collect();
            prop_assert_eq!(candidate_of(&values, 99), candidate_of(&stretched, 99));
        }
    }
}
