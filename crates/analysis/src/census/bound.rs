//! The bound of a cell: longest section, and after it the longest wake-up path of the same run.

use super::cell_census::CellCensus;
use super::histogram;
use super::join::Path;
use serde::Serialize;
use worstcase_probe::Nanos;
use worstcase_probe::census::Kind;

/// What a bound is worth, in the words that every report uses.
pub const MEANING: &str = "the longest section of this run and the longest wake-up path that a sample of it took: \
     what this load with this seed did on this one path through the kernel, no proof for another";

/// What it is worth if polls are not known.
pub const RAW_MEANING: &str = "how this kernel polls for rescheduling is not known, so that sections are not cut there: \
     raw sections, which may be longer than any delay";

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bound {
    /// The sum.
    pub bound_ns: Nanos,
    /// The longest non-preemptible section, with the interrupts in it.
    pub section_ns: Nanos,
    /// The longest wake-up path.
    pub path_ns: Nanos,
    /// The largest latency that was sampled.
    pub sampled_ns: Nanos,
    /// Whether sections are cut where the kernel polls.
    pub polls_known: bool,
    /// What it is.
    pub meaning: String,
}

/// The bound; none without a sample, whose path is part of it.
pub fn bound(taken: &CellCensus, path: &Path) -> Option<Bound> {
    let path = path.longest()?;
    let section = histogram::sum(taken, Kind::NonPreemptible).longest_ns;
    let sampled = taken.moments.iter().map(|m| m.latency).max()?;
    let meaning = match taken.polls_known {
        true => MEANING.to_string(),
        false => format!("{MEANING}; {RAW_MEANING}"),
    };
    Some(Bound {
        bound_ns: section + path,
        section_ns: section,
        path_ns: path,
        sampled_ns: sampled,
        polls_known: taken.polls_known,
        meaning,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::join::join;
    use crate::census::testing::{length, moment, section, taken};

    #[test]
    fn the_longest_section_and_the_longest_path() {
        let mut taken = taken();
        taken.census.sections = vec![section(Kind::NonPreemptible, 10_000, 2_000)];
        taken.census.lengths = vec![
            length(Kind::NonPreemptible, 2_000, 1),
            length(Kind::InterruptsOff, 9_000, 1),
        ];
        taken.moments = vec![moment(0, 11_000, 3_500), moment(1, 50_000, 2_400)];
        let path = Path::of(&join(&taken).unwrap());
        let found = bound(&taken, &path).unwrap();
        assert_eq!(
            (found.bound_ns, found.section_ns, found.path_ns, found.sampled_ns),
            (Nanos(4_500), Nanos(2_000), Nanos(2_500), Nanos(3_500))
        );
        assert!(!found.meaning.contains("raw"));
        taken.polls_known = false;
        assert!(bound(&taken, &path).unwrap().meaning.contains("raw sections"));
        taken.moments.clear();
        assert_eq!(bound(&taken, &Path::of(&[])), None);
    }
}
