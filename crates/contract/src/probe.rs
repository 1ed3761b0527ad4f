//! Which instrument measures: the probes by name, and the table of which venue has which.

pub use crate::probes::{CpuNeed, PROBES, ProbeInfo};
use crate::spec::SpecError;
use crate::venue::{Only, Venue};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use worstcase_instruments::bench::Bench;
use worstcase_instruments::order::Instrument;
use worstcase_logs::Nanos;

/// Which instrument measures, with its parameters; serialised as its user types it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Probe {
    /// How late a periodic thread wakes up (`clock_nanosleep` until an absolute time).
    Wakeup,
    /// The same from the timer's interrupt on. Lab: SIGALRM of an interval timer; host: each sample split by the kernel's trace.
    Response,
    /// Realfeel: how far periods differ from what they should be.
    Jitter,
    /// What takes the CPU away from a thread that never sleeps.
    Noise,
    /// How late the kernel's own timerlat threads are, told by their tracer.
    Timerlat,
    /// A probe whose sample is not the lateness of a timer.
    Bench(Bench),
}

impl Probe {
    /// Those without parameters.
    pub const TIMED: [Probe; 5] = [
        Probe::Wakeup,
        Probe::Response,
        Probe::Jitter,
        Probe::Noise,
        Probe::Timerlat,
    ];

    /// The probe's name without parameters.
    pub const fn name(self) -> &'static str {
        match self {
            Probe::Wakeup => "wakeup",
            Probe::Response => "response",
            Probe::Jitter => "jitter",
            Probe::Noise => "noise",
            Probe::Timerlat => "timerlat",
            Probe::Bench(bench) => bench.name(),
        }
    }

    /// Its row in [`PROBES`].
    pub fn info(self) -> &'static ProbeInfo {
        PROBES
            .iter()
            .find(|info| info.name == self.name())
            .expect("every probe has its row")
    }

    /// The names of the probes that `venue` has, in the order in which help texts name them.
    pub fn names(venue: Venue) -> impl Iterator<Item = &'static str> {
        PROBES
            .iter()
            .filter(move |info| info.only.is_none_or(|only| only.venue == venue))
            .map(|info| info.name)
    }

    /// The one with parameters, if it is one.
    pub const fn bench(self) -> Option<Bench> {
        match self {
            Probe::Bench(bench) => Some(bench),
            _ => None,
        }
    }

    /// What measures it; an error for what the kernel itself measures.
    pub fn instrument(self) -> Result<Instrument, SpecError> {
        Ok(match self {
            Probe::Wakeup => Instrument::Wakeup,
            Probe::Response => Instrument::Response,
            Probe::Jitter => Instrument::Jitter,
            Probe::Noise => Instrument::Noise,
            Probe::Bench(bench) => Instrument::Bench(bench),
            Probe::Timerlat => return Err(SpecError("the kernel's own tracer measures timerlat".into())),
        })
    }

    /// Every probe that a text asks for: some take parameters with alternatives (see [`crate::names`]).
    pub fn expand(text: &str) -> Result<Vec<Probe>, SpecError> {
        let (head, options) = text.split_once('+').unwrap_or((text, ""));
        let (name, dimensions) = head.split_once(':').unwrap_or((head, ""));
        let Some(info) = PROBES.iter().find(|info| info.name == name) else {
            let known: Vec<&str> = PROBES.iter().map(|info| info.name).collect();
            return Err(SpecError(format!(
                "unknown probe '{text}'; known: {}",
                known.join(", ")
            )));
        };
        match (
            &info.grammar,
            Self::TIMED.into_iter().find(|probe| probe.name() == name),
        ) {
            (Some(grammar), _) => {
                let all = grammar.expand(dimensions, options);
                let all = all.map_err(|why| SpecError(format!("probe '{text}': {why}")))?;
                Ok(all.into_iter().map(Probe::Bench).collect())
            }
            (None, Some(timed)) if text == name => Ok(vec![timed]),
            (None, _) => Err(SpecError(format!("probe '{name}' takes no parameters, not '{text}'"))),
        }
    }

    /// Refuses a probe that `venue` does not have, with the reason.
    pub fn check_venue(self, venue: Venue) -> Result<(), SpecError> {
        if let Probe::Bench(bench) = self {
            (self.info().also_refused)(&bench, venue)?;
        }
        Only::check(self.info().only, venue, &format!("probe '{}'", self.name()))
    }

    /// Whether it has a real-time priority.
    pub fn is_real_time(self) -> bool {
        self.info().is_periodic
    }

    /// Whether it is at work on all CPUs itself.
    pub const fn is_spread(self) -> bool {
        matches!(self, Probe::Bench(bench) if bench.is_spread())
    }

    /// Whether it has threads on other CPUs than the one that it measures on.
    pub const fn has_helpers(self) -> bool {
        matches!(self, Probe::Bench(bench) if bench.has_helpers())
    }

    /// Whether it works with files on a disk.
    pub fn needs_disk(self) -> bool {
        self.info().needs_disk
    }

    /// No sample may be longer, unless somebody asks for another criterion.
    pub fn criterion(self) -> Option<Nanos> {
        self.info().criterion
    }

    /// The CPUs that it takes of those that it may use; one without parameters has a thread on each.
    pub fn cpus(self) -> CpuNeed {
        self.bench().map_or(CpuNeed::All, |bench| (self.info().cpus)(&bench))
    }

    /// Modules of the kernel that it needs, where they are not built in.
    pub fn modules(self) -> &'static [&'static str] {
        self.bench().map_or(&[], |bench| (self.info().modules)(&bench))
    }

    /// Those of all probes.
    pub const MODULES: [&'static str; 3] = ["parport_pc", "ppdev", "gpio-sim"];

    /// Whether its samples are due at regular times.
    pub fn is_periodic(self) -> bool {
        self.info().is_periodic
    }

    /// Whether a sample in the lab is the lateness of a timer.
    pub const fn awaits_timer(self) -> bool {
        matches!(self, Probe::Wakeup | Probe::Response | Probe::Jitter)
    }

    /// How many samples are taken unless somebody asks for another number or, on a host, for a time.
    pub fn usual_periods(self) -> u32 {
        (self.info().samples)(self.bench().as_ref())
    }

    /// Distance of two due times unless somebody asks for another; 0 for a probe that has none.
    pub fn usual_period(self, venue: Venue) -> Nanos {
        (self.info().period)(self.bench().as_ref(), venue)
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Probe::Bench(bench) => bench.fmt(f),
            timed => f.pad(timed.name()),
        }
    }
}

