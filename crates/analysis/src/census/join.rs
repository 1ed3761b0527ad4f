//! Each sample with the section that it had to wait for: `rest of the section + residual = latency`.
//!
//! This is the section in which the sample was due, or one that began with its timer's interrupt or before: a kernel that
//! polls before the interrupt does not know yet that it should reschedule, and goes on into the next section. Of several
//! sections the one that took most counts. A timer interrupt within the section is the sample's own doing up to its usual
//! length: the section would have been shorter without it. Time beyond that, such as another timer's handler, other
//! interrupts, and soft interrupts, is not.
//!
//! So the rest is that of the undisturbed section, and the residual is all that a wake-up adds to it: interrupt, scheduler,
//! switch, return to user code, and everything else in between. A sample that met no long section, or a section that is long
//! only by the sample's own interrupt, has no rest; its latency is all residual, and holds the rest of the shorter section.

use super::cell_census::CellCensus;
use serde::Serialize;
use worstcase_contract::census::Kind;
use worstcase_contract::census::log::{LONG, Section};
use worstcase_contract::{Instructions, Nanos};
use worstcase_lab::moments::SampleMoment;
use worstcase_results::stats::Distribution;

/// A sample and its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Its latency.
    pub latency: Nanos,
    /// The rest of the section without the sample's own interrupt, if the sample met a section that is long without
    /// it.
    pub rest: Option<Nanos>,
    /// The rest of the latency.
    pub(crate) residual: Nanos,
    /// The section that it met.
    pub section: Option<Met>,
}

/// A section with a sample in it, in instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// When it began.
    pub start: Instructions,
    /// Its length without the sample's own interrupt.
    pub(crate) undisturbed: u64,
    /// When it ended.
    pub end: Instructions,
    /// The instruction at which it ended.
    pub to: u64,
}

/// Smallest, middle and largest of some times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TimeSpread {
    /// The number of samples.
    pub count: u64,
    /// The smallest.
    pub min_ns: Nanos,
    /// The nearest-rank median.
    pub median_ns: Nanos,
    /// The largest.
    pub max_ns: Nanos,
}

/// The wake-up path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Path {
    /// Residuals of samples that met a long section.
    pub in_sections: Option<TimeSpread>,
    /// Latencies of all others.
    pub elsewhere: Option<TimeSpread>,
}

/// A sample that was taken before its section was over: census and samples contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sample {sample} was taken {early} instructions before the section ended in which it was due")]
pub struct SampleContradiction {
    /// Number of the sample.
    pub sample: usize,
    /// By how much.
    pub early: u64,
}

/// All samples, in order.
pub fn join(taken: &CellCensus) -> Result<Vec<Joined>, SampleContradiction> {
    let mut sections: Vec<&Section> = taken.sections(Kind::NonPreemptible).collect();
    sections.sort_by_key(|s| end(s));
    let interrupts: Vec<&Section> = taken.sections(Kind::InterruptsOff).collect();
    let usual = usual(taken, &interrupts);
    let joined = |moment| {
        joined(taken, moment, &sections, |section| {
            own(moment, section, &interrupts, usual)
        })
    };
    taken.moments.iter().map(joined).collect()
}

fn end(section: &Section) -> u64 {
    section.start.0 + section.length
}

/// How long an interrupt runs until it lets other interrupts in, if it is one of the long ones.
fn interrupt(entry: Instructions, interrupts: &[&Section]) -> Option<u64> {
    let found = interrupts.binary_search_by_key(&entry, |s| s.start);
    found.ok().map(|i| interrupts[i].length)
}

/// The timer's interrupt of most samples is no longer than this.
pub fn usual(taken: &CellCensus, interrupts: &[&Section]) -> u64 {
    let entries = taken.moments.iter().filter_map(|m| m.timer_entry);
    let lengths = entries.map(|entry| Nanos(interrupt(entry, interrupts).unwrap_or(LONG - 1)));
    Distribution::new(lengths).map_or(0, |lengths| lengths.median().0)
}

/// The part of a section that was the sample's own interrupt; nothing if its timer expired within a running
/// interrupt.
fn own(moment: &SampleMoment, section: &Section, interrupts: &[&Section], usual: u64) -> u64 {
    let within = |entry: &Instructions| section.start <= *entry && entry.0 < end(section);
    let Some(entry) = moment.timer_entry.filter(within) else {
        return 0;
    };
    // An interrupt that is not among the long ones is shorter than they are.
    let length = interrupt(entry, interrupts).unwrap_or(section.nested.min(LONG - 1));
    length.min(usual).min(end(section) - entry.0)
}

