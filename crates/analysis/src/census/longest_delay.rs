//! The longest delay of a run: its longest section that a wake-up path can follow, and that path. Another run may have longer ones.
//!
//! An interrupt or thread that takes the CPU once delays one wake-up once. The handler of an interrupt, or a thread of
//! higher priority, can be a section, or a part of one, and come in the middle of another sample's path. The sum of
//! section and path would count it twice. So if both hold the same interrupt or thread, it counts only where it took
//! longer.

use super::cell_census::CellCensus;
use super::histogram;
use super::join::{Joined, usual};
use super::places::function;
use crate::breakdown::roles::{FunctionRole, role};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use worstcase_contract::census::Kind;
use worstcase_contract::census::log::{LONG, Section};
use worstcase_contract::{Instructions, Nanos};
use worstcase_lab::moments::SampleMoment;

/// What it means, in the words that every report uses.
pub const MEANING: &str = "the largest sum of a section of this run and a wake-up path that a sample of it took, in which no \
     interrupt's handler and no thread of higher priority counts twice; no limit: another seed or a longer run may have a \
     longer one";

/// What it means besides if polls are not known.
pub const RAW_MEANING: &str = "how this kernel polls for rescheduling is not known, so that sections are not cut there: \
     raw sections, which may be longer than any delay";

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LongestDelay {
    /// The sum.
    pub longest_ns: Nanos,
    /// The non-preemptible section in it, with the interrupts in it.
    pub section_ns: Nanos,
    /// The wake-up path in it, without interrupts and threads that the section holds already.
    pub path_ns: Nanos,
    /// The largest latency that was sampled.
    pub sampled_ns: Nanos,
    /// Whether sections are cut where the kernel polls.
    pub polls_known: bool,
    /// What it means.
    pub meaning: String,
}

/// The longest delay; none without a sample, whose path is part of it.
pub fn longest_delay(taken: &CellCensus, joined: &[Joined]) -> Option<LongestDelay> {
    let sampled = taken.moments.iter().map(|m| m.latency).max()?;
    let takers = Takers::of(taken);
    let longest = histogram::sum(taken, Kind::NonPreemptible).longest_ns;
    let mut sections: Vec<&Section> = taken.sections(Kind::NonPreemptible).collect();
    sections.sort_by_key(|s| Reverse(s.length));
    // The contents of shorter sections are not known; no counted taker fits into them.
    let shorter = longest.min(taken.time_of(LONG - 1));
    let mut best = (shorter, Nanos(0));
    let mut clear = None;
    for (joined, moment) in joined.iter().zip(&taken.moments) {
        let within = takers.within(path_start(joined, moment), moment.sample.0);
        if within.is_empty() {
            clear = clear.max(Some(joined.residual));
            continue;
        }
        best = larger(best, (shorter, joined.residual));
        for section in &sections {
            let length = taken.time_of(section.length);
            if length + joined.residual <= best.0 + best.1 {
                break;
            }
            let twice = takers.twice(section, &within);
            best = larger(
                best,
                (length, joined.residual - taken.time_of(twice).min(joined.residual)),
            );
        }
    }
    if let Some(path) = clear {
        best = larger(best, (longest, path));
    }
    let meaning = match taken.polls_known {
        true => MEANING.to_string(),
        false => format!("{MEANING}; {RAW_MEANING}"),
    };
    let (section_ns, path_ns) = best;
    Some(LongestDelay {
        longest_ns: section_ns + path_ns,
        section_ns,
        path_ns,
        sampled_ns: sampled,
        polls_known: taken.polls_known,
        meaning,
    })
}

fn larger(one: (Nanos, Nanos), other: (Nanos, Nanos)) -> (Nanos, Nanos) {
    if other.0 + other.1 > one.0 + one.1 { other } else { one }
}

/// The end of the sample's section: from here on only its path is left.
fn path_start(joined: &Joined, moment: &SampleMoment) -> u64 {
    let over = joined.section.filter(|_| joined.rest.is_some()).map(|met| met.end);
    over.unwrap_or(moment.due).0
}

/// An interrupt, by the address of its entry, or a thread that took the CPU.
type Taker = u64;

/// Interrupts and threads that took the CPU for longer than a timer's interrupt usually does.
struct Takers {
    /// When the CPU was taken, by which taker, and for how many instructions more; in order.
    all: Vec<(Instructions, Taker, u64)>,
}

