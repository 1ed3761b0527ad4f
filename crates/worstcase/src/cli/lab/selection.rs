//! Which cells: options of `worstcase lab run|verify`.

use crate::cli::Error;
use clap::Args;
use std::path::Path;
use std::str::FromStr;
use worstcase_base::duration;
use worstcase_kernels::preempt::{self, Model};
use worstcase_kernels::{self as kernels, ResolveOptions};
use worstcase_lab::LabError;
use worstcase_lab::added::Added;
use worstcase_lab::machine::{Machine, Mips};
use worstcase_lab::study::PlannedCell;
use worstcase_probe::bench::{Bench, Inversion};
use worstcase_probe::loads::{LoadInfo, LoadSpec};
use worstcase_probe::spec::SpecError;
use worstcase_probe::{CellSpec, Nanos, Probe, Venue};

/// Which cells.
#[derive(Debug, Args)]
pub struct Selection {
    /// A kernel (see `worstcase kernels show --help`); may be given again
    #[arg(long = "kernel", value_name = "NAME", required = true)]
    kernels: Vec<String>,
    /// Preemption models, separated by commas [default: all that each kernel can boot]
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    preempt: Vec<String>,
    /// Loads, separated by commas; cmd:... alone, given again for more
    #[arg(long = "load", value_name = "LOAD", default_value = "idle", long_help = load_help())]
    loads: Vec<String>,
    /// Probes, separated by commas: wakeup (clock_nanosleep), response (SIGALRM of an interval timer), switch, hackbench,
    /// inversion; the last three take parameters, e.g. switch:2/16x0/16k (docs/probes.md)
    #[arg(
        long = "probe",
        value_name = "PROBE",
        value_delimiter = ',',
        default_value = "wakeup"
    )]
    probes: Vec<ProbeList>,
    /// Periods of each cell, every one a sample or counted as missed; or repetitions [default: 2000; switch: 10; hackbench: 4;
    /// inversion: 500]
    #[arg(long)]
    samples: Option<u32>,
    /// Number of seeds, 1 to this number; each shifts the phase of the samples against the kernel's tick
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: u32,
    /// One seed alone
    #[arg(long, conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Distance of two samples; one that divides the tick sees only one phase of it [default: 251us; inversion: three times
    /// what a round takes]
    #[arg(long, value_parser = duration::parse)]
    period: Option<Nanos>,
    /// The load runs alone for this long before the first sample
    #[arg(long, default_value = "100ms", value_parser = duration::parse)]
    warmup: Nanos,
    /// SCHED_FIFO priority of the probe
    #[arg(long, default_value_t = 98)]
    priority: u8,
    /// Virtual CPU speeds, separated by commas: 1000, 500, 250 or 125 million instructions a second
    #[arg(long, value_delimiter = ',', default_value = "1000")]
    mips: Vec<Mips>,
    /// Memory of the machine, in MiB; several, separated by commas
    #[arg(long, value_name = "MIB", value_delimiter = ',', default_values_t = [Machine::default().memory_mb])]
    memory: Vec<u32>,
    /// A program for cmd: loads, put into the machine with its libraries; may be given again
    #[arg(long = "add", value_name = "PATH[:DEST]")]
    pub added: Vec<Added>,
}

/// What one word of `--probe` asks for.
#[derive(Clone, Debug)]
struct ProbeList {
    text: String,
    probes: Vec<Probe>,
}

impl FromStr for ProbeList {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<ProbeList, SpecError> {
        let probes = Probe::expand(text)?;
        probes.iter().try_for_each(|probe| probe.check_venue(Venue::Lab))?;
        Ok(ProbeList {
            text: text.to_string(),
            probes,
        })
    }
}

impl Selection {
    /// All combinations: a subject's cells stand together.
    pub fn plan(&self, options: &ResolveOptions<'_>) -> Result<Vec<PlannedCell>, Error> {
        let specs = self.specs()?;
        let machines = self.machines()?;
        let mut planned = Vec::new();
        for (kernel, model) in self.subjects(options)? {
            for machine in &machines {
                for spec in &specs {
                    planned.push(PlannedCell {
                        kernel: kernel.clone(),
                        preempt: model.to_string(),
                        mips: machine.mips.number(),
                        memory_mb: machine.memory_mb,
                        spec: spec.clone(),
                    });
                }
            }
        }
        Ok(planned)
    }

    /// The limit that is asked of this selection's probes if nobody says another.
    pub fn usual_criterion(&self) -> Option<Nanos> {
        let mut probes = self.probes.iter().flat_map(|list| &list.probes);
        let all = probes.all(|p| matches!(p, Probe::Bench(Bench::Inversion(_))));
        all.then_some(Inversion::CRITERION)
    }

    fn machines(&self) -> Result<Vec<Machine>, LabError> {
        let machine = |(mips, memory_mb): (&Mips, &u32)| Machine {
            mips: *mips,
            memory_mb: *memory_mb,
        };
        let all = self
            .mips
            .iter()
            .flat_map(|mips| self.memory.iter().map(move |memory| (mips, memory)));
        all.map(machine).map(|m| m.check().map(|()| m)).collect()
    }

