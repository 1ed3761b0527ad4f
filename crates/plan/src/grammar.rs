//! Names of loads and probes, by venue.

use crate::{Length, Venue};
use worstcase_probe::Nanos;
use worstcase_probe::bench::{Bench, Inversion};
use worstcase_probe::loads::LoadSpec;
use worstcase_probe::spec::{ProbeKind, SpecError};

/// A host's probes without parameters.
const TIMED: [&str; 5] = ["wakeup", "response", "jitter", "noise", "timerlat"];
/// Realfeel's rate.
const REALFEEL_HZ: u64 = 2_048;

/// What a probe takes unless somebody asks for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usual {
    /// Distance of two due times; 0 for a probe that has none.
    pub interval: Nanos,
    /// How many samples, or for how long.
    pub length: Length,
}

/// Every probe that a word asks for, each by its full name.
pub fn probes(venue: Venue, text: &str) -> Result<Vec<String>, SpecError> {
    if venue == Venue::Lab {
        return Ok(ProbeKind::expand(text)?.iter().map(ToString::to_string).collect());
    }
    if TIMED.contains(&text) {
        return Ok(vec![text.to_string()]);
    }
    match bench_name(text) {
        Some(_) => Ok(Bench::expand(text)?.iter().map(ToString::to_string).collect()),
        None => {
            let known: Vec<&str> = TIMED.into_iter().chain(Bench::NAMES).collect();
            Err(SpecError(format!(
                "unknown probe '{text}'; known: {}",
                known.join(", ")
            )))
        }
    }
}

fn bench_name(probe: &str) -> Option<&str> {
    let name = probe.split([':', '+']).next().unwrap_or_default();
    Bench::NAMES.contains(&name).then_some(name)
}

/// What one probe usually takes.
pub fn usual(venue: Venue, probe: &str) -> Usual {
    match (Bench::expand(probe).ok().as_deref(), venue) {
        (Some([bench, ..]), _) if bench_name(probe).is_some() => Usual {
            interval: bench.usual_period(),
            length: Length::Samples(bench.usual_samples()),
        },
        (_, Venue::Lab) => Usual {
            interval: ProbeKind::Wakeup.usual_period(),
            length: Length::Samples(ProbeKind::Wakeup.usual_periods()),
        },
        (_, Venue::Host) => Usual {
            interval: match probe {
                "jitter" => Nanos(1_000_000_000 / REALFEEL_HZ),
                "noise" => Nanos::from_millis(100),
                _ => Nanos::from_millis(1),
            },
            length: Length::Time(Nanos::from_millis(60_000)),
        },
    }
}

/// The limit of the latency that is asked of these probes if nobody says another.
pub fn usual_criterion(probes: &[String]) -> Option<Nanos> {
    let all = probes.iter().all(|probe| bench_name(probe) == Some("inversion"));
    all.then_some(Inversion::CRITERION)
}

/// Refuses what is no load of a venue.
pub fn check_load(venue: Venue, text: &str) -> Result<(), SpecError> {
    match venue {
        Venue::Lab => text.parse::<LoadSpec>().map(drop),
        Venue::Host => Ok(()),
    }
}

/// Loads that are separated by commas. What follows `cmd:` or `compile:` belongs to a program or a path, to the end.
pub fn split_loads(text: &str) -> Vec<String> {
    let takes_the_rest = |load: &str| {
        let mut parts = load.split('+');
        parts.any(|part| part.starts_with("cmd:") || part.starts_with("compile:"))
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
        assert_eq!(split_loads("idle,find+shm"), ["idle", "find+shm"]);
        assert_eq!(split_loads("cmd:a b,c"), ["cmd:a b,c"]);
        assert_eq!(split_loads("shm,find+cmd:a,b,idle"), ["shm", "find+cmd:a,b,idle"]);
        assert_eq!(split_loads("compile:/a,b,shm"), ["compile:/a,b,shm"]);
        assert_eq!(split_loads("idle,"), ["idle", ""]);
    }

    #[test]
    fn a_word_may_stand_for_several_probes() {
        assert_eq!(
            probes(Venue::Lab, "switch:2/16x0").unwrap(),
            ["switch:2x0", "switch:16x0"]
        );
        assert_eq!(probes(Venue::Host, "jitter").unwrap(), ["jitter"]);
        assert!(probes(Venue::Host, "bonnie").unwrap_err().0.contains("known: wakeup"));
    }

    #[test]
    fn usual_values_are_those_of_probe_and_venue() {
        assert_eq!(usual(Venue::Lab, "wakeup").interval, Nanos(251_000));
        assert_eq!(usual(Venue::Host, "wakeup").interval, Nanos(1_000_000));
        assert_eq!(usual(Venue::Host, "switch:2x0").interval, Nanos(0));
        assert_eq!(usual(Venue::Lab, "switch:2x0").length, Length::Samples(10));
    }
}
