//! How many samples should lie above a latency, by the census, and how many do.
//!
//! Due times are spread over the run, one a period. So a stretch of `n` ns holds `n / period` of them on average, and of
//! a section of length `l` the part from whose instructions on the rest and a wake-up path `r` take more than `t` is
//! `l - (t - r)` long. Expected above `t` is the sum over all long sections of the mean over the paths `r` that samples
//! took out of sections, of `max(0, l - (t - r)) / period` (at most `l / period`); and the samples that were due
//! elsewhere, as many as are left, each above `t` as often as theirs were. A section that was hit by a sample counts
//! without that sample's own interrupt, which is part of the path.

use super::join::Joined;
use super::taken::Taken;
use crate::stats::poisson;
use serde::Serialize;
use std::collections::BTreeMap;
use worstcase_probe::Nanos;
use worstcase_probe::census::Kind;
use worstcase_probe::census::log::LONG;

/// Level of the test: one right census in a hundred is refused.
pub const LEVEL: f64 = 0.01;

/// Most latencies at which it is asked.
const THRESHOLDS: usize = 6;

/// One latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Samples above this.
    pub above_ns: Nanos,
    /// So many are expected.
    pub expected: f64,
    /// So many were seen.
    pub seen: u64,
    /// Probability of a number as unlikely as that, corrected for the number of rows.
    pub p: f64,
}

/// Expected and seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tail {
    /// By latency.
    pub rows: Vec<Row>,
    /// Whether they agree, at [`LEVEL`]; `None` if that cannot be asked.
    pub agrees: Option<bool>,
    /// Why it cannot be asked.
    pub why_not: Option<String>,
}

/// The tail of a cell.
pub fn tail(taken: &Taken, joined: &[Joined]) -> Tail {
    let not = |why: &str| Tail {
        rows: Vec::new(),
        agrees: None,
        why_not: Some(why.to_string()),
    };
    if taken.about.missed > 0 {
        return not("periods were missed, so that due times without a sample lie in sections");
    }
    if !taken.polls_known {
        return not("sections are not cut at polls");
    }
    let mut expectation = Expectation::of(taken, joined);
    let Some(longest) = expectation.sections.keys().next_back().copied() else {
        return not("there is no long section");
    };
    expectation.paths.sort_unstable();
    let Some(most) = expectation.paths.last() else {
        return not("no sample met a long section");
    };
    // Up to the latest of the samples that met none, the tail is theirs, and the census says nothing; nor does
    // it where most paths alone take longer.
    let usual = expectation.paths[expectation.paths.len() / 2];
    let from = expectation.elsewhere.iter().copied().fold(usual, u64::max);
    let thresholds: Vec<u64> = round_numbers()
        .skip_while(|t| *t < from)
        .take_while(|t| *t < longest + most)
        .take(THRESHOLDS)
        .collect();
    if thresholds.is_empty() {
        return not("samples that met no long section are as late as the others");
    }
    let seen = |t: u64| joined.iter().filter(|j| j.latency.0 > t).count() as u64;
    let counts: Vec<(f64, u64)> = thresholds.iter().map(|t| (expectation.above(*t), seen(*t))).collect();
    let values: Vec<f64> = counts.iter().map(|(e, n)| poisson::two_sided(*e, *n)).collect();
    let corrected = poisson::holm(&values);
    let rows: Vec<Row> = thresholds
        .iter()
        .zip(counts)
        .zip(corrected)
        .map(|((t, (expected, seen)), p)| Row {
            above_ns: Nanos(*t),
            expected,
            seen,
            p,
        })
        .collect();
    Tail {
        agrees: Some(rows.iter().all(|r| r.p >= LEVEL)),
        rows,
        why_not: None,
    }
}

/// 1, 2, 5, 10, 20, 50 ... us.
fn round_numbers() -> impl Iterator<Item = u64> {
    (0..9).flat_map(|decade| [1_000, 2_000, 5_000].map(|n| n * 10u64.pow(decade)))
}

/// What an expectation is made of, in ns.
struct Expectation {
    /// Long sections: how many of each length.
    sections: BTreeMap<u64, u64>,
    /// Paths out of them.
    paths: Vec<u64>,
    /// Latencies of samples that met none.
    elsewhere: Vec<u64>,
    period: f64,
}

impl Expectation {
    fn of(taken: &Taken, joined: &[Joined]) -> Expectation {
        let long = taken
            .census
            .lengths
            .iter()
            .filter(|l| l.kind == Kind::HeldOff && l.length >= LONG);
        let residuals = |inside: bool| {
            let of = joined.iter().filter(move |j| j.rest.is_some() == inside);
            of.map(|j| j.residual.0).collect::<Vec<u64>>()
        };
        let mut sections: BTreeMap<u64, u64> = BTreeMap::new();
        for row in long {
            *sections.entry(row.length).or_default() += row.count;
        }
        // Those that samples made longer count as long as they would have been.
        for met in joined.iter().filter_map(|j| j.section) {
            if let Some(count) = sections.get_mut(&met.length).filter(|n| **n > 0) {
                *count -= 1;
                *sections.entry(met.undisturbed).or_default() += 1;
            }
        }
        sections.retain(|_, count| *count > 0);
        let sections = sections
            .into_iter()
            .map(|(n, count)| (taken.time_of(n).0, count))
            .collect();
        Expectation {
            sections,
            paths: residuals(true),
            elsewhere: residuals(false),
            period: taken.about.period_ns as f64,
        }
    }

