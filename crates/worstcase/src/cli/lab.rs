//! `worstcase lab run|verify`.

use super::census;
use super::kernels::Terminal;
use super::progress::Bar;
use super::show;
use crate::duration;
use crate::error::Error;
use crate::kernels::preempt::{self, Model};
use crate::kernels::{self, ResolveOptions};
use crate::lab::LabError;
use crate::lab::added::Added;
use crate::lab::machine::{Machine, Mips};
use crate::lab::matrix::{Execution, Matrix};
use crate::lab::qemu::Qemu;
use crate::lab::verify::{Verification, verify};
use crate::record::{Run, RunPlan};
use crate::study::PlannedCell;
use clap::{Args, Subcommand};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use worstcase_probe::loads::{LOADS, LoadSpec};
use worstcase_probe::spec::ProbeKind;
use worstcase_probe::{CellSpec, Nanos};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Measure every combination of kernels, preemption models, loads, probes and seeds
    Run(RunArgs),
    /// Run one cell again and again, also on a busy machine, and fail on the first different digest
    Verify(VerifyArgs),
}

const RUN_HELP: &str = "\
Examples:
  worstcase lab run --kernel debian:6.1 --load shm,fork
  worstcase lab run --kernel debian:6.12 --kernel debian:6.12-rt --seeds 10 -o two-kernels
  worstcase lab run --kernel ./bzImage,config=.config --load fork --criterion 100us
  worstcase lab run --kernel debian:6.1 --add /usr/bin/stress-ng --load 'cmd:stress-ng --vm 1'

A run that was interrupted goes on where it stopped when the same command is given again.
Times are virtual: instructions at a stated rate. A cell that was measured before, with the same
inputs, is taken from the cache.";

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct RunArgs {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    how: How,
    /// Judge every subject: no latency above this, e.g. 100us
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    criterion: Option<Nanos>,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 4 if two runs differ.")]
pub struct VerifyArgs {
    #[command(flatten)]
    selection: Selection,
    /// Runs of each cell; the second half with every CPU of this machine kept busy
    #[arg(long, value_name = "N", default_value = "20", value_parser = positive)]
    runs: NonZeroUsize,
    /// Boot the subject anew for every run, instead of forking one snapshot
    #[arg(long)]
    fresh_boots: bool,
    #[command(flatten)]
    qemu: QemuArgs,
}

/// Which cells.
#[derive(Debug, Args)]
struct Selection {
    /// A kernel (see `worstcase kernels show --help`); may be given again
    #[arg(long = "kernel", value_name = "NAME", required = true)]
    kernels: Vec<String>,
    /// Preemption models, separated by commas [default: all that each kernel can boot]
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    preempt: Vec<String>,
    /// Loads, separated by commas; cmd:... alone, given again for more
    #[arg(long = "load", value_name = "LOAD", default_value = "idle", long_help = load_help())]
    loads: Vec<String>,
    /// Probes, separated by commas: wakeup (clock_nanosleep), response (SIGALRM of an interval timer)
    #[arg(
        long = "probe",
        value_name = "PROBE",
        value_delimiter = ',',
        default_value = "wakeup"
    )]
    probes: Vec<ProbeKind>,
    /// Periods of each cell; every one is a sample or counted as missed
    #[arg(long, default_value_t = 2_000)]
    samples: u32,
    /// Number of seeds, 1 to this number; each shifts the phase of the samples against the kernel's tick
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: u32,
    /// One seed alone
    #[arg(long, conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Distance of two samples; one that divides the tick sees only one phase of it
    #[arg(long, default_value = "251us", value_parser = duration::parse)]
    period: Nanos,
    /// The load runs alone for this long before the first sample
    #[arg(long, default_value = "100ms", value_parser = duration::parse)]
    warmup: Nanos,
    /// SCHED_FIFO priority of the probe
    #[arg(long, default_value_t = 98)]
    priority: u8,
    /// Virtual CPU speeds, separated by commas: 1000, 500, 250 or 125 million instructions a second
    #[arg(long, value_delimiter = ',', default_value = "1000")]
    mips: Vec<Mips>,
    /// Memory of the machine, in MiB
    #[arg(long, value_name = "MIB", default_value_t = Machine::default().memory_mb)]
    memory: u32,
    /// A program for cmd: loads, put into the machine with its libraries; may be given again
    #[arg(long = "add", value_name = "PATH[:DEST]")]
    added: Vec<Added>,
}

/// Which QEMU, and how long it may take.
#[derive(Debug, Args)]
pub struct QemuArgs {
    /// The QEMU to use [default: qemu-system-x86_64 on the search path]
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
    /// Real time that one boot or one cell may take, in seconds [default: 180 for a boot, for a cell
    /// ten times what it should]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    timeout: Option<u64>,
}

/// How to run a matrix; changes nothing of the result.
#[derive(Debug, Args)]
pub struct How {
    /// QEMUs at once [default: one for each CPU]
    #[arg(long, short, value_name = "N", value_parser = positive)]
    jobs: Option<NonZeroUsize>,
    /// The run's folder
    #[arg(long, short, value_name = "DIR", default_value = "worstcase-run")]
    output: PathBuf,
    /// Take the census of every cell, too (see `worstcase census --help`)
    #[arg(long)]
    census: bool,
    #[command(flatten)]
    qemu: QemuArgs,
}

/// Runs a subcommand.
pub fn run(command: LabCommand) -> Result<ExitCode, Error> {
    match command {
        LabCommand::Run(args) => run_matrix(&args),
        LabCommand::Verify(args) => run_verify(&args),
    }
}

