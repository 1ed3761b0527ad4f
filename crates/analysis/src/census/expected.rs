//! How many samples should lie above a latency, over all phases that the due times could have had.
//!
//! Due times come once a period; their phase against the load is chance. In a section of length `l` with a wake-up path `r`
//! behind it, due times in the first `l - (t - r)` make samples above `t`. So the samples above `t` can be counted for
//! every phase: their mean is the expected number, and their variance shows whether sections recur in step with the period,
//! so that samples meet them in a row.
//!
//! The paths are drawn from samples that left a section at the same instruction, since the end of a section decides what
//! comes behind it: a poll that finds need_resched set may have work to do before it gives its lock back.

use super::cell_census::CellCensus;
use super::exposed_time::{ExposedSection, ExposedTime};
use super::join::Joined;
use std::collections::BTreeMap;
use worstcase_contract::prng::SplitMix64;
use worstcase_results::stats::poisson;

/// An end of sections with fewer samples behind it has no paths of its own; all such ends share their paths.
const ENOUGH: usize = 10;

/// The data of an expectation, in ns.
pub(crate) struct Expectation {
    /// The due times, and the end of the last one's period.
    due: Vec<u64>,
    /// Long sections, each with the path behind it.
    sections: Vec<(ExposedSection, u64)>,
    /// Paths out of long sections, in ascending order.
    paths: Vec<u64>,
}

/// Above this dispersion samples meet long sections in a row, or miss them: their number is no Poisson count.
const IN_STEP: f64 = 2.0;

/// The number of samples above a latency, over all phases.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExpectedCounts {
    /// The mean number.
    pub(crate) mean: f64,
    /// Variance over mean: about 1 if samples meet sections independently of each other.
    pub(crate) dispersion: f64,
    /// Part of the phases with each count.
    shares: BTreeMap<i64, f64>,
}

impl ExpectedCounts {
    fn of(shares: BTreeMap<i64, f64>) -> ExpectedCounts {
        let moment = |power| {
            shares
                .iter()
                .map(|(n, share)| share * (*n as f64).powi(power))
                .sum::<f64>()
        };
        let mean = moment(1);
        ExpectedCounts {
            mean,
            dispersion: if mean > 0.0 {
                (moment(2) - mean * mean) / mean
            } else {
                0.0
            },
            shares,
        }
    }

    /// Whether the test would refuse this census if no sample met a section.
    pub(crate) fn can_tell(&self, level: f64) -> bool {
        self.probability(0) < level
    }

    /// Whether so many may be taken for a sample of the mean.
    pub(crate) fn is_near(&self, seen: u64, level: f64) -> bool {
        poisson::two_sided(self.mean, seen) >= level
    }

    /// Whether the sections recur in step with the period.
    pub(crate) fn in_step(&self) -> bool {
        self.dispersion > IN_STEP
    }

    /// Probability of a number as unlikely as this: of a Poisson count, or, if in step, of a phase by chance.
    pub(crate) fn probability(&self, seen: u64) -> f64 {
        if !self.in_step() {
            return poisson::two_sided(self.mean, seen);
        }
        let seen = seen as i64;
        let share = |is: &dyn Fn(i64) -> bool| -> f64 {
            let fitting = self.shares.iter().filter(|(n, _)| is(**n));
            fitting.map(|(_, share)| share).sum()
        };
        (2.0 * share(&|n| n <= seen).min(share(&|n| n >= seen))).min(1.0)
    }
}

impl Expectation {
    /// The expectation of a cell without missed periods.
    pub(crate) fn of(taken: &CellCensus, joined: &[Joined]) -> Expectation {
        let load = ExposedTime::of(taken, joined);
        let by_end = by_end(joined);
        let mut paths: Vec<u64> = by_end.values().flatten().copied().collect();
        paths.sort_unstable();
        let mut random = SplitMix64::new(1);
        let mut with_path = |section: ExposedSection| {
            let own = by_end.get(&Some(section.to)).or_else(|| by_end.get(&None));
            let from = own.unwrap_or(&paths);
            Some((section, *from.get(random.below(from.len().max(1) as u64) as usize)?))
        };
        let mut sections = load.sections;
        sections.sort_by_key(|s| s.start);
        Expectation {
            sections: sections.into_iter().filter_map(&mut with_path).collect(),
            due: load.due,
            paths,
        }
    }

    /// The longest section.
    pub(crate) fn longest(&self) -> Option<u64> {
        self.sections.iter().map(|(section, _)| section.length).max()
    }

    /// All paths out of long sections, in ascending order.
    pub(crate) fn paths(&self) -> &[u64] {
        &self.paths
    }