    /// Each kernel with each model that it is to be booted in.
    fn subjects(&self, options: &ResolveOptions<'_>) -> Result<Vec<(String, Model)>, Error> {
        let asked = self
            .preempt
            .iter()
            .map(|m| m.parse())
            .collect::<Result<Vec<Model>, _>>()?;
        let mut subjects = Vec::new();
        let mut booted = std::collections::BTreeSet::new();
        for name in &self.kernels {
            let kernel = kernels::resolve(name, options)?;
            let models: Vec<Model> = preempt::models(&kernel)?.iter().map(|m| m.model).collect();
            let chosen: Vec<Model> = models
                .iter()
                .copied()
                .filter(|m| asked.is_empty() || asked.contains(m))
                .collect();
            if chosen.is_empty() {
                // Says which models there are, and why not this one.
                preempt::choose(&kernel, asked[0])?;
            }
            booted.extend(chosen.iter().copied());
            subjects.extend(chosen.into_iter().map(|model| (name.clone(), model)));
        }
        match asked.iter().find(|m| !booted.contains(m)) {
            Some(model) => {
                let all = self.kernels.join(", ");
                Err(LabError::Request(format!(
                    "none of {all} can boot '{model}'; see 'worstcase kernels show'"
                ))
                .into())
            }
            None => Ok(subjects),
        }
    }

    fn specs(&self) -> Result<Vec<CellSpec>, LabError> {
        let seeds: Vec<u64> = match self.seed {
            Some(seed) => vec![seed],
            None => (1..=u64::from(self.seeds)).collect(),
        };
        let mut specs = Vec::new();
        for load in self.loads()? {
            for probe in self.probes.iter().flat_map(|list| &list.probes) {
                for seed in &seeds {
                    let spec = CellSpec {
                        probe: *probe,
                        load: load.clone(),
                        period: self.period.unwrap_or(probe.usual_period(Venue::Lab)),
                        periods: self.samples.unwrap_or(probe.usual_periods()),
                        seed: *seed,
                        warmup: self.warmup,
                        priority: self.priority,
                    };
                    let spec = spec.for_probe();
                    spec.to_text().map_err(|e| LabError::Request(e.to_string()))?;
                    specs.push(spec);
                }
            }
        }
        Ok(specs)
    }

    /// The loads by name; each is checked before anything is booted.
    fn loads(&self) -> Result<Vec<String>, LabError> {
        let separate = |text: &String| -> Vec<String> {
            if text.starts_with("cmd:") {
                vec![text.clone()]
            } else {
                text.split(',').map(str::to_string).collect()
            }
        };
        let loads: Vec<String> = self.loads.iter().flat_map(separate).collect();
        for load in &loads {
            let known = load.parse::<LoadSpec>().and_then(|load| load.check_venue(Venue::Lab));
            known.map_err(|e| LabError::Request(e.to_string()))?;
        }
        Ok(loads)
    }

    /// The command that gives the same run: everything that shapes the result, and nothing else.
    pub fn command(&self) -> Vec<String> {
        let mut words: Vec<String> = ["worstcase", "lab", "run"].map(str::to_string).to_vec();
        let mut option = |name: &str, value: String| words.extend([name.to_string(), value]);
        self.kernels.iter().for_each(|k| option("--kernel", k.clone()));
        if !self.preempt.is_empty() {
            option("--preempt", self.preempt.join(","));
        }
        self.loads.iter().for_each(|l| option("--load", l.clone()));
        option(
            "--probe",
            self.probes
                .iter()
                .map(|p| p.text.as_str())
                .collect::<Vec<_>>()
                .join(","),
        );
        if let Some(samples) = self.samples {
            option("--samples", samples.to_string());
        }
        match self.seed {
            Some(seed) => option("--seed", seed.to_string()),
            None => option("--seeds", self.seeds.to_string()),
        }
        // As it is typed: without a space.
        let typed = |length| duration::show(length).replace(' ', "");
        if let Some(period) = self.period {
            option("--period", typed(period));
        }
        option("--warmup", typed(self.warmup));
        option("--priority", self.priority.to_string());
        option(
            "--mips",
            self.mips.iter().map(Mips::to_string).collect::<Vec<_>>().join(","),
        );
        option(
            "--memory",
            self.memory.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        );
        self.added
            .iter()
            .for_each(|a| option("--add", format!("{}:{}", file_name(&a.source), a.dest)));
        words
    }
}

/// Where a file lies on the desk is not part of the result.
fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn load_help() -> String {
    let mut help =
        String::from("Loads, separated by commas, several at once as A+B; cmd:... alone, given again for more:\n");
    for load in LoadInfo::of_venue(Venue::Lab) {
        help += &format!("  {:<16} {}\n", load.usage(), load.about);
    }
    help
}
