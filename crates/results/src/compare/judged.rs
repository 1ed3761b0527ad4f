//! One measure of the gate: the typical seed by a test, the worst seed by a limit.

use super::change::{ComparedMeasure, MeasureChange};
use crate::stats::many::{holm, testable};
use serde::Serialize;

/// Probability of a FAIL by the test of a run that is no worse.
pub const LEVEL: f64 = 0.05;

/// How much higher than the baseline a measure may be, as a share: 0.1 is 10 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GateLimits {
    /// Over all seeds, by the Hodges-Lehmann estimate.
    pub tolerance: f64,
    /// The worst seed of the run against the worst of the baseline.
    pub worst_seed: f64,
    /// The worst seed alone decides: no test, so one seed is enough. Lab only.
    pub exact: bool,
}

impl Default for GateLimits {
    fn default() -> GateLimits {
        GateLimits {
            tolerance: 0.1,
            // Of one kernel that is measured again the worst seed may be that much above the baseline's, by one rare event:
            // docs/statistics.md has the figures.
            worst_seed: 0.6,
            exact: false,
        }
    }
}

/// The worst seed of the run, beside the worst of the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorstSeed {
    /// The run's seed with the highest value, the first of equals.
    pub seed: u64,
    /// The highest value of the baseline's seeds; ns, or periods.
    pub baseline: u64,
    /// The highest of the run's.
    pub run: u64,
    /// The ratio to the baseline; nothing if the baseline has 0.
    pub ratio: Option<f64>,
    /// Where seeds are paired: the run's next seed, if that too is above the baseline's highest, by more than the tolerance.
    pub second: Option<u64>,
    /// Whether the worst seed is above its limit, or there is a second. Above a baseline of 0 every value is.
    pub beyond: bool,
}

impl WorstSeed {
    fn of(change: &MeasureChange, (run_seeds, paired): (&[u64], bool), limits: &GateLimits) -> WorstSeed {
        let (baseline, run) = (change.a.highest, change.b.highest);
        let mut seeds: Vec<(u64, u64)> = change
            .b
            .of_seeds
            .iter()
            .copied()
            .zip(run_seeds.iter().copied())
            .collect();
        // The first of equals stays the first.
        seeds.sort_by_key(|(value, _)| std::cmp::Reverse(*value));
        let above = |value: u64, limit: f64| value as f64 > baseline as f64 * (1.0 + limit);
        let second = seeds
            .get(1)
            .filter(|(value, _)| paired && !limits.exact && above(*value, limits.tolerance));
        let second = second.map(|(_, seed)| *seed);
        WorstSeed {
            seed: seeds.first().map(|(_, seed)| *seed).unwrap_or_default(),
            baseline,
            run,
            ratio: (baseline > 0).then(|| run as f64 / baseline as f64),
            second,
            beyond: above(run, limits.worst_seed) || second.is_some(),
        }
    }
}

/// A measure that the gate judges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedMeasure {
    /// The change.
    #[serde(flatten)]
    pub change: MeasureChange,
    /// Its name.
    pub name: String,
    /// Probability of such an increase by chance, corrected for all tests; nothing if no order of these values could
    /// show it.
    pub p_corrected: Option<f64>,
    /// Whether the typical seed is higher by more than the tolerance.
    pub beyond: bool,
    /// Whether it is beyond the tolerance and the test shows it.
    pub regression: bool,
    /// The worst seed.
    pub worst_seed: WorstSeed,
}

impl JudgedMeasure {
    /// Judges; the seeds of the run, and whether they are those of the baseline.
    pub fn new(
        change: &MeasureChange,
        name: String,
        p_corrected: Option<f64>,
        run_seeds: (&[u64], bool),
        limits: &GateLimits,
    ) -> JudgedMeasure {
        let beyond = !limits.exact && beyond(change, limits.tolerance);
        JudgedMeasure {
            name,
            p_corrected,
            beyond,
            regression: beyond && p_corrected.is_some_and(|p| p <= LEVEL),
            worst_seed: WorstSeed::of(change, run_seeds, limits),
            change: change.clone(),
        }
    }

    /// Whether the typical seed is higher, although no order of these values could have shown that.
    pub(crate) fn untested_and_worse(&self) -> bool {
        self.p_corrected.is_none() && self.beyond && !self.change.constant()
    }

    /// `periods`, or the unit of the cell's times.
    pub fn unit<'a>(&self, of_times: &'a str) -> &'a str {
        match self.change.measure {
            ComparedMeasure::Missed => "periods",
            _ => of_times,
        }
    }
}

/// Whether the estimate is higher by more than the tolerance.
fn beyond(change: &MeasureChange, tolerance: f64) -> bool {
    match change.ratio {
        Some(ratio) => ratio.best > 1.0 + tolerance,
        None => change.difference.best > tolerance * change.a.median as f64,
    }
}

/// All tests of a run, corrected together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tests {
    /// The corrected p of each change; nothing for a change whose values could show nothing in any order.
    pub(crate) corrected: Vec<Option<f64>>,
    /// The number of tests that took part.
    pub(crate) count: usize,
    /// The p that a test must be able to reach to take part.
    pub(crate) needed: f64,
    /// Changes that are not constant: the number of tests that would take part with enough seeds.
    pub(crate) could_be: usize,
}

impl Tests {
    /// Tests the changes that can show something at all, by their pooled values alone.
    pub(crate) fn of(changes: &[&MeasureChange]) -> Tests {
        let least: Vec<f64> = changes.iter().map(|c| c.test.least_greater).collect();
        let needed = testable(&least, LEVEL);
        let takes_part = |c: &&&MeasureChange| c.test.least_greater <= needed;
        let family: Vec<f64> = changes.iter().filter(takes_part).map(|c| c.test.greater).collect();
        let mut values = holm(&family).into_iter();
        let corrected = changes
            .iter()
            .map(|c| if takes_part(&c) { values.next() } else { None });
        Tests {
            corrected: corrected.collect(),
            count: family.len(),
            needed,
            could_be: changes.iter().filter(|c| !c.constant()).count(),
        }
    }
}
