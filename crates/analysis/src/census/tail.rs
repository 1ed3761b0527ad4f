//! How many samples the census expects above a latency, how many there are, and a test whether the two agree.

use super::cell_census::CellCensus;
use super::expected::Expectation;
use super::join::Joined;
use super::places::function;
use serde::Serialize;
use worstcase_base::format::micros;
use worstcase_contract::Nanos;
use worstcase_results::stats::{many, median};

/// Level of the test: one right census in a hundred is refused.
pub const LEVEL: f64 = 0.01;

/// The largest number of latencies that are tested.
const THRESHOLDS: usize = 6;

/// The numbers for one latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TailRow {
    /// Samples above this.
    pub above_ns: Nanos,
    /// The expected number of samples.
    pub expected: f64,
    /// The number of samples seen.
    pub seen: u64,
    /// Variance over mean of the expected number, over all phases that the due times could have had.
    pub dispersion: f64,
    /// Whether long sections recur in step with the period, so that samples meet them in a row; then `p` is the part of all
    /// phases with a number as unlikely as that, else it is a Poisson count's.
    pub in_step: bool,
    /// Whether the test would refuse the census if no sample were above.
    pub can_tell: bool,
    /// Probability of a number as unlikely as that, corrected for the number of rows.
    pub p: f64,
}

/// Expected and seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CensusTail {
    /// The rows, by latency.
    pub rows: Vec<TailRow>,
    /// Whether they agree, at [`LEVEL`]; `None` if that cannot be told.
    pub agrees: Option<bool>,
    /// Why it cannot be told.
    pub why_not: Option<String>,
    /// The latest sample that met no long section; below, nothing is compared.
    pub elsewhere_ns: Nanos,
    /// The function that ended the short section which the sample met, if any: the code behind it takes so long.
    pub elsewhere_behind: Option<String>,
}

/// The tail of a cell.
pub fn tail(taken: &CellCensus, joined: &[Joined]) -> CensusTail {
    let not = |why: &str| CensusTail {
        rows: Vec::new(),
        agrees: None,
        why_not: Some(why.to_string()),
        elsewhere_ns: Nanos(0),
        elsewhere_behind: None,
    };
    if taken.about.missed > 0 {
        return not("periods were missed, so that due times without a sample lie in sections");
    }
    if !taken.polls_known {
        return not("sections are not cut at polls");
    }
    let expectation = Expectation::of(taken, joined);
    let paths = expectation.paths();
    let (Some(most), Some(median)) = (paths.last(), median::of_sorted(paths)) else {
        return not("no sample met a long section");
    };
    let Some(longest) = expectation.longest() else {
        return not("there is no long section but those of the wake-ups themselves");
    };
    let elsewhere = joined.iter().filter(|j| j.rest.is_none()).max_by_key(|j| j.latency);
    // Up to the latest of these the tail is theirs, and the census says nothing; nor does it where most paths alone take
    // longer.
    let latest = elsewhere.map_or(0, |j| j.latency.0);
    let from = latest.max(median);
    let thresholds: Vec<u64> = round_numbers()
        .skip_while(|t| *t < from)
        .take_while(|t| *t < longest + most)
        .take(THRESHOLDS)
        .collect();
    let behind = elsewhere
        .and_then(|j| j.section)
        .map(|s| function(&taken.symbols, s.to));
    if thresholds.is_empty() {
        let behind = behind.map_or(String::new(), |name| {
            format!(", the latest behind one that ended in {name}")
        });
        return not(&format!(
            "samples that met no long section are as late as the others{behind}"
        ));
    }
    let seen = |t: u64| joined.iter().filter(|j| j.latency.0 > t).count() as u64;
    let mut far = None;
    let row = |t: &u64| {
        let (expected, seen) = (expectation.above(*t), seen(*t));
        let can_tell = expected.can_tell(LEVEL);
        if !can_tell && !expected.is_near(seen, LEVEL) {
            far.get_or_insert(*t);
        }
        TailRow {
            can_tell,
            above_ns: Nanos(*t),
            expected: expected.mean,
            seen,
            dispersion: expected.dispersion,
            in_step: expected.in_step(),
            p: expected.probability(seen),
        }
    };
    let mut rows: Vec<TailRow> = thresholds.iter().map(row).collect();
    let corrected = many::holm(&rows.iter().map(|r| r.p).collect::<Vec<f64>>());
    rows.iter_mut().zip(corrected).for_each(|(row, p)| row.p = p);
    let refused = rows.iter().any(|r| r.p < LEVEL);
    let why_not = match far {
        _ if refused => None,
        Some(t) => Some(format!(
            "above {} us expected and seen are far apart, but long sections recur with the period, and the test has no power",
            micros(Nanos(t))
        )),
        None if rows.iter().any(|r| r.can_tell) => None,
        None => Some("so few samples are expected that the test has no power".to_string()),
    };
    CensusTail {
        agrees: why_not.is_none().then_some(!refused),
        rows,
        why_not,
        elsewhere_ns: Nanos(latest),
        elsewhere_behind: behind,
    }
}

