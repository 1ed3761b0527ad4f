//! Words of the command line and of study files for loads and probes, and the usual values of a venue.

use crate::CellLength;
use worstcase_contract::loads::LOADS;
use worstcase_contract::spec::SpecError;
use worstcase_contract::{Nanos, Probe, Venue};

/// The values that an experiment of a venue has unless others are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usual {
    /// The load runs alone for this long.
    pub warmup: Nanos,
    /// Real-time priority of the probe.
    pub priority: u8,
    /// Number of seeds: in the lab a seed is one path through the kernel.
    pub seeds: u32,
}

/// The usual values of a venue.
pub const fn usual(venue: Venue) -> Usual {
    match venue {
        Venue::Lab => Usual {
            warmup: Nanos::from_millis(100),
            priority: 98,
            seeds: 10,
        },
        Venue::Host => Usual {
            warmup: Nanos::from_millis(1_000),
            priority: 90,
            seeds: 1,
        },
    }
}

/// The usual length of a cell of a probe: on a host a person waits, so there it is a time.
pub(crate) fn usual_length(venue: Venue, probe: Probe) -> CellLength {
    match (probe, venue) {
        (Probe::Bench(_), _) | (_, Venue::Lab) => CellLength::Samples(probe.usual_periods()),
        (_, Venue::Host) => CellLength::Time(Nanos::from_millis(60_000)),
    }
}

/// Probes that one word stands for: the largest set that the documents name has some dozens.
const MOST_OF_A_WORD: u64 = 4_096;

/// Every probe that a word asks for.
pub fn expand(text: &str) -> Result<Vec<Probe>, SpecError> {
    check_word(text)?;
    Probe::expand(text)
}

/// Refuses a word for too many probes before it is multiplied out: each `+a/b` in it doubles them.
pub fn check_word(text: &str) -> Result<(), SpecError> {
    let (head, options) = text.split_once('+').unwrap_or((text, ""));
    let alternatives = |part: &str| 1 + part.matches('/').count() as u64;
    let parts = head.split('x').chain(options.split('+'));
    let several = parts.map(alternatives).try_fold(1_u64, u64::checked_mul);
    if several.is_some_and(|n| n <= MOST_OF_A_WORD) {
        return Ok(());
    }
    let begin: String = text.chars().take(40).collect();
    Err(SpecError(format!(
        "the probe '{}...' stands for more than {MOST_OF_A_WORD} probes; name fewer alternatives",
        begin.escape_debug()
    )))
}

/// Every probe that a word asks for, if the venue has them.
pub fn probes(venue: Venue, text: &str) -> Result<Vec<Probe>, SpecError> {
    let probes = expand(text)?;
    probes.iter().try_for_each(|probe| probe.check_venue(venue))?;
    Ok(probes)
}

/// The usual limit of these probes' latency, if the user gives none.
pub(crate) fn usual_criterion(mut probes: impl Iterator<Item = Probe>) -> Option<Nanos> {
    let first = probes.next()?.criterion();
    first.filter(|_| probes.all(|probe| probe.criterion() == first))
}

/// Splits loads that are separated by commas. Text after `cmd:`, `cmd-ready:` or `compile:` belongs to a program or
/// a path, to the end.
pub(crate) fn split(text: &str) -> Vec<String> {
    let open_names = LOADS.iter().filter(|load| load.is_open());
    let prefixes: Vec<String> = open_names.map(|load| format!("{}:", load.name())).collect();
    let takes_the_rest = |load: &str| {
        let mut parts = load.split('+');
        parts.any(|part| prefixes.iter().any(|prefix| part.starts_with(prefix)))
    };
    let mut loads: Vec<String> = Vec::new();
    for word in text.split(',') {
        match loads.last_mut() {
            Some(last) if takes_the_rest(last) => *last += &format!(",{word}"),
            _ => loads.push(word.to_string()),
        }
    }
    loads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_loads_but_not_the_words_of_a_program() {
        assert_eq!(split("idle,find+shm"), ["idle", "find+shm"]);
        assert_eq!(split("cmd:a b,c"), ["cmd:a b,c"]);
        assert_eq!(split("shm,find+cmd:a,b,idle"), ["shm", "find+cmd:a,b,idle"]);
        assert_eq!(split("compile:/a,b,shm"), ["compile:/a,b,shm"]);
        assert_eq!(split("cmd-ready:a,idle"), ["cmd-ready:a,idle"]);
        assert_eq!(split("idle,"), ["idle", ""]);
    }

    #[test]
    fn a_word_may_stand_for_several_probes_that_the_venue_has() {
        assert_eq!(probes(Venue::Lab, "switch:2/16x0").unwrap().len(), 2);
        assert_eq!(probes(Venue::Host, "timerlat").unwrap(), [Probe::Timerlat]);
        assert!(probes(Venue::Lab, "timerlat").unwrap_err().0.contains("host only"));
        assert!(
            probes(Venue::Host, "bonnie")
                .unwrap_err()
                .0
                .contains("unknown probe 'bonnie'")
        );
    }
}