    /// Samples above `t`.
    pub(crate) fn above(&self, t: u64) -> ExpectedCounts {
        let mut changes: Vec<(f64, i64)> = Vec::new();
        let starts = self.sections.iter().map(|(section, _)| section.start);
        let nexts = starts.skip(1).map(Some).chain([None]);
        for ((section, path), next) in self.sections.iter().zip(nexts) {
            let late = section.length.saturating_sub(t.saturating_sub(*path));
            // All who are due in a soft interrupt wait for what follows it, but each is due in one section.
            let end = next.map_or(u64::MAX, |next| next.max(section.start));
            self.phases(section.start, end.min(section.start + late), &mut changes);
        }
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut shares: BTreeMap<i64, f64> = BTreeMap::new();
        let (mut phase, mut count) = (0.0, 0);
        for (at, change) in changes.into_iter().chain([(1.0, 0)]) {
            if at > phase {
                *shares.entry(count).or_default() += at - phase;
            }
            (phase, count) = (at, count + change);
        }
        ExpectedCounts::of(shares)
    }

    /// The part of its period in which each due time must lie to fall into a stretch, as the changes of a count.
    fn phases(&self, start: u64, end: u64, changes: &mut Vec<(f64, i64)>) {
        let first = self.due.partition_point(|d| *d <= start).saturating_sub(1);
        for period in self.due[first..].windows(2).take_while(|p| p[0] < end) {
            let (from, to) = (start.clamp(period[0], period[1]), end.clamp(period[0], period[1]));
            if from < to {
                let phase = |at: u64| (at - period[0]) as f64 / (period[1] - period[0]) as f64;
                changes.extend([(phase(from), 1), (phase(to), -1)]);
            }
        }
    }
}

/// Paths out of long sections, by the end of the sections; those of rare ends together.
fn by_end(joined: &[Joined]) -> BTreeMap<Option<u64>, Vec<u64>> {
    let mut ends: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for joined in joined.iter().filter(|j| j.rest.is_some()) {
        let to = joined.section.map_or(0, |s| s.to);
        ends.entry(to).or_default().push(joined.residual.0);
    }
    let mut paths: BTreeMap<Option<u64>, Vec<u64>> = BTreeMap::new();
    for (to, residuals) in ends {
        let end = (residuals.len() >= ENOUGH).then_some(to);
        paths.entry(end).or_default().extend(residuals);
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::join::join;
    use crate::census::testing::{moment, section, taken};
    use worstcase_contract::census::Kind;

    /// An expectation over two periods: one sample meets a section of 10 us; the other section ends elsewhere.
    fn expectation() -> Expectation {
        let mut taken = taken();
        taken.about.period_ns = 100_000;
        let mut other = section(Kind::NonPreemptible, 60_000, 20_000);
        other.to += 8;
        taken.census.sections = vec![section(Kind::NonPreemptible, 45_000, 10_000), other];
        taken.moments = vec![moment(0, 10_000, 0), moment(1, 110_000, 3_000)];
        taken
            .census
            .sections
            .push(section(Kind::NonPreemptible, 109_000, 2_000));
        let joined = join(&taken).unwrap();
        Expectation::of(&taken, &joined)
    }

    #[test]
    fn of_a_section_the_part_counts_that_is_early_enough() {
        let expectation = expectation();
        assert_eq!(
            (expectation.longest(), expectation.paths()),
            (Some(20_000), &[2_000][..])
        );
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        // With a path of 2 us: 5 of the 10 us, 15 of 20, and none of 2.
        near(expectation.above(7_000).mean, 20_000.0 / 100_000.0);
        near(expectation.above(14_000).mean, 8_000.0 / 100_000.0);
        near(expectation.above(22_000).mean, 0.0);
        // Below the path's length all of them; the last section goes on into the second period, whose first 2 us
        // belong to the wake-up.
        near(expectation.above(1_000).mean, 31_000.0 / 100_000.0 + 1_000.0 / 98_000.0);
    }

    #[test]
    fn counts_vary_with_the_phase_alone() {
        let regular = |phases: &[(u64, u64)]| Expectation {
            due: vec![0, 100, 200],
            sections: phases
                .iter()
                .map(|(start, length)| {
                    let (start, length, to) = (*start, *length, 0);
                    (ExposedSection { start, length, to }, 0)
                })
                .collect(),
            paths: vec![0],
        };
        // In step: both samples or none. Apart: one or none.
        let together = regular(&[(10, 20), (110, 20)]).above(0);
        assert!((together.mean - 0.4).abs() < 1e-9);
        assert!((together.dispersion - (4.0 * 0.2 - 0.16) / 0.4).abs() < 1e-9);
        let apart = regular(&[(10, 20), (150, 20)]).above(0);
        assert!((apart.dispersion - (0.4 - 0.16) / 0.4).abs() < 1e-9);
        // A section that goes on into the next period.
        assert!((regular(&[(90, 20)]).above(0).mean - 0.2).abs() < 1e-9);
    }

    #[test]
    fn in_step_a_number_is_as_likely_as_the_phases_that_have_it() {
        let counts = ExpectedCounts::of([(0, 0.7), (8, 0.2), (9, 0.1)].into());
        assert!(counts.in_step());
        let near = |seen, expected: f64| assert!((counts.probability(seen) - expected).abs() < 1e-9, "{seen}");
        near(0, 1.0);
        near(9, 0.2);
        near(10, 0.0);
        let apart = ExpectedCounts::of([(0, 0.6), (1, 0.4)].into());
        assert_eq!(apart.probability(3), poisson::two_sided(0.4, 3));
    }
}
