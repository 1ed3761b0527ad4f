//! `worstcase lab run|sensitivity|verify`.

mod elsewhere;
mod how;
mod operations;
mod selection;
mod sensitivity;
mod versions;

use super::ahead::{self, MissingKernels};
use super::jobs::positive;
use super::kept::{KeptArgs, LAB_RUN};
use super::output::print;
use super::progress::ProgressDisplay;
use super::{census, explanations, show, stop};
use crate::cli::error::Error;
use crate::cli::words::VERSION;
use clap::{Args, Subcommand};
pub(crate) use elsewhere::MatrixMeans;
pub(crate) use how::{ExecutorArgs, MatrixRunArgs, QemuArgs};
pub use operations::{OperationsArgs, run as run_operations};
pub(crate) use selection::{CellSelection, KernelArgs};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_analysis::census::take::CensusMeans;
use worstcase_analysis::explain::ReplayMeans;
use worstcase_base::cache::Cache;
use worstcase_base::output::BegunFolder;
use worstcase_base::progress::Progress;
use worstcase_base::say;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::additions::Additions;
use worstcase_lab::ahead::LabAhead;
use worstcase_lab::followed::FollowTelling;
use worstcase_lab::matrix::LabMatrix;
use worstcase_lab::models::planned;
use worstcase_lab::verify::{Verification, boot_again, verify};
use worstcase_plan::ExperimentPlan;
use worstcase_remote::{ExecutorChoice, slurm, ssh};
use worstcase_report::follow;
use worstcase_results::record::{CompletedCells, Run, RunPlan};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Measure every combination of kernels, preemption models, loads, probes and seeds
    Run(Box<LabRunArgs>),
    /// Measure one cell on other machines: does its maximum hold there?
    Sensitivity(Box<sensitivity::SensitivityArgs>),
    /// Run one cell again and again, also on a busy machine, and fail on the first different digest
    Verify(Box<VerifyArgs>),
}

/// Examples of the group.
pub(super) const HELP: &str = "\
Examples:
  worstcase lab run --kernel debian:6.1 --load shm,fork
  worstcase lab sensitivity RUN --cell full.shm.wakeup.s1
  worstcase lab verify --kernel debian:6.1 --preempt none --load fork --seed 1";

const VERIFY_HELP: &str = "\
Examples:
  worstcase lab verify --kernel debian:6.1 --preempt none --load fork --seed 1
  worstcase lab verify --kernel debian:6.1 --seed 1 --runs 4 --fresh-boots
  worstcase lab verify --kernel debian:6.1 --load shm,fork --seed 1 --runs 2 --checkpoints

Exit code: 0 one digest, 4 two runs of a cell differ.";

const RUN_HELP: &str = "\
Examples:
  worstcase lab run --kernel debian:6.1 --load shm,fork
  worstcase lab run --kernel debian:6.12,debian:6.12-rt --seeds 10 -o two-kernels
  worstcase lab run --kernel debian:6.12-cloud --all-versions --load fork -o versions
  worstcase lab run --kernel ./bzImage,config=.config --load fork --criterion 100us
  worstcase lab run --kernel ./linux+CONFIG_PREEMPT=n --kernel ./linux+CONFIG_PREEMPT=y --load fork
  worstcase lab run --kernel debian:6.1 --probe switch:2/16x0/16k,inversion
  worstcase lab run --kernel debian:6.1 --probe hackbench:1/4+pipes/sockets
  worstcase lab run --kernel debian:6.1 --preempt full --cpus 4 --probe remote,shootdown:0/1/3
  worstcase lab run --kernel debian:6.1 --add /usr/bin/stress-ng --load 'cmd:stress-ng --vm 1'
  worstcase lab run --kernel debian:6.1 --program ./control --load idle,fork --time 2s
  worstcase lab run --kernel debian:6.1 --preempt full --module './driver.ko budget=64' --load idle
  worstcase lab run --kernel debian:6.1 --load fork --executor slurm:partition=short,time=01:00:00

Without -o the run is kept in worstcase-run. A run that was interrupted (Ctrl-C ends it) goes on where it stopped when the same is asked again.
Times are virtual: instructions at a stated rate. A cell that was measured before, with the same
inputs, is taken from the cache.