    /// Samples above `t`.
    fn above(&self, t: u64) -> f64 {
        let samples = (self.paths.len() + self.elsewhere.len()) as f64;
        let in_all: f64 = self.sections.iter().map(|(length, n)| (length * n) as f64).sum::<f64>() / self.period;
        let later = self.elsewhere.iter().filter(|r| **r > t).count() as f64;
        let elsewhere = (samples - in_all).max(0.0) * later / (self.elsewhere.len() as f64).max(1.0);
        let of_length = |length: u64| {
            let late: u64 = self
                .paths
                .iter()
                .map(|path| length.saturating_sub(t.saturating_sub(*path)))
                .sum();
            late as f64 / self.paths.len() as f64
        };
        let inside: f64 = self
            .sections
            .iter()
            .map(|(length, n)| of_length(*length) * *n as f64)
            .sum();
        inside / self.period + elsewhere
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::join::{Met, join};
    use crate::census::testing::{length, moment, section, taken};
    use worstcase_probe::prng::SplitMix64;

    /// A run of 4 000 samples in which a section of 60 us comes after random gaps, and many shorter ones; the probe's
    /// phase against them is random. Wake-ups take 2 to 3 us.
    fn run(seed: u64) -> Taken {
        let mut random = SplitMix64::new(seed);
        let mut taken = taken();
        let mut now = 0;
        let end = 4_000 * taken.about.period_ns;
        while now < end {
            now += 20_000 + random.below(100_000);
            let long = match random.below(10) {
                0 => 60_000,
                _ => 1_500 + random.below(20_000),
            };
            taken.census.sections.push(section(Kind::HeldOff, now, long));
            taken.census.lengths.push(length(Kind::HeldOff, long, 1));
            now += long;
        }
        let phase = random.below(taken.about.period_ns);
        for index in 0..4_000 {
            let due = phase + index * taken.about.period_ns;
            let after = taken.census.sections.partition_point(|s| s.start.0 + s.length <= due);
            let inside = taken.census.sections.get(after).filter(|s| s.start.0 <= due);
            let rest = inside.map_or(0, |s| s.start.0 + s.length - due);
            taken
                .moments
                .push(moment(index as usize, due, rest + 2_000 + random.below(1_000)));
        }
        taken
    }

    #[test]
    fn a_right_census_agrees_with_its_samples() {
        for seed in 1..=20 {
            let taken = run(seed);
            let tail = tail(&taken, &join(&taken).unwrap());
            assert_eq!(tail.agrees, Some(true), "seed {seed}: {tail:?}");
            assert_eq!(
                tail.rows[0].above_ns,
                Nanos(5_000),
                "elsewhere nothing takes longer than 3 us"
            );
            assert!(tail.rows[0].seen > 300 && tail.rows.last().unwrap().above_ns == Nanos(50_000));
        }
    }

    #[test]
    fn a_census_without_its_long_sections_does_not() {
        let mut taken = run(1);
        let joined = join(&taken).unwrap();
        taken.census.lengths.retain(|l| l.length < 60_000);
        let tail = tail(&taken, &joined);
        assert_eq!(tail.agrees, Some(false), "{tail:?}");
    }

    #[test]
    fn expected_is_the_part_of_a_section_that_is_early_enough() {
        let mut taken = taken();
        taken.about.period_ns = 100_000;
        taken.census.lengths = vec![length(Kind::HeldOff, 10_000, 3), length(Kind::HeldOff, 900, 1_000)];
        let joined = |rest: Option<u64>, residual: u64| Joined {
            latency: Nanos(rest.unwrap_or(0) + residual),
            rest: rest.map(Nanos),
            residual: Nanos(residual),
            section: None,
        };
        let expectation = Expectation::of(
            &taken,
            &[joined(Some(5_000), 2_000), joined(Some(1), 4_000), joined(None, 3_000)],
        );
        // With 2 us of path 5 of 10 us, with 4 us 7; three sections.
        assert!((expectation.above(7_000) - 3.0 * 6_000.0 / 100_000.0).abs() < 1e-12);
        // Below the paths all of a section counts, and what was due elsewhere.
        assert!((expectation.above(1_000) - 3.0).abs() < 1e-12);
        assert_eq!(expectation.above(14_000), 0.0);
    }

    #[test]
    fn a_section_that_a_sample_made_longer_counts_as_it_would_have_been() {
        let mut taken = taken();
        taken.about.period_ns = 100_000;
        taken.census.lengths = vec![length(Kind::HeldOff, 10_000, 2)];
        let joined = Joined {
            latency: Nanos(9_000),
            rest: Some(Nanos(5_000)),
            residual: Nanos(4_000),
            section: Some(Met {
                length: 10_000,
                undisturbed: 8_000,
            }),
        };
        // Of 8 us 5, of 10 us 7.
        let expected = Expectation::of(&taken, &[joined]).above(7_000);
        assert!((expected - 12_000.0 / 100_000.0).abs() < 1e-12, "{expected}");
    }

    #[test]
    fn what_cannot_be_asked_is_said() {
        let why = |taken: &Taken, joined: &[Joined]| {
            let tail = tail(taken, joined);
            assert_eq!((tail.agrees, tail.rows.len()), (None, 0));
            tail.why_not.unwrap()
        };
        let mut taken = run(1);
        let joined = join(&taken).unwrap();
        taken.about.missed = 1;
        assert!(why(&taken, &joined).contains("missed"));
        taken.about.missed = 0;
        taken.polls_known = false;
        assert!(why(&taken, &joined).contains("polls"));
        taken.polls_known = true;
        assert!(why(&taken, &[]).contains("no sample"));
        taken.census.lengths.clear();
        assert!(why(&taken, &joined).contains("no long section"));
    }
}