fn run_matrix(args: &RunArgs) -> Result<ExitCode, Error> {
    let selection = &args.selection;
    let plan = |cells| {
        let mut plan = RunPlan::new("lab run", selection.command(), cells);
        plan.criterion_ns = args.criterion.map(|c| c.0);
        plan
    };
    measure(&|terminal| selection.plan(terminal), &selection.added, &args.how, &plan)
}

/// Measures planned cells into the run folder and shows what came out.
pub fn measure(
    planned: &dyn Fn(&ResolveOptions<'_>) -> Result<Vec<PlannedCell>, Error>,
    added: &[Added],
    how: &How,
    plan: &dyn Fn(Vec<crate::record::CellEntry>) -> RunPlan,
) -> Result<ExitCode, Error> {
    let qemu = Qemu::find(how.qemu.qemu.as_deref())?;
    let terminal = Terminal::default();
    let options = ResolveOptions::from_cache(&terminal)?;
    let matrix = Matrix::prepare(&planned(&options)?, added, &qemu, &options)?;
    let entries = matrix.cells().iter().map(|cell| cell.entry.clone()).collect();
    let run = Run::create(&how.output, plan(entries))?;
    let bar = Bar::new();
    let done = matrix.execute(
        &run,
        &Execution {
            cache: &options.cache,
            jobs: how.jobs(),
            limit: how.qemu.limit(),
            progress: &bar,
        },
    );
    bar.finish();
    done?;
    let shown = show::summary(&how.output)?;
    if how.census {
        let what = census::How {
            qemu: &qemu,
            added,
            options: &options,
            limit: how.qemu.limit(),
            audit: false,
            in_detail: false,
        };
        census::summary(&run, &what, how.jobs())?;
    }
    Ok(shown)
}

fn run_verify(args: &VerifyArgs) -> Result<ExitCode, Error> {
    let qemu = Qemu::find(args.qemu.qemu.as_deref())?;
    let terminal = Terminal::default();
    let options = ResolveOptions::from_cache(&terminal)?;
    let matrix = Matrix::prepare(&args.selection.plan(&options)?, &args.selection.added, &qemu, &options)?;
    for cell in matrix.cells() {
        let what = Verification {
            prepared: matrix.subject(cell),
            spec: &cell.spec,
            runs: args.runs.get(),
            fresh_boots: args.fresh_boots,
            limit: args.qemu.limit(),
        };
        let digest = verify(&options.cache, &what, |number, busy, digest| {
            let host = if busy { "busy" } else { "as it is" };
            eprintln!("{} run {number}, this machine {host}: {digest}", cell.entry.id);
        })?;
        show::print(&format!(
            "{}: {} runs, one digest: {digest}\n",
            cell.entry.id, args.runs
        ))
        .map_err(Error::Output)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl QemuArgs {
    fn limit(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_secs)
    }
}

impl How {
    fn jobs(&self) -> NonZeroUsize {
        self.jobs
            .or_else(|| std::thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN)
    }
}

impl Selection {
    /// All combinations: a subject's cells stand together.
    fn plan(&self, options: &ResolveOptions<'_>) -> Result<Vec<PlannedCell>, Error> {
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

    fn machines(&self) -> Result<Vec<Machine>, LabError> {
        let machine = |mips: &Mips| Machine {
            mips: *mips,
            memory_mb: self.memory,
        };
        self.mips.iter().map(machine).map(|m| m.check().map(|()| m)).collect()
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
            for probe in &self.probes {
                for seed in &seeds {
                    let spec = CellSpec {
                        probe: *probe,
                        load: load.clone(),
                        period: self.period,
                        periods: self.samples,
                        seed: *seed,
                        warmup: self.warmup,
                        priority: self.priority,
                    };
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
            load.parse::<LoadSpec>().map_err(|e| LabError::Request(e.to_string()))?;
        }
        Ok(loads)
    }

    /// The command that gives the same run: everything that shapes the result, and nothing else.
    fn command(&self) -> Vec<String> {
        let mut words: Vec<String> = ["worstcase", "lab", "run"].map(str::to_string).to_vec();
        let mut option = |name: &str, value: String| words.extend([name.to_string(), value]);
        self.kernels.iter().for_each(|k| option("--kernel", k.clone()));
        if !self.preempt.is_empty() {
            option("--preempt", self.preempt.join(","));
        }
        self.loads.iter().for_each(|l| option("--load", l.clone()));
        option(
            "--probe",
            self.probes.iter().map(|p| p.name()).collect::<Vec<_>>().join(","),
        );
        option("--samples", self.samples.to_string());
        match self.seed {
            Some(seed) => option("--seed", seed.to_string()),
            None => option("--seeds", self.seeds.to_string()),
        }
        option("--period", duration::show(self.period));
        option("--warmup", duration::show(self.warmup));
        option("--priority", self.priority.to_string());
        option(
            "--mips",
            self.mips.iter().map(Mips::to_string).collect::<Vec<_>>().join(","),
        );
        option("--memory", self.memory.to_string());
        self.added
            .iter()
            .for_each(|a| option("--add", format!("{}:{}", file_name(&a.source), a.dest)));
        words
    }
}

/// A number of things of which there must be one.
fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "write a whole number of at least 1".to_string())
}

/// Where a file lies on the desk is not part of the result.
fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn load_help() -> String {
    let mut help = String::from("Loads, separated by commas; cmd:... alone, given again for more:\n");
    for load in &LOADS {
        let name = if load.parameter.is_empty() {
            load.name.to_string()
        } else {
            format!("{}:{}", load.name, load.parameter)
        };
        help += &format!("  {name:<12} {}\n", load.about);
    }
    help
}
