//! One subject and load over several seeds: the union of what was found, and how the maximum grows with the seeds.

use super::top::{Top, TopList};
use serde::Serialize;
use std::cmp::Reverse;
use worstcase_probe::Nanos;

/// What one seed gave.
#[derive(Clone, Debug)]
pub struct Seed<'a> {
    /// The seed.
    pub seed: u64,
    /// Its longest held-off section.
    pub longest: Nanos,
    /// Its longest sections by owner.
    pub top: &'a TopList,
}

/// An owner over the seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Common {
    /// Seeds that name it among their longest.
    pub seeds: Vec<u64>,
    /// Of all seeds together; `longest` is of the seed with the longest.
    #[serde(flatten)]
    pub top: Top,
}

/// The union over the seeds, by the longest.
pub fn union(seeds: &[Seed<'_>]) -> Vec<Common> {
    let mut all: Vec<Common> = Vec::new();
    for seed in seeds {
        for top in &seed.top.owners {
            let found = all.iter_mut().find(|c| c.top.from == top.from && c.top.to == top.to);
            let Some(common) = found else {
                all.push(Common {
                    seeds: vec![seed.seed],
                    top: top.clone(),
                });
                continue;
            };
            common.seeds.push(seed.seed);
            let sum = &mut common.top;
            sum.times += top.times;
            sum.total_ns = sum.total_ns + top.total_ns;
            sum.longest_net_ns = sum.longest_net_ns.max(top.longest_net_ns);
            if top.longest.length_ns > sum.longest.length_ns {
                sum.longest = top.longest.clone();
            }
        }
    }
    all.sort_by_key(|c| Reverse(c.top.longest.length_ns));
    all
}

/// The maximum that one seed, two seeds, ... give on average: the mean of the maximum of `k` of the `n` values over all
/// ways to choose them. Of the values in ascending order the `i`-th is the maximum of `C(i-1, k-1)` of `C(n, k)` ways.
pub fn growth(maxima: &[Nanos]) -> Vec<Nanos> {
    let mut sorted: Vec<u64> = maxima.iter().map(|m| m.0).collect();
    sorted.sort_unstable();
    let n = sorted.len();
    let mean = |k: usize| {
        // The part of the ways in which the largest value is the maximum, then the next smaller one, and so on.
        let mut part = k as f64 / n as f64;
        let mut sum = 0.0;
        for i in (k..=n).rev() {
            sum += part * sorted[i - 1] as f64;
            part *= (i - k) as f64 / (i - 1).max(1) as f64;
        }
        Nanos(sum.round() as u64)
    };
    (1..=n).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::testing::owned;
    use crate::census::top::list;

    #[test]
    fn owners_of_all_seeds_are_counted_together() {
        let one = list(vec![owned("a", "x", 5_000), owned("b", "x", 4_000)], 2);
        let two = list(vec![owned("a", "x", 9_000), owned("a", "x", 2_000)], 2);
        let seed = |seed, top| Seed {
            seed,
            longest: Nanos(0),
            top,
        };
        let union = union(&[seed(1, &one), seed(2, &two)]);
        let rows: Vec<_> = union
            .iter()
            .map(|c| {
                (
                    c.top.from.as_str(),
                    &c.seeds[..],
                    c.top.times,
                    c.top.longest.length_ns.0,
                )
            })
            .collect();
        assert_eq!(rows, [("a", &[1, 2][..], 3, 9_000), ("b", &[1][..], 1, 4_000)]);
    }

    /// Against the definition, all orders written out.
    #[test]
    fn growth_is_the_mean_over_all_orders() {
        let values = [30u64, 10, 20, 70, 10];
        let mut sums = [0.0; 5];
        let mut orders = 0.0;
        let mut order = vec![0, 1, 2, 3, 4];
        permute(&mut order, 0, &mut |order| {
            let mut highest = 0;
            for (k, i) in order.iter().enumerate() {
                highest = highest.max(values[*i]);
                sums[k] += highest as f64;
            }
            orders += 1.0;
        });
        let expected: Vec<u64> = sums.iter().map(|s| (s / orders).round() as u64).collect();
        let found: Vec<u64> = growth(&values.map(Nanos)).iter().map(|n| n.0).collect();
        assert_eq!(found, expected);
        assert_eq!((growth(&[Nanos(7)]), growth(&[]).len()), (vec![Nanos(7)], 0));
    }

    fn permute(order: &mut Vec<usize>, from: usize, each: &mut dyn FnMut(&[usize])) {
        if from == order.len() {
            return each(order);
        }
        for i in from..order.len() {
            order.swap(from, i);
            permute(order, from + 1, each);
            order.swap(from, i);
        }
    }
}
