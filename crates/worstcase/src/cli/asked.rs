//! What is measured, as options: the same words for the lab and for a host.

use worstcase_base::duration;
use clap::Args;
use std::path::{Path, PathBuf};
use worstcase_host::loads::table::usages;
use worstcase_plan::{Experiment, Length, Part, Problem, Seeds, Subjects, Timing, Venue, grammar};
use worstcase_probe::Nanos;
use worstcase_probe::loads::LOADS;

/// Loads, probes, seeds and timing.
#[derive(Debug, Args)]
pub struct Asked {
    /// Loads, separated by commas; several at once as A+B [default: idle]
    #[arg(long = "load", value_name = "LOAD", long_help = load_help())]
    loads: Vec<String>,
    /// Probes, separated by commas [default: wakeup]
    #[arg(long = "probe", value_name = "PROBE", value_delimiter = ',', long_help = PROBES)]
    probes: Vec<String>,
    /// Distance of two samples [default: lab 251us, host 1ms; jitter: 2048 a second; noise: windows of 100ms; inversion: three
    /// times what a round takes]. In the lab one that divides the tick sees only one phase of it
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    interval: Option<Nanos>,
    /// Periods of each cell, every one a sample or counted as missed; or repetitions [default: lab 2000; switch: 10; hackbench: 4;
    /// inversion: 500]
    #[arg(long, value_name = "N", conflicts_with = "time")]
    samples: Option<u32>,
    /// How long each cell measures, instead of a number of samples [default: host 60s]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    time: Option<Nanos>,
    /// Number of seeds, 1 to this number: each shifts the phase of the samples against the kernel's tick [default: lab 5, host 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: Option<u32>,
    /// One seed alone
    #[arg(long, value_name = "SEED", conflicts_with = "seeds")]
    seed: Option<u64>,
    /// The load runs alone for this long before the first sample [default: lab 100ms, host 1s]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    warmup: Option<Nanos>,
    /// Real-time priority of the probe, 1 to 99 [default: lab 98, host 90]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=99))]
    priority: Option<u8>,
}

/// Where a run is kept, and what limit it is judged by.
#[derive(Debug, Args)]
pub struct Kept {
    /// The run's folder [default: lab worstcase-run, host host-run]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Judge every subject: no latency above this, e.g. 100us [default: 100us if inversion is the only probe]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub criterion: Option<Nanos>,
}

impl Kept {
    /// The run's folder.
    pub fn output(&self, venue: Venue) -> PathBuf {
        let usual = || Path::new(venue.usual_output()).to_path_buf();
        self.output.clone().unwrap_or_else(usual)
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
        if !self.loads.is_empty() {
            part.loads = self.loads.iter().flat_map(|text| grammar::split_loads(text)).collect();
        }
        if !self.probes.is_empty() {
            part.probes = self.probes.clone();
        }
        let time = self.time.map(Length::Time);
        part.timing = Timing {
            interval: self.interval,
            length: self.samples.map(Length::Samples).or(time),
            warmup: self.warmup.unwrap_or(part.timing.warmup),
        };
        part.method.priority = self.priority.unwrap_or(part.method.priority);
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

const PROBES: &str = "\
Probes, separated by commas:
  wakeup     how late a periodic thread wakes up (clock_nanosleep)
  response   the same with SIGALRM of an interval timer, each sample in parts (host: root)
  switch     what a context switch costs: lat_ctx's ring, e.g. switch:2/16x0/16k+pipe/futex; alone: its grid
  hackbench  how long message passing takes, e.g. hackbench:1/10x25x100x100+pipes+cpus1/2
  inversion  priority inversion on a mutex, e.g. inversion:1/4+inherit/none (host: real-time right)
Host only:
  jitter     Realfeel: how far periods differ from what they should be
  noise      what takes the CPU away from a thread that never sleeps
  timerlat   how late the kernel's own timerlat threads are (root; CONFIG_TIMERLAT_TRACER)
Alternatives stand between slashes; every parameter is in docs/probes.md.";

fn load_help() -> String {
    let mut help = String::from(
        "Loads, separated by commas; several at once as A+B. A program (cmd:...) or a path takes the rest of its \
         option, which may be given again. docs/loads.md has all of them:\n",
    );
    for load in &LOADS {
        help += &format!("  {:<12} {}\n", load.usage(), load.about);
    }
    help + &format!("A host's, with rates: {}", usages().collect::<Vec<_>>().join(", "))
}