fn joined(
    taken: &CellCensus,
    moment: &SampleMoment,
    sections: &[&Section],
    own: impl Fn(&Section) -> u64,
) -> Result<Joined, SampleContradiction> {
    let entry = moment.timer_entry.unwrap_or(moment.due).max(moment.due);
    let rest = |s: &Section| (end(s) - s.start.max(moment.due).0).saturating_sub(own(s));
    let from_due = &sections[sections.partition_point(|s| end(s) <= moment.due.0)..];
    let until_sample = from_due.iter().take_while(|s| s.start < moment.sample);
    let met = until_sample.filter(|s| s.start <= entry);
    let Some(section) = met.max_by_key(|s| rest(s)) else {
        return Ok(Joined {
            latency: moment.latency,
            rest: None,
            residual: moment.latency,
            section: None,
        });
    };
    if end(section) > moment.sample.0 {
        return Err(SampleContradiction {
            sample: moment.index,
            early: end(section) - moment.sample.0,
        });
    }
    let met = Met {
        start: section.start,
        undisturbed: section.length - own(section),
        end: Instructions(end(section)),
        to: section.to,
    };
    let rest = (met.undisturbed >= LONG).then(|| taken.time_of(rest(section)));
    Ok(Joined {
        latency: moment.latency,
        rest,
        residual: moment.latency - rest.unwrap_or_default(),
        section: Some(met),
    })
}

impl Path {
    /// The path that these samples took.
    pub(crate) fn of(joined: &[Joined]) -> Path {
        let spread =
            |inside: bool| TimeSpread::of(joined.iter().filter(|j| j.rest.is_some() == inside).map(|j| j.residual));
        Path {
            in_sections: spread(true),
            elsewhere: spread(false),
        }
    }
}

