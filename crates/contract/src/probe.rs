//! Which instrument measures: the probes by name, and the table of which venue has which.

use crate::names;
use crate::spec::SpecError;
use crate::venue::{Only, Venue};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use worstcase_instruments::bench::{Bench, Line};
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

/// What help texts and parsers need to know of a probe.
#[derive(Debug)]
pub struct ProbeInfo {
    /// Its name without parameters, as users type it.
    pub name: &'static str,
    /// One line for help texts.
    pub about: &'static str,
    /// The one venue that has it, if not both have.
    pub only: Option<Only>,
}

/// All probes, in the order in which help texts name them.
pub const PROBES: [ProbeInfo; 14] = [
    ProbeInfo {
        name: "wakeup",
        about: "how late a periodic thread wakes up",
        only: None,
    },
    ProbeInfo {
        name: "response",
        about: "the same in parts: in the lab SIGALRM of an interval timer, on the host by the kernel's trace (root)",
        only: None,
    },
    ProbeInfo {
        name: "jitter",
        about: "Realfeel: how far periods differ from what they should be",
        only: None,
    },
    ProbeInfo {
        name: "noise",
        about: "what takes the CPU away from a thread that never sleeps",
        only: None,
    },
    ProbeInfo {
        name: "timerlat",
        about: "how late the kernel's own timerlat threads are (root; CONFIG_TIMERLAT_TRACER)",
        only: Only::host("it reads the tracer of the machine's own kernel; in the lab: wakeup or response"),
    },
    ProbeInfo {
        name: "switch",
        about: "what a context switch costs: lat_ctx's ring, e.g. switch:2/16x0/16k+pipe/futex; alone: its grid",
        only: None,
    },
    ProbeInfo {
        name: "hackbench",
        about: "how long message passing takes, e.g. hackbench:1/10x25x100x100+pipes+cpus1/2",
        only: None,
    },
    ProbeInfo {
        name: "pick",
        about: "what a choice of the scheduler costs when N tasks can run, e.g. pick:1/100/1000; alone: its grid",
        only: None,
    },
    ProbeInfo {
        name: "spawn",
        about: "what a new process costs, in lmbench's steps: spawn+fork/exec/sh",
        only: None,
    },
    ProbeInfo {
        name: "io",
        about: "what work with files takes, e.g. io:1g+write/read+direct, io+unpack, io:1g+bonnie",
        only: None,
    },
    ProbeInfo {
        name: "inversion",
        about: "priority inversion on a mutex, e.g. inversion:1/4+inherit/none (real-time right)",
        only: None,
    },
    ProbeInfo {
        name: "remote",
        about: "how long waking a thread on another CPU takes, e.g. remote+futex/pipe (two CPUs, real-time right)",
        only: None,
    },
    ProbeInfo {
        name: "irq",
        about: "how long an interrupt takes to be answered by a process: of a wire (irq, irq+gpio, irq+serial; two CPUs), of a counter (irq+hpet)",
        only: None,
    },
    ProbeInfo {
        name: "shootdown",
        about: "what unmapping takes while threads of the process run on other CPUs, e.g. shootdown:0/1/3+pages16/256 (real-time right)",
        only: None,
    },
];

