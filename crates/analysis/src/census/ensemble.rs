//! One subject and load over several seeds: the union of their findings, and how the maximum grows with the seeds.

use super::cell_census::About;
use super::findings::Findings;
use super::top::{Top, TopList};
use serde::Serialize;
use std::cmp::Reverse;
use worstcase_contract::Nanos;
use worstcase_contract::census::Kind;
use worstcase_results::record::SubjectId;

/// The findings of one seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfSeed {
    /// The seed.
    pub seed: u64,
    /// Its cell.
    pub cell: String,
    /// Its largest sampled latency.
    pub sampled_ns: Option<Nanos>,
    /// Its longest delay.
    pub longest_ns: Option<Nanos>,
    /// Its longest non-preemptible section.
    pub section_ns: Nanos,
    /// Whether expected and seen tail agree.
    pub agrees: Option<bool>,
}

/// One subject under one load and probe; never empty.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CensusEnsemble {
    /// The subject's name.
    pub subject: SubjectId,
    /// The load.
    pub load: String,
    /// The probe.
    pub probe: String,
    /// The unit of times.
    pub unit: String,
    /// Whether sections are cut where the kernel polls.
    pub polls_known: bool,
    /// The findings of each seed, in order of the seeds.
    pub seeds: Vec<OfSeed>,
    /// Held-off sections by owner, over all seeds.
    pub union: Vec<Common>,
    /// The longest non-preemptible section of one seed, two seeds ... on average ([`growth`]).
    pub growth_ns: Vec<Nanos>,
    /// What the seeds say of the next one; none if one of them has no sample.
    pub next_seed: Option<NextSeed>,
}

/// What the longest delays of so many seeds say of one more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NextSeed {
    /// The longest delay of them all.
    pub longest_ns: Nanos,
    /// The chance that one more seed has a longer one. Of independent seeds that are alike each is the longest of all with
    /// the same chance, whatever the distribution; of equal lengths none is longer, so that it is at most this.
    pub chance_above: f64,
}

impl NextSeed {
    fn of(seeds: &[OfSeed]) -> Option<NextSeed> {
        let each: Option<Vec<Nanos>> = seeds.iter().map(|seed| seed.longest_ns).collect();
        Some(NextSeed {
            longest_ns: each?.into_iter().max()?,
            chance_above: 1.0 / (seeds.len() as f64 + 1.0),
        })
    }
}

/// The ensembles of these cells, each at the place of its first cell.
pub fn ensembles(cells: &[Findings]) -> Vec<CensusEnsemble> {
    let same = |a: &About, b: &About| a.subject == b.subject && a.load == b.load && a.probe == b.probe;
    let mut groups: Vec<Vec<&Findings>> = Vec::new();
    for cell in cells {
        match groups.iter_mut().find(|g| same(&g[0].about, &cell.about)) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups.into_iter().map(ensemble).collect()
}

fn ensemble(mut cells: Vec<&Findings>) -> CensusEnsemble {
    cells.sort_by_key(|c| c.about.seed);
    let of_seed = |cell: &&Findings| OfSeed {
        seed: cell.about.seed,
        cell: cell.about.cell.clone(),
        sampled_ns: cell.longest_of_run.as_ref().map(|l| l.sampled_ns),
        longest_ns: cell.longest_of_run.as_ref().map(|l| l.longest_ns),
        section_ns: cell.of_kind(Kind::NonPreemptible).sum.longest_ns,
        agrees: cell.tail.agrees,
    };
    let seeds: Vec<OfSeed> = cells.iter().map(of_seed).collect();
    let lists: Vec<(u64, &TopList)> = cells
        .iter()
        .map(|c| (c.about.seed, &c.of_kind(Kind::NonPreemptible).longest))
        .collect();
    let maxima: Vec<Nanos> = seeds.iter().map(|s| s.section_ns).collect();
    let about = &cells[0].about;
    let next_seed = NextSeed::of(&seeds);
    CensusEnsemble {
        subject: about.subject.clone(),
        load: about.load.clone(),
        probe: about.probe.clone(),
        unit: about.unit.clone(),
        polls_known: cells.iter().all(|c| c.polls_known),
        seeds,
        union: union(&lists),
        growth_ns: growth(&maxima),
        next_seed,
    }
}

/// An owner over the seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Common {
    /// Seeds that name it among their longest.
    pub seeds: Vec<u64>,
    /// The owner over all seeds together; `longest` is from the seed with the longest section.
    #[serde(flatten)]
    pub top: Top,
}

/// The union over the seeds, by the longest.
fn union(seeds: &[(u64, &TopList)]) -> Vec<Common> {
    let mut all: Vec<Common> = Vec::new();
    for (seed, list) in seeds {
        for top in &list.owners {
            let found = all.iter_mut().find(|c| c.top.name() == top.name());
            let Some(common) = found else {
                all.push(Common {
                    seeds: vec![*seed],
                    top: top.clone(),
                });
                continue;
            };
            common.seeds.push(*seed);
            common.top.add(top);
        }
    }
    all.sort_by_key(|c| Reverse(c.top.longest.length_ns));
    all
}

/// The average maximum of one seed, two seeds, ...: the mean of the maximum of `k` of the `n` values over all ways to
/// choose them. Of the values in ascending order the `i`-th is the maximum of `C(i-1, k-1)` of `C(n, k)` ways.
pub fn growth(maxima: &[Nanos]) -> Vec<Nanos> {
    let mut sorted: Vec<u64> = maxima.iter().map(|m| m.0).collect();
    sorted.sort_unstable();
    let n = sorted.len();
    let mean = |k: usize| {
        // The share of the ways in which the largest value is the maximum, then the next smaller one, and so on.
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
        let one = list(vec![owned("a", "x", 5_000), owned("b", "x", 4_000)], Nanos(0));
        let two = list(vec![owned("a", "x", 9_000), owned("a", "x", 2_000)], Nanos(0));
        let union = union(&[(1, &one), (2, &two)]);
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

    /// Counted: of all orders of so many lengths, those in which the last one is the longest.
    #[test]
    fn the_next_seed_is_longer_in_one_of_so_many_orders_and_one_more() {
        let lengths = [30u64, 10, 20, 70];
        let (mut orders, mut longer) = (0, 0);
        permute(&mut vec![0, 1, 2, 3], 0, &mut |order| {
            orders += 1;
            longer += usize::from(order[..3].iter().all(|i| lengths[*i] < lengths[order[3]]));
        });
        let of_seed = |longest: Option<u64>| OfSeed {
            seed: 1,
            cell: String::new(),
            sampled_ns: None,
            longest_ns: longest.map(Nanos),
            section_ns: Nanos(0),
            agrees: None,
        };
        let seeds = [30, 10, 20].map(|length| of_seed(Some(length)));
        let next = NextSeed::of(&seeds).unwrap();
        assert_eq!(
            (next.longest_ns, next.chance_above),
            (Nanos(30), longer as f64 / orders as f64)
        );
        assert_eq!(NextSeed::of(&[of_seed(Some(30)), of_seed(None)]), None);
    }

    /// Compared with the definition, with all orders written out.
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
