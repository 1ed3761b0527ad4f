//! What is measured, as options: the same words for the lab and for a host.

use super::words;
use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;
use worstcase_base::duration;
use worstcase_plan::{Experiment, Length, Part, Problem, Seeds, Subjects, Timing, Venue, grammar};
use worstcase_probe::Nanos;
use worstcase_probe::loads::{LOADS, LoadSpec};
use worstcase_probe::probe::PROBES;
use worstcase_probe::spec::SpecError;
use worstcase_probe::venue::Only;

/// What is measured, and how often.
#[derive(Debug, Args)]
pub struct What {
    /// Loads, separated by commas; several at once as A+B [default: idle]
    #[arg(long = "load", value_name = "LOAD", hide_possible_values = true, value_parser = words::loads(Loads::from_str), long_help = load_help())]
    loads: Vec<Loads>,
    /// Probes, separated by commas [default: wakeup]
    #[arg(long = "probe", value_name = "PROBE", value_delimiter = ',', hide_possible_values = true, value_parser = words::probes(known_probe), long_help = probe_help())]
    probes: Vec<String>,
    /// Distance of two samples [default: lab 251us, host 1ms; jitter: 2048 a second; noise: windows of 100ms; inversion: three
    /// times what a round takes]. In the lab one that divides the tick sees only one phase of it
    #[arg(long, short, value_name = "DURATION", value_parser = duration::parse)]
    interval: Option<Nanos>,
    /// The load runs alone for this long before the first sample [default: lab 100ms, host 1s]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    warmup: Option<Nanos>,
    /// Real-time priority of the probe, 1 to 99 [default: lab 98, host 90]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=99))]
    priority: Option<u8>,
}

/// Loads, probes, seeds and timing.
#[derive(Debug, Args)]
pub struct Asked {
    #[command(flatten)]
    what: What,
    /// Periods of each cell, every one a sample or counted as missed; or repetitions [default: lab 2000; switch: 10; hackbench: 4;
    /// inversion: 500; remote: 2000; shootdown: 1000]
    #[arg(long, short = 'l', value_name = "N", conflicts_with = "time")]
    samples: Option<u32>,
    /// How long each cell measures, instead of a number of samples [default: host 60s]
    #[arg(long, short = 'D', value_name = "DURATION", value_parser = duration::parse)]
    time: Option<Nanos>,
    /// Number of seeds, 1 to this number: each shifts the phase of the samples against the kernel's tick [default: lab 5, host 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: Option<u32>,
    /// One seed alone
    #[arg(long, value_name = "SEED", conflicts_with = "seeds")]
    seed: Option<u64>,
}

/// The loads of one `--load`.
#[derive(Clone, Debug)]
struct Loads(Vec<LoadSpec>);

impl FromStr for Loads {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<Loads, SpecError> {
        grammar::loads(text).map(Loads)
    }
}

/// A word that stands for probes of any venue.
fn known_probe(text: &str) -> Result<String, SpecError> {
    grammar::expand(text).map(|_| text.to_string())
}

/// Where a run is kept, and what limit it is judged by.
#[derive(Debug, Args)]
pub struct Kept {
    /// The run's folder [default: lab worstcase-run; host a new one, host-NAME-YYYYMMDD-HHMM (UTC)]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Judge every subject: no latency above this, e.g. 100us [default: 100us if inversion is the only probe]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub criterion: Option<Nanos>,
}

/// The folder of a run in the lab, if nobody names one: the same cell gives the same there, so the same folder goes on.
pub const LAB_RUN: &str = "worstcase-run";

impl What {
    /// The same of a part, whose length is `length`.
    pub fn fill(&self, part: &mut Part, length: Option<Length>) {
        if !self.loads.is_empty() {
            part.loads = self.loads.iter().flat_map(|word| word.0.clone()).collect();
        }
        if !self.probes.is_empty() {
            part.probes = self.probes.clone();
        }
        part.timing = Timing {
            interval: self.interval,
            length,
            warmup: self.warmup.unwrap_or(part.timing.warmup),
        };
        part.method.priority = self.priority.unwrap_or(part.method.priority);
    }
}

impl Asked {
    /// The experiment with these subjects, unchecked.
    pub fn of(&self, venue: Venue, subjects: Subjects) -> Experiment {
        let mut experiment = Experiment::usual(venue, subjects);
        for part in &mut experiment.parts {
            self.fill(part);
        }
        experiment
    }

    fn fill(&self, part: &mut Part) {
        let time = self.time.map(Length::Time);
        self.what.fill(part, self.samples.map(Length::Samples).or(time));
        if let Some(seeds) = self.seeds {
            part.seeds = Seeds::to(seeds);
        }
        if let Some(seed) = self.seed {
            part.seeds = Seeds::one(seed);
        }
    }
}

/// With the limit that was asked for, or that its probes usually have; refused if it cannot be measured.
pub fn judged(mut experiment: Experiment, criterion: Option<Nanos>) -> Result<Experiment, Problem> {
    experiment.criterion = criterion.or(experiment.usual_criterion());
    experiment.check()?;
    Ok(experiment)
}

fn probe_help() -> String {
    let mut help = String::from("Probes, separated by commas:\n");
    for probe in &PROBES {
        help += &format!("  {:<10} {}{}\n", probe.name, probe.about, venue(probe.only));
    }
    help + "Alternatives stand between slashes; every parameter is in docs/probes.md."
}

fn load_help() -> String {
    let mut help = String::from(
        "Loads, separated by commas; several at once as A+B. A program (cmd:...) or a path takes the rest of its \
         option, which may be given again:\n",
    );
    for load in &LOADS {
        help += &format!("  {:<20} {}{}\n", load.usage(), load.about, venue(load.only));
    }
    help
}

fn venue(only: Option<Only>) -> String {
    only.map_or(String::new(), |only| format!(" ({} only)", only.venue))
}