impl FromStr for Probe {
    type Err = SpecError;
    fn from_str(s: &str) -> Result<Self, SpecError> {
        match Probe::expand(s)?.as_slice() {
            [one] => Ok(*one),
            several => Err(SpecError(format!(
                "probe '{s}' is {} probes, one is wanted here",
                several.len()
            ))),
        }
    }
}

impl From<Probe> for String {
    fn from(probe: Probe) -> String {
        probe.to_string()
    }
}

impl TryFrom<String> for Probe {
    type Error = SpecError;
    fn try_from(text: String) -> Result<Probe, SpecError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_has_its_row_and_is_written_as_it_is_read() {
        for info in &PROBES {
            for probe in Probe::expand(info.name).unwrap() {
                assert_eq!(probe.name(), info.name);
            }
        }
        for text in [
            "wakeup",
            "response",
            "jitter",
            "noise",
            "timerlat",
            "switch:16x16k+futex",
            "remote+eventfd",
            "irq",
            "shootdown:1+pages64",
        ] {
            let probe: Probe = text.parse().unwrap();
            assert_eq!(probe.to_string().parse(), Ok(probe));
            assert_eq!(probe.info().name, probe.name());
        }
    }

    #[test]
    fn a_probe_of_two_cpus_is_as_periodic_and_urgent_as_a_timed_one() {
        for text in ["remote+pipe", "irq", "shootdown:1"] {
            let probe: Probe = text.parse().unwrap();
            assert!(
                probe.is_real_time() && probe.is_periodic() && probe.has_helpers(),
                "{text}"
            );
            assert!(!probe.is_spread() && !probe.awaits_timer(), "{text}");
            for venue in [Venue::Lab, Venue::Host] {
                assert_eq!(probe.usual_period(venue), Probe::Wakeup.usual_period(venue));
            }
        }
        let inversion: Probe = "inversion:1".parse().unwrap();
        assert_eq!(inversion.usual_period(Venue::Lab), Nanos(3_150_000));
    }

    #[test]
    fn wrong_probes_are_explained() {
        let error = |text: &str| text.parse::<Probe>().unwrap_err().0;
        assert!(error("nothing").contains("known: wakeup, response, jitter, noise, timerlat, switch"));
        assert_eq!(error("wakeup:3"), "probe 'wakeup' takes no parameters, not 'wakeup:3'");
        assert!(error("switch").contains("one is wanted here"));
    }

    #[test]
    fn a_venue_has_some_probes_and_says_why_not_the_others() {
        assert!(Probe::Wakeup.check_venue(Venue::Lab).is_ok() && Probe::Noise.check_venue(Venue::Host).is_ok());
        let why = Probe::Timerlat.check_venue(Venue::Lab).unwrap_err().0;
        assert!(why.starts_with("probe 'timerlat' is there on the host only: "), "{why}");
        let slow: Probe = "switch:2x0+mhz600".parse().unwrap();
        assert_eq!(slow.check_venue(Venue::Host), Ok(()));
        assert!(slow.check_venue(Venue::Lab).unwrap_err().0.ends_with("give --mips"));
        let again: Probe = "switch:2x0+again1".parse().unwrap();
        assert_eq!(again.check_venue(Venue::Host), Ok(()));
        assert_eq!(
            again.check_venue(Venue::Lab).unwrap_err().0,
            "probe 'switch:2x0+again1' is there on the host only: the lab's values are exact, and the same each time; leave +again out"
        );
        assert_eq!(Probe::names(Venue::Lab).count(), 14);
        assert_eq!(Probe::names(Venue::Host).count(), 15);
    }
}