/// 1, 2, 5, 10, 20, 50 ... us.
fn round_numbers() -> impl Iterator<Item = u64> {
    (0..9).flat_map(|decade| [1_000, 2_000, 5_000].map(|n| n * 10u64.pow(decade)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::join::join;
    use crate::census::testing::{moment, section, taken};
    use worstcase_contract::Instructions;
    use worstcase_contract::census::Kind;
    use worstcase_contract::prng::SplitMix64;
    use worstcase_results::stats::poisson;

    /// A load that holds wake-ups off, and its run with samples: wake-ups take 2 to 3 us, the probe sleeps 2 us later, and both
    /// leave long sections of their own.
    struct Load {
        random: SplitMix64,
        /// Start and length of its sections, in its own time.
        sections: Vec<(u64, u64)>,
    }

    impl Load {
        /// A section of 60 us comes after random gaps, and many shorter ones.
        fn random(seed: u64) -> Load {
            let mut random = SplitMix64::new(seed);
            let mut now = 0;
            let next = |_| {
                let start = now + 20_000 + random.below(100_000);
                let length = match random.below(10) {
                    0 => 60_000,
                    _ => 1_500 + random.below(20_000),
                };
                now = start + length;
                (start, length)
            };
            let sections = (0..20_000).map(next).collect();
            Load { random, sections }
        }

        /// A section of 60 us comes ten times as often as due times do; then for a while there is none.
        fn in_step(seed: u64) -> Load {
            let mut random = SplitMix64::new(seed);
            let mut now = 0;
            let mut sections = Vec::new();
            for _ in 0..200 {
                now += random.below(3_000_000);
                sections.extend((0..10).map(|i| (now + i * 246_500, 60_000)));
                now += 2_530_000;
            }
            Load { random, sections }
        }

        /// Measured, with a phase of chance.
        fn run(mut self, samples: usize) -> CellCensus {
            let mut taken = taken();
            let period = taken.about.period_ns;
            let phase = self.random.below(period);
            let mut sections = self.sections.iter().copied().peekable();
            // The distance by which the clock is ahead of the load's own time.
            let mut ahead = 0;
            for index in 0..samples {
                let due = phase + index as u64 * period;
                let mut rest = 0;
                while let Some((start, length)) = sections.next_if(|(start, _)| start + ahead <= due) {
                    rest = (start + ahead + length).saturating_sub(due);
                    let begun = section(Kind::NonPreemptible, start + ahead, length);
                    taken.census.sections.push(begun);
                }
                let latency = rest + 2_000 + self.random.below(1_000);
                let mut sample = moment(index, due, latency);
                let entry = due + rest.max(50);
                sample.timer_entry = Some(Instructions(entry));
                let asleep = due + latency + 2_000;
                for kind in [Kind::InterruptsOff, Kind::NonPreemptible] {
                    taken.census.sections.push(section(kind, entry, 1_500));
                }
                taken
                    .census
                    .sections
                    .push(section(Kind::NonPreemptible, asleep - 1_200, 1_300));
                taken.moments.push(sample);
                taken.census.asleep.push(Instructions(asleep));
                ahead += asleep - due - rest;
            }
            taken
        }
    }

    fn tail_of(taken: &CellCensus) -> CensusTail {
        tail(taken, &join(taken).unwrap())
    }

    #[test]
    fn a_right_census_agrees_with_its_samples() {
        for seed in 1..=20 {
            let tail = tail_of(&Load::random(seed).run(4_000));
            assert_eq!(tail.agrees, Some(true), "seed {seed}: {tail:?}");
            assert!(!tail.rows.iter().any(|r| r.in_step), "seed {seed}: {tail:?}");
            assert_eq!(
                tail.rows[0].above_ns,
                Nanos(5_000),
                "elsewhere nothing takes longer than 3 us"
            );
            assert!(tail.rows[0].seen > 300 && tail.rows.last().unwrap().above_ns == Nanos(50_000));
        }
    }

    #[test]
    fn samples_may_meet_in_a_row_what_recurs_in_step_with_the_period() {
        let mut refused_else = 0;
        for seed in 1..=20 {
            let tail = tail_of(&Load::in_step(seed).run(500));
            let late = tail.rows.last().unwrap();
            assert!(late.above_ns == Nanos(50_000) && late.in_step, "seed {seed}: {tail:?}");
            assert_ne!(tail.agrees, Some(false), "seed {seed}: {tail:?}");
            let far = |r: &TailRow| poisson::two_sided(r.expected, r.seen) < LEVEL;
            let untold = tail.rows.iter().any(|r| far(r) && !r.can_tell);
            assert!(tail.agrees.is_none() || !untold, "seed {seed}: {tail:?}");
            refused_else += u32::from(tail.rows.iter().any(far));
        }
        assert!(refused_else > 0);
    }

    /// Half of the phases meet every section, the others none.
    #[test]
    fn where_a_phase_decides_all_nothing_can_be_told() {
        let mut taken = taken();
        for i in 0..200 {
            let start = 200_000 + i * taken.about.period_ns;
            taken
                .census
                .sections
                .push(section(Kind::NonPreemptible, start, 120_000));
            taken.moments.push(moment(i as usize, start - 10_000, 3_000));
        }
        // One sample meets its section.
        taken.moments[100] = moment(100, 200_000 + 100 * taken.about.period_ns, 123_000);
        let tail = tail_of(&taken);
        let late = tail.rows.iter().find(|r| r.above_ns == Nanos(20_000)).unwrap();
        assert!(late.expected > 70.0 && late.seen == 1 && !late.can_tell, "{tail:?}");
        assert_eq!(tail.agrees, None);
        assert!(tail.why_not.unwrap().contains("no power"));
    }

    #[test]
    fn a_few_samples_tell_nothing() {
        let mut taken = Load::random(1).run(4_000);
        taken.moments.truncate(8);
        taken.census.asleep.truncate(8);
        let end = taken.moments[7].sample;
        taken.census.sections.retain(|s| s.start < end);
        let tail = tail_of(&taken);
        assert!(tail.agrees.is_none() && tail.why_not.is_some(), "{tail:?}");
    }

    #[test]
    fn a_census_without_its_long_sections_does_not() {
        for seed in 1..=20 {
            let mut taken = Load::random(seed).run(4_000);
            let joined = join(&taken).unwrap();
            taken.census.sections.retain(|s| s.length < 60_000);
            let tail = tail(&taken, &joined);
            assert_eq!(tail.agrees, Some(false), "seed {seed}: {tail:?}");
        }
    }

    #[test]
    fn nor_does_one_with_sections_that_no_sample_waited_for() {
        for seed in 1..=20 {
            let mut taken = Load::random(seed).run(4_000);
            let joined = join(&taken).unwrap();
            let mut random = SplitMix64::new(seed);
            let end = taken.moments.last().unwrap().sample.0;
            for _ in 0..1_000 {
                let start = random.below(end);
                taken.census.sections.push(section(Kind::NonPreemptible, start, 50_000));
            }
            taken.census.sections.sort_by_key(|s| s.start);
            assert_eq!(tail(&taken, &joined).agrees, Some(false), "seed {seed}");
        }
    }

    #[test]
    fn what_cannot_be_asked_is_said() {
        let why = |taken: &CellCensus, joined: &[Joined]| {
            let tail = tail(taken, joined);
            assert_eq!((tail.agrees, tail.rows.len()), (None, 0));
            tail.why_not.unwrap()
        };
        let mut taken = Load::random(1).run(4_000);
        let joined = join(&taken).unwrap();
        taken.about.missed = 1;
        assert!(why(&taken, &joined).contains("missed"));
        taken.about.missed = 0;
        taken.polls_known = false;
        assert!(why(&taken, &joined).contains("polls"));
        taken.polls_known = true;
        assert!(why(&taken, &[]).contains("no sample"));
        taken.census.sections.clear();
        assert!(why(&taken, &joined).contains("no long section but"));
    }

    #[test]
    fn a_way_out_of_a_short_section_is_named() {
        let mut taken = taken();
        taken.census.sections = vec![
            section(Kind::NonPreemptible, 10_000, 2_000),
            section(Kind::NonPreemptible, 200_000, 2_000),
            section(Kind::NonPreemptible, 300_000, 1_900),
            section(Kind::InterruptsOff, 300_150, 1_600),
        ];
        let mut behind_a_poll = moment(1, 300_100, 60_000);
        behind_a_poll.timer_entry = Some(Instructions(300_150));
        taken.moments = vec![moment(0, 11_000, 4_000), behind_a_poll];
        let tail = tail_of(&taken);
        assert!(tail.why_not.unwrap().ends_with("the latest behind one that ended in b"));
    }
}
