//! Questions about a probe: each answer is a field of its row, see [`ProbeInfo`].

pub use crate::probes::{CpuNeed, Extreme, PROBES, Probe, ProbeInfo, SampleBegin, SamplePath};

use crate::device::Device;
use crate::grammar;
use crate::probes::follow::{self, ProgramName};
use crate::probes::info::ProbeForm;
use crate::spec_error::SpecError;
use crate::text_form;
use crate::venue::{Only, Venue};
use std::fmt;
use std::str::FromStr;
use worstcase_base::near::unknown;
use worstcase_cell::bench::{Bench, Details};
use worstcase_cell::order::Instrument;
use worstcase_logs::Nanos;

impl Probe {
    /// The probe's name without parameters.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Its row in [`PROBES`], or that of a program.
    pub fn info(self) -> &'static ProbeInfo {
        if let Probe::Program(_) = self {
            return &follow::FOLLOW;
        }
        let is_its_own = |info: &&ProbeInfo| match (self, &info.form) {
            (Probe::Bench(bench), ProbeForm::Parameters(_)) => info.name == bench.name(),
            (_, ProbeForm::Name(probe)) => *probe == self,
            _ => false,
        };
        PROBES.iter().find(is_its_own).expect("every probe has its row")
    }

    /// The names of the probes that `venue` has, in the order in which help texts name them.
    pub fn names(venue: Venue) -> impl Iterator<Item = &'static str> {
        PROBES
            .iter()
            .filter(move |info| info.only.is_none_or(|only| only.venue == venue))
            .map(|info| info.name)
    }

    /// The probe with parameters, if this is one.
    pub const fn bench(self) -> Option<Bench> {
        match self {
            Probe::Bench(bench) => Some(bench),
            _ => None,
        }
    }

    /// The instrument that measures; an error for a probe that the kernel itself measures.
    pub(crate) fn instrument(self) -> Result<Instrument, SpecError> {
        Ok(match self {
            Probe::Wakeup => Instrument::Wakeup,
            Probe::Response => Instrument::Response,
            Probe::Jitter => Instrument::Jitter,
            Probe::Noise => Instrument::Noise,
            Probe::Bench(bench) => Instrument::Bench(bench),
            Probe::Program(_) => Instrument::Program,
            Probe::Timerlat => return Err(SpecError("the kernel's own tracer measures timerlat".into())),
        })
    }

    /// Every probe that a text asks for: some take parameters with alternatives (see [`crate::names`]).
    pub fn expand(text: &str) -> Result<Vec<Probe>, SpecError> {
        let (head, options) = text.split_once('+').unwrap_or((text, ""));
        let (name, dimensions) = grammar::name_and_parameter(head);
        let Some(info) = ProbeInfo::of_word(name) else {
            let known = PROBES.iter().map(|info| info.name);
            return Err(SpecError(unknown("probe", name, known, "worstcase probes lists all")));
        };
        match &info.form {
            ProbeForm::Parameters(grammar) => {
                let all = grammar.expand(dimensions.unwrap_or_default(), options);
                let all = all.map_err(|why| SpecError(format!("probe '{text}': {why}")))?;
                Ok(all.into_iter().map(Probe::Bench).collect())
            }
            ProbeForm::Program => match dimensions.filter(|_| options.is_empty()).and_then(ProgramName::parse) {
                Some(name) => Ok(vec![Probe::Program(name)]),
                None => Err(follow::refused(text)),
            },
            ProbeForm::Name(probe) if text == name => Ok(vec![*probe]),
            ProbeForm::Name(_) => Err(SpecError(format!("probe '{name}' takes no parameters, not '{text}'"))),
        }
    }

    /// Refuses a probe that `venue` does not have, with the reason.
    pub fn check_venue(self, venue: Venue) -> Result<(), SpecError> {
        match (self, venue) {
            (Probe::Bench(bench), _) => (self.info().also_refused)(&bench, venue)?,
            (Probe::Program(_), Venue::Host) => return Err(follow::refused(&self.to_string())),
            _ => {}
        }
        Only::check(self.info().only, venue, &format!("probe '{}'", self.name()))
    }

    /// Whether the probe has a real-time priority. A program chooses its own.
    pub fn is_real_time(self) -> bool {
        self.info().is_periodic && !self.info().is_program()
    }

    /// Whether the probe itself works on all CPUs.
    pub fn is_spread(self) -> bool {
        self.bench().is_some_and(|bench| bench.is_spread())
    }

    /// Whether the probe has threads on other CPUs than the one it measures on.
    pub fn has_helpers(self) -> bool {
        self.bench().is_some_and(|bench| bench.has_helpers())
    }

    /// Whether the probe works with files on a disk.
    pub fn needs_disk(self) -> bool {
        self.info().needs_disk
    }

    /// The default criterion: no sample may be longer.
    pub fn criterion(self) -> Option<Nanos> {
        self.info().criterion
    }

    /// How many of the allowed CPUs the probe takes; a probe without parameters has a thread on each.
    pub fn cpus(self) -> CpuNeed {
        self.bench().map_or(CpuNeed::All, |bench| (self.info().cpus)(&bench))
    }

    /// Kernel modules that it needs where they are not built in.
    pub fn modules(self) -> &'static [&'static str] {
        self.bench().map_or(&[], |bench| (self.info().modules)(Some(&bench)))
    }

    /// The kernel modules of all probes.
    pub fn all_modules() -> impl Iterator<Item = &'static str> {
        PROBES.iter().flat_map(|info| (info.modules)(None)).copied()
    }

    /// The device that the lab's machine must have for it.
    pub fn device(self) -> Option<Device> {
        (self.info().device)(self.bench().as_ref())
    }

    /// Whether its samples are held against a limit.
    pub fn is_judged(self) -> bool {
        self.bench().is_none_or(|bench| (self.info().is_judged)(&bench))
    }

    /// Whether the details of a record fit the probe and the number of samples.
    pub fn fits(self, details: Option<&Details>, taken: u64) -> bool {
        match (self.bench(), details) {
            (None, None) => true,
            (Some(bench), Some(details)) => (self.info().fits)(details, &bench, taken),
            _ => false,
        }
    }

    /// What in a record's details proves that something does not work.
    pub fn failure(self, details: &Details, taken: u64) -> Option<String> {
        (self.info().failure)(details, &self.bench()?, taken)
    }

    /// What in a record's details makes the samples worthless.
    pub fn doubt(self, details: &Details, taken: u64) -> Option<String> {
        (self.info().doubt)(details, &self.bench()?, taken)
    }

    /// The event from which a sample's time is counted.
    pub fn sample_begin(self) -> SampleBegin {
        (self.info().begin)(self.bench().as_ref())
    }

    /// Where the path of a sample is in a machine of one CPU.
    pub fn sample_path(self) -> SamplePath {
        (self.info().path)(self.bench().as_ref())
    }

    /// Whether its samples are due at regular times.
    pub fn is_periodic(self) -> bool {
        self.info().is_periodic
    }

    /// Whether a sample in the lab is the lateness of a timer.
    pub fn awaits_timer(self) -> bool {
        self.info().awaits_timer
    }

    /// Whether it can be asked to run under another policy in the lab.
    pub fn takes_policy(self) -> bool {
        self.awaits_timer() || self.is_ordinary_unasked()
    }

    /// Whether it is an ordinary thread in the lab, if nobody asks for a policy.
    pub fn is_ordinary_unasked(self) -> bool {
        self.info().is_ordinary_in_lab
    }

    /// How many samples are taken by default; on a host a user may ask for a time instead.
    pub fn usual_periods(self) -> u32 {
        (self.info().samples)(self.bench().as_ref())
    }

    /// The default distance of two due times; 0 for a probe without due times.
    pub fn usual_period(self, venue: Venue) -> Nanos {
        (self.info().period)(self.bench().as_ref(), venue)
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Probe::Bench(bench) => bench.fmt(f),
            Probe::Program(program) => write!(f, "{}:{program}", self.name()),
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

text_form!(Probe);

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
        assert_eq!(
            error("wakup:3"),
            "unknown probe 'wakup'; did you mean wakeup? worstcase probes lists all"
        );
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