/// Realfeel's rate.
const REALFEEL_HZ: u64 = 2_048;

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
            Probe::Bench(bench) => names::name(&bench),
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

    /// Every probe that a text asks for: some take parameters with alternatives (see [`names`]).
    pub fn expand(text: &str) -> Result<Vec<Probe>, SpecError> {
        if let Some(timed) = Self::TIMED.into_iter().find(|p| p.name() == text) {
            return Ok(vec![timed]);
        }
        let name = text.split([':', '+']).next().unwrap_or_default();
        if names::NAMES.contains(&name) {
            return Ok(names::expand(text)?.into_iter().map(Probe::Bench).collect());
        }
        let known = PROBES.map(|info| info.name).join(", ");
        Err(match Self::TIMED.into_iter().find(|p| p.name() == name) {
            Some(timed) => SpecError(format!("probe '{}' takes no parameters, not '{text}'", timed.name())),
            None => SpecError(format!("unknown probe '{text}'; known: {known}")),
        })
    }

    /// Refuses a probe that `venue` does not have, with the reason.
    pub fn check_venue(self, venue: Venue) -> Result<(), SpecError> {
        match (self, venue) {
            (Probe::Bench(Bench::Irq(Line::Gpio(None))), Venue::Host) => {
                return Err(SpecError(
                    "probe 'irq+gpio': which lines of this machine? Name the chip, an output and the input that it is wired to, e.g. irq:0x17x27+gpio".into(),
                ));
            }
            (Probe::Bench(bench @ Bench::Irq(Line::Gpio(Some(_)) | Line::Serial(_))), Venue::Lab) => {
                return Err(SpecError(format!(
                    "probe '{bench}': the lab's machine has irq (a parallel port), irq+hpet and irq+gpio (a simulated chip)"
                )));
            }
            (Probe::Bench(Bench::Switch(ring)), _) => {
                let only_host = |why| Only::check(Only::host(why), venue, &format!("probe '{self}'"));
                if ring.again > 0 {
                    only_host("the lab's values are exact, and the same each time; leave +again out")?;
                }
                if ring.mhz > 0 {
                    only_host("the lab's CPUs have MIPS: leave +mhz out, and give --mips")?;
                }
            }
            _ => {}
        }
        Only::check(self.info().only, venue, &format!("probe '{}'", self.name()))
    }

    /// Whether it has a real-time priority.
    pub const fn is_real_time(self) -> bool {
        !matches!(
            self,
            Probe::Bench(Bench::Switch(_) | Bench::Hackbench(_) | Bench::Pick(_) | Bench::Spawn(_) | Bench::Io(_))
        )
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
    pub const fn needs_disk(self) -> bool {
        matches!(self, Probe::Bench(Bench::Io(_)))
    }

    /// Modules of the kernel that it needs, where they are not built in.
    pub const fn modules(self) -> &'static [&'static str] {
        match self {
            Probe::Bench(Bench::Irq(Line::Parport)) => &["parport_pc", "ppdev"],
            Probe::Bench(Bench::Irq(Line::Gpio(None))) => &["gpio-sim"],
            _ => &[],
        }
    }

    /// Those of all probes.
    pub const MODULES: [&'static str; 3] = ["parport_pc", "ppdev", "gpio-sim"];

    /// Whether its samples are due at regular times.
    pub const fn is_periodic(self) -> bool {
        self.is_real_time()
    }

    /// Whether a sample in the lab is the lateness of a timer.
    pub const fn awaits_timer(self) -> bool {
        matches!(self, Probe::Wakeup | Probe::Response | Probe::Jitter)
    }

    /// How many samples are taken unless somebody asks for another number or, on a host, for a time.
    pub const fn usual_periods(self) -> u32 {
        match self {
            Probe::Bench(bench) => names::usual_samples(&bench),
            Probe::Noise => 50,
            _ => 2_000,
        }
    }

    /// Distance of two due times unless somebody asks for another; 0 for a probe that has none.
    ///
    /// The lab's does not divide a tick, so that a cell sees many of its phases.
    pub const fn usual_period(self, venue: Venue) -> Nanos {
        if let Probe::Bench(bench) = self
            && let Some(period) = names::usual_period(&bench)
        {
            return period;
        }
        match (self, venue) {
            (Probe::Noise, Venue::Lab) => Nanos::from_millis(10),
            (Probe::Jitter, _) => Nanos(1_000_000_000 / REALFEEL_HZ),
            (_, Venue::Lab) => Nanos::from_micros(251),
            (Probe::Noise, Venue::Host) => Nanos::from_millis(100),
            (_, Venue::Host) => Nanos::from_millis(1),
        }
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
        let names: Vec<&str> = Probe::TIMED.map(Probe::name).into_iter().chain(names::NAMES).collect();
        assert_eq!(PROBES.map(|info| info.name).to_vec(), names);
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
        assert_eq!(Probe::names(Venue::Lab).count(), 13);
        assert_eq!(Probe::names(Venue::Host).count(), 14);
    }
}
