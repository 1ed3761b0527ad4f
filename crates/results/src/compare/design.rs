//! Which seeds of two sides belong together, and so which test compares them.

use super::{SeedGroup, SeedResult};
use crate::stats::ranks::{self, RankTest, Shift};
use crate::stats::signed_ranks;
use serde::Serialize;

/// How the seeds of two sides are set against each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "design", rename_all = "snake_case")]
pub enum SeedDesign {
    /// In the lab a seed does the same on both sides: these seeds, each against itself.
    Paired {
        /// The seeds.
        #[serde(rename = "paired_seeds")]
        seeds: Vec<u64>,
    },
    /// All of one side against all of the other.
    Apart {
        /// Their numbers.
        #[serde(skip)]
        seeds: [usize; 2],
    },
}

/// What a design says of one measure.
pub(super) struct DesignFigures {
    pub(super) test: RankTest,
    pub(super) difference: Shift,
    pub(super) ratio: Option<Shift>,
}

impl SeedDesign {
    /// Seeds are paired if both sides are of the lab, and one has all seeds of the other.
    pub(super) fn of(a: &SeedGroup, b: &SeedGroup, in_lab: bool) -> SeedDesign {
        let is_in_b = |s: &&SeedResult| b.seeds.iter().any(|other| other.seed == s.seed);
        let common: Vec<u64> = a.seeds.iter().filter(is_in_b).map(|s| s.seed).collect();
        let counts = [a.seeds.len(), b.seeds.len()];
        match in_lab && common.len() == counts[0].min(counts[1]) {
            true => SeedDesign::Paired { seeds: common },
            false => SeedDesign::Apart { seeds: counts },
        }
    }

    /// Whether each seed has a partner.
    pub fn is_paired(&self) -> bool {
        matches!(self, SeedDesign::Paired { .. })
    }

    /// The smallest one-sided probability that a test of it can give.
    pub fn least(&self) -> f64 {
        match self {
            SeedDesign::Paired { seeds } => signed_ranks::least(seeds.len()),
            SeedDesign::Apart { seeds: [a, b] } => ranks::least(*a, *b),
        }
    }

    /// The fewest seeds of each side with which a one-sided probability can be as small as `level`.
    pub fn needed(&self, level: f64) -> usize {
        match self {
            SeedDesign::Paired { .. } => signed_ranks::needed(level),
            SeedDesign::Apart { .. } => ranks::needed(level),
        }
    }

    /// Tests the values of both sides' seeds, in the order of the seeds.
    pub(super) fn figures(&self, a: (&SeedGroup, &[u64]), b: (&SeedGroup, &[u64])) -> Option<DesignFigures> {
        let value = |(group, values): (&SeedGroup, &[u64]), seed: &u64| {
            let place = group.seeds.iter().position(|s| s.seed == *seed)?;
            values.get(place).copied()
        };
        match self {
            SeedDesign::Paired { seeds } => {
                let both = |seed: &u64| Some((value(a, seed)?, value(b, seed)?));
                let pairs: Vec<(u64, u64)> = seeds.iter().map(both).collect::<Option<_>>()?;
                Some(DesignFigures {
                    test: signed_ranks::test(&pairs)?,
                    difference: signed_ranks::difference(&pairs)?,
                    ratio: signed_ranks::ratio(&pairs),
                })
            }
            SeedDesign::Apart { .. } => {
                let (a, b) = (a.1, b.1);
                let ratio = a
                    .iter()
                    .all(|x| *x > 0)
                    .then(|| Shift::of(a, b, |x, y| y as f64 / x as f64));
                Some(DesignFigures {
                    test: RankTest::of(a, b)?,
                    difference: Shift::of(a, b, |x, y| y as f64 - x as f64)?,
                    ratio: ratio.flatten(),
                })
            }
        }
    }
}