impl Takers {
    fn of(taken: &CellCensus) -> Takers {
        let interrupts: Vec<&Section> = taken.sections(Kind::InterruptsOff).collect();
        let usual = usual(taken, &interrupts);
        let is_entry = |s: &&&Section| role(&function(&taken.symbols, s.from)) == Some(FunctionRole::InterruptEntry);
        let handlers = interrupts.iter().filter(|s| s.length >= usual + LONG).filter(is_entry);
        let threads = taken.sections(Kind::HigherPriority);
        let mut all: Vec<_> = handlers
            .map(|s| (s.start, s.from, s.length - usual))
            .chain(threads.map(|s| (s.start, s.task, s.length)))
            .collect();
        all.sort_unstable();
        Takers { all }
    }

    /// Each taker that began in a stretch, with its time there.
    fn within(&self, start: u64, end: u64) -> BTreeMap<Taker, u64> {
        let mut found = BTreeMap::new();
        let from = self.all.partition_point(|(at, ..)| at.0 < start);
        for (_, taker, time) in self.all[from..].iter().take_while(|(at, ..)| at.0 < end) {
            *found.entry(*taker).or_default() += time;
        }
        found
    }

    /// The part of a section's time that belongs to takers which the path holds, too.
    fn twice(&self, section: &Section, path: &BTreeMap<Taker, u64>) -> u64 {
        let in_section = self.within(section.start.0, section.start.0 + section.length);
        let both = in_section
            .iter()
            .filter_map(|(taker, time)| Some(*path.get(taker)?.min(time)));
        both.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::join::join;
    use crate::census::testing::{INTERRUPT, length, moment, section, taken};

    fn longest_of(taken: &CellCensus) -> LongestDelay {
        longest_delay(taken, &join(taken).unwrap()).unwrap()
    }

    #[test]
    fn the_longest_section_and_the_longest_path() {
        let mut taken = taken();
        taken.census.sections = vec![section(Kind::NonPreemptible, 10_000, 2_000)];
        taken.census.lengths = vec![
            length(Kind::NonPreemptible, 2_000, 1),
            length(Kind::InterruptsOff, 9_000, 1),
        ];
        taken.moments = vec![moment(0, 11_000, 3_500), moment(1, 50_000, 2_400)];
        let found = longest_of(&taken);
        assert_eq!(
            (found.longest_ns, found.section_ns, found.path_ns, found.sampled_ns),
            (Nanos(4_500), Nanos(2_000), Nanos(2_500), Nanos(3_500))
        );
        assert!(!found.meaning.contains("raw"));
        taken.polls_known = false;
        assert!(longest_of(&taken).meaning.contains("raw sections"));
        taken.moments.clear();
        assert_eq!(longest_delay(&taken, &[]), None);
    }

    /// A handler of 150 us, once a section of its own, once in the path of a sample that was due just before.
    fn a_handler_in_a_path(other: u64) -> LongestDelay {
        let mut taken = taken();
        let handler = |start| {
            [Kind::InterruptsOff, Kind::NonPreemptible].map(|kind| Section {
                from: INTERRUPT,
                ..section(kind, start, 150_000)
            })
        };
        taken.census.sections = handler(10_000).to_vec();
        taken
            .census
            .sections
            .push(section(Kind::NonPreemptible, 300_000, other));
        taken.census.sections.extend(handler(1_002_000));
        let lengths = [150_000, other].map(|l| length(Kind::NonPreemptible, l, 1));
        taken.census.lengths = lengths.to_vec();
        let mut sample = moment(0, 1_000_000, 153_000);
        sample.timer_entry = Some(Instructions(1_000_100));
        taken.moments = vec![sample, moment(1, 2_000_000, 4_000)];
        longest_of(&taken)
    }

    #[test]
    fn one_handler_does_not_delay_a_wake_up_twice() {
        let found = a_handler_in_a_path(2_000);
        assert_eq!((found.longest_ns, found.sampled_ns), (Nanos(155_000), Nanos(153_000)));
    }

    #[test]
    fn another_section_and_a_handler_do() {
        let found = a_handler_in_a_path(60_000);
        assert_eq!((found.section_ns, found.path_ns), (Nanos(60_000), Nanos(153_000)));
    }

    #[test]
    fn nor_does_one_thread() {
        for (second, expected) in [(7, 154_000), (8, 150_000 + 153_000)] {
            let mut taken = taken();
            for (start, task) in [(10_000, 7), (1_002_000, second)] {
                for kind in [Kind::HigherPriority, Kind::NonPreemptible] {
                    let ran = section(kind, start, 150_000);
                    taken.census.sections.push(Section { task, ..ran });
                }
            }
            taken.census.lengths = vec![length(Kind::NonPreemptible, 150_000, 2)];
            let mut sample = moment(0, 1_000_000, 153_000);
            sample.timer_entry = Some(Instructions(1_000_100));
            taken.moments = vec![sample, moment(1, 2_000_000, 4_000)];
            assert_eq!(longest_of(&taken).longest_ns, Nanos(expected));
        }
    }
}