impl TimeSpread {
    fn of(values: impl Iterator<Item = Nanos>) -> Option<TimeSpread> {
        let values = Distribution::new(values)?;
        Some(TimeSpread {
            count: values.count(),
            min_ns: values.min(),
            median_ns: values.median(),
            max_ns: values.max(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::testing::{moment, section, taken};

    #[test]
    fn rest_and_residual_are_the_latency() {
        let mut taken = taken();
        taken.census.sections = vec![
            section(Kind::NonPreemptible, 10_000, 2_000),
            section(Kind::InterruptsOff, 19_000, 3_000),
            section(Kind::NonPreemptible, 20_000, 5_000),
        ];
        // Due at the first instruction, the last, one past the last, and in no section.
        taken.moments = vec![
            moment(0, 10_000, 4_500),
            moment(1, 11_999, 2_600),
            moment(2, 12_000, 2_700),
            moment(3, 19_500, 3_000),
            moment(4, 24_000, 3_900),
        ];
        let joined = join(&taken).unwrap();
        let rests: Vec<_> = joined.iter().map(|j| j.rest.map(|r| r.0)).collect();
        assert_eq!(rests, [Some(2_000), Some(1), None, None, Some(1_000)]);
        assert!(
            joined
                .iter()
                .all(|j| j.rest.unwrap_or_default() + j.residual == j.latency)
        );
        let path = Path::of(&joined);
        let inside = path.in_sections.unwrap();
        assert_eq!(
            (inside.count, inside.min_ns, inside.median_ns, inside.max_ns),
            (3, Nanos(2_500), Nanos(2_599), Nanos(2_900))
        );
        assert_eq!(path.elsewhere.unwrap().count, 2);
    }

    #[test]
    fn a_sample_s_own_interrupt_is_no_part_of_the_section() {
        let mut taken = taken();
        let mut long = section(Kind::NonPreemptible, 10_000, 5_000);
        // The timer's, and soft interrupts.
        long.nested = 3_000;
        taken.census.sections = vec![
            long,
            section(Kind::InterruptsOff, 11_070, 1_600),
            section(Kind::InterruptsOff, 15_000, 1_600),
        ];
        let mut within = moment(0, 11_000, 6_000);
        within.timer_entry = Some(Instructions(11_070));
        // With interrupts off, the interrupt comes after the section.
        let mut behind = moment(1, 11_000, 6_000);
        behind.timer_entry = Some(Instructions(15_000));
        // Another interrupt ran when the sample was due.
        let mut in_another = moment(2, 11_000, 6_000);
        in_another.timer_entry = None;
        taken.moments = vec![within, behind, in_another];
        let joined = join(&taken).unwrap();
        assert_eq!((joined[0].rest, joined[0].residual), (Some(Nanos(2_400)), Nanos(3_600)));
        assert_eq!(joined[0].section.unwrap().undisturbed, 3_400);
        assert_eq!((joined[1].rest, joined[1].residual), (Some(Nanos(4_000)), Nanos(2_000)));
        assert_eq!(joined[1].section.unwrap().undisturbed, 5_000);
        assert_eq!((joined[2].rest, joined[2].residual), (Some(Nanos(4_000)), Nanos(2_000)));
    }

    #[test]
    fn a_poll_before_the_interrupt_does_not_help() {
        let mut taken = taken();
        taken.census.sections = vec![
            section(Kind::NonPreemptible, 10_000, 5_000),
            section(Kind::NonPreemptible, 15_000, 60_000),
            // The interrupt's own.
            section(Kind::NonPreemptible, 100_000, 2_000),
        ];
        let mut before = moment(0, 14_980, 62_000);
        before.timer_entry = Some(Instructions(15_050));
        for entry in [75_000, 100_000] {
            taken.census.sections.push(section(Kind::InterruptsOff, entry, 1_900));
        }
        let mut elsewhere = moment(1, 99_990, 3_500);
        elsewhere.timer_entry = Some(Instructions(100_000));
        // The next section has interrupts off: it is over when the interrupt comes.
        let mut pending = moment(2, 14_980, 62_000);
        pending.timer_entry = Some(Instructions(75_000));
        taken.moments = vec![before, elsewhere, pending];
        let joined = join(&taken).unwrap();
        assert_eq!(
            (joined[0].rest, joined[0].residual),
            (Some(Nanos(60_000)), Nanos(2_000))
        );
        assert_eq!((joined[1].rest, joined[2].rest), (None, Some(Nanos(60_000))));
    }

    /// The handler of another timer that expires at once, or soft interrupts that follow it, make the interrupt
    /// long.
    #[test]
    fn what_makes_a_sample_s_own_interrupt_long_is_waited_for() {
        let mut taken = taken();
        let interrupts = [(10_000, 1_500), (20_000, 1_500), (30_000, 70_000), (200_000, 1_500)];
        for (start, length) in interrupts {
            taken.census.sections.push(section(Kind::NonPreemptible, start, length));
            taken.census.sections.push(section(Kind::InterruptsOff, start, length));
        }
        // Behind the last, soft interrupts.
        taken.census.sections[6].length = 41_500;
        let sample = |index, entry: u64, latency| {
            let mut moment = moment(index, entry - 100, latency);
            moment.timer_entry = Some(Instructions(entry));
            moment
        };
        taken.moments = vec![
            sample(0, 10_000, 3_600),
            sample(1, 20_000, 3_600),
            sample(2, 30_000, 72_100),
            sample(3, 200_000, 43_600),
        ];
        let joined = join(&taken).unwrap();
        let rests: Vec<_> = joined.iter().map(|j| j.rest.map(|r| r.0)).collect();
        assert_eq!(rests, [None, None, Some(68_500), Some(40_000)]);
        assert!(joined.iter().all(|j| j.residual == Nanos(3_600)), "{joined:?}");
    }

    #[test]
    fn slower_machines_keep_the_part_of_an_instruction() {
        let mut taken = taken();
        taken.shift = 2;
        taken.census.sections = vec![section(Kind::NonPreemptible, 10_000, 2_000)];
        let mut sample = moment(0, 11_000, 1_500);
        sample.latency = Nanos(6_003);
        taken.moments = vec![sample];
        assert_eq!(join(&taken).unwrap()[0].residual, Nanos(2_003));
    }

    #[test]
    fn a_sample_within_its_section_is_a_contradiction() {
        let mut taken = taken();
        taken.census.sections = vec![section(Kind::NonPreemptible, 10_000, 2_000)];
        taken.moments = vec![moment(0, 11_000, 900)];
        assert_eq!(join(&taken), Err(SampleContradiction { sample: 0, early: 100 }));
    }

    #[test]
    fn no_sample_no_path() {
        let path = Path::of(&[]);
        assert_eq!((path.in_sections, path.elsewhere), (None, None));
    }
}