Exit code: 0 everything was measured, whatever the verdicts: worstcase verdict and gate decide by them.";

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct LabRunArgs {
    #[command(flatten)]
    kernels: KernelArgs,
    /// Every version of each series named with --kernel that the archive still has (see `worstcase history`)
    #[arg(long)]
    all_versions: bool,
    #[command(flatten)]
    selection: CellSelection,
    #[command(flatten)]
    kept: KeptArgs,
    #[command(flatten)]
    how: MatrixRunArgs,
}

impl LabRunArgs {
    /// The experiment, and the run's folder.
    pub fn plan(&self) -> Result<(ExperimentPlan, PathBuf), Error> {
        let kernels = match self.all_versions {
            false => self.kernels.names(),
            true => versions::of_series(
                &self.kernels.names(),
                &ResolveOptions::from_cache(&ProgressDisplay::new())?,
            )?,
        };
        let experiment = self.selection.experiment(&kernels, self.kept.criterion)?;
        let plan = ExperimentPlan::new("lab run", experiment);
        let output = self.kept.output.clone();
        Ok((plan, output.unwrap_or_else(|| LAB_RUN.into())))
    }
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_HELP)]
pub struct VerifyArgs {
    #[command(flatten)]
    kernels: KernelArgs,
    #[command(flatten)]
    selection: CellSelection,
    /// Runs of each cell; the second half with every CPU of this machine kept busy
    #[arg(long, value_name = "N", default_value = "20", value_parser = positive)]
    runs: NonZeroUsize,
    /// Boot the subject anew for every run, instead of forking one snapshot
    #[arg(long)]
    fresh_boots: bool,
    /// Run each cell on from each of its checkpoints, too, from which explain and census begin
    #[arg(long)]
    checkpoints: bool,
    #[command(flatten)]
    qemu: QemuArgs,
}

/// Arguments of `lab-node`.
#[derive(Debug, Args)]
pub struct NodeArgs {
    /// The job's folder
    folder: PathBuf,
    /// Which task
    task: usize,
}

/// Runs `lab-node`.
pub fn run_node(args: &NodeArgs) -> Result<ExitCode, Error> {
    let cache = Cache::open()?;
    slurm::node::run(&args.folder, args.task, &cache, &ProgressDisplay::new())?;
    Ok(ExitCode::SUCCESS)
}

/// Arguments of `lab-worker`.
#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// The QEMU to use
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
}

/// Runs `lab-worker`.
pub fn run_worker(args: &WorkerArgs) -> Result<ExitCode, Error> {
    let cache = Cache::open()?;
    ssh::worker::run(VERSION, args.qemu.as_deref(), &cache, &ProgressDisplay::new())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a subcommand.
pub fn run(command: LabCommand) -> Result<ExitCode, Error> {
    match command {
        LabCommand::Run(args) => {
            let (plan, output) = args.plan()?;
            measure(plan, &output, &args.how)
        }
        LabCommand::Sensitivity(args) => sensitivity::run(&args),
        LabCommand::Verify(args) => run_verify(&args),
    }
}

/// Measures into the run folder and shows what came out.
pub fn measure(plan: ExperimentPlan, output: &Path, how: &MatrixRunArgs) -> Result<ExitCode, Error> {
    if how.census {
        plan.experiment.check_census()?;
    }
    let terminal = ProgressDisplay::new();
    Run::check_place(output)?;
    let stop = how.executor.stop();
    let options = ResolveOptions {
        stop: stop.clone(),
        ..ResolveOptions::from_cache(&terminal)?
    };
    let qemus = how.qemu.find(&options, &plan.experiment)?;
    let additions = Additions::of(&plan.experiment)?;
    let means = MatrixMeans {
        executor: &how.executor.executor,
        jobs: how.jobs.count(),
        qemus: &qemus,
        named: how.qemu.path(),
        limit: how.qemu.limit(),
        options: &options,
        stop: &stop,
    };
    let _begun = BegunFolder::at(output);
    if let Some(missing) = MissingKernels::of(&plan.experiment, &options.cache).words() {
        options.progress.ahead(&missing);
    }
    let (run, matrix) = begin(plan, output, &additions, &means)?;
    if how.executor.executor == ExecutorChoice::Local {
        let ahead = LabAhead::of_matrix(&matrix, &options.cache, means.jobs, |id| run.has_cell(id))?;
        if let Some(words) = ahead::words(&ahead) {
            options.progress.ahead(&words);
        }
    }
    let interrupted = stop::tells_what_is_kept(&run);
    let outcome = execute(&run, matrix, &means)?;
    drop(interrupted);
    stop::tell(outcome, &run);
    if outcome.measured == 0 {
        return Ok(stop::interrupted());
    }
    if outcome.measured == outcome.of && how.executor.executor == ExecutorChoice::Local {
        let replay = ReplayMeans {
            qemu: how.qemu.path(),
            additions: &additions,
            debug_info: None,
            options: &options,
        };
        explanations::find(&replay, &run, &run.records()?, means.jobs)?;
    }
    let shown = show::summary(&run)?;
    if how.census && outcome.measured == outcome.of {
        let what = CensusMeans {
            qemus: &qemus,
            additions: &additions,
            options: &options,
            limit: how.qemu.limit(),
            cpu: None,
            audit: false,
        };
        census::summary(&run, &what, how.jobs.count())?;
    }
    Ok(stop::code(outcome, shown))
}

/// Measures the cells that a plan's run folder lacks.
pub fn run_cells(
    plan: ExperimentPlan,
    output: &Path,
    additions: &Additions,
    means: &MatrixMeans,
) -> Result<(Run, CompletedCells), Error> {
    let (run, matrix) = begin(plan, output, additions, means)?;
    let outcome = execute(&run, matrix, means)?;
    Ok((run, outcome))
}

fn begin(
    plan: ExperimentPlan,
    output: &Path,
    additions: &Additions,
    means: &MatrixMeans,
) -> Result<(Run, LabMatrix), Error> {
    let progress = means.options.progress;
    progress.state("preparing kernels and machines");
    let cells = planned(&plan.experiment, means.options)?;
    let mut matrix = LabMatrix::prepare(&cells, additions, means.qemus, means.options)?;
    matrix.telling = Some(FollowTelling {
        deadline: plan.experiment.criterion,
        tell: follow::kept,
    });
    progress.end();
    let entries = matrix.cells().iter().map(|cell| cell.entry.clone()).collect();
    let run = Run::create(output, RunPlan::new(plan, entries))?;
    Ok((run, matrix))
}

fn execute(run: &Run, matrix: LabMatrix, means: &MatrixMeans) -> Result<CompletedCells, Error> {
    let bar = ProgressDisplay::new();
    let outcome = means.execute(matrix, run, &bar);
    bar.end();
    outcome
}

fn run_verify(args: &VerifyArgs) -> Result<ExitCode, Error> {
    let terminal = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&terminal)?;
    let experiment = args.selection.experiment(&args.kernels.names(), None)?;
    let qemus = args.qemu.find(&options, &experiment)?;
    let planned = planned(&experiment, &options)?;
    let matrix = LabMatrix::prepare(&planned, &Additions::of(&experiment)?, &qemus, &options)?;
    if !args.fresh_boots {
        for prepared in matrix.subjects() {
            boot_again(&options.cache, prepared, args.qemu.limit())?;
            say!("{}: booted again, the same machine", prepared.subject.label());
        }
    }
    for cell in matrix.cells() {
        let what = Verification {
            prepared: matrix.subject(cell),
            spec: &cell.spec,
            runs: args.runs.get(),
            fresh_boots: args.fresh_boots,
            checkpoints: args.checkpoints,
            limit: args.qemu.limit(),
        };
        let found = verify(&options.cache, &what, |number, busy, digest| {
            let host = if busy { "busy" } else { "as it is" };
            say!("{} run {number}, this machine {host}: {digest}", cell.entry.id);
        })?;
        let checkpoints = match args.checkpoints {
            true => format!(", also on from {} checkpoints", found.checkpoints),
            false => String::new(),
        };
        print(&format!(
            "{}: {} runs, one digest{checkpoints}: {}\n",
            cell.entry.id, args.runs, found.digest
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
