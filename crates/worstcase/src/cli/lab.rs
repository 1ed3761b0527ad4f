//! `worstcase lab run|verify`.

mod how;
mod selection;

use super::census;
use super::output::print;
use super::progress::{Bar, Terminal};
use super::show;
use crate::cli::Error;
use clap::{Args, Subcommand};
pub use how::How;
use how::{QemuArgs, positive};
use selection::Selection;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use worstcase_base::duration;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::added::Added;
use worstcase_lab::matrix::{Execution, Matrix};
use worstcase_lab::study::PlannedCell;
use worstcase_lab::verify::{Verification, boot_again, verify};
use worstcase_probe::Nanos;
use worstcase_results::record::{Run, RunPlan};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Measure every combination of kernels, preemption models, loads, probes and seeds
    Run(RunArgs),
    /// Run one cell again and again, also on a busy machine, and fail on the first different digest
    Verify(VerifyArgs),
}

/// Examples of the group.
pub(super) const HELP: &str = "\
Examples:
  worstcase lab run --kernel debian:6.1 --load shm,fork
  worstcase lab verify --kernel debian:6.1 --preempt none --load fork --seed 1";

const VERIFY_HELP: &str = "\
Examples:
  worstcase lab verify --kernel debian:6.1 --preempt none --load fork --seed 1
  worstcase lab verify --kernel debian:6.1 --seed 1 --runs 4 --fresh-boots

Exit code: 0 one digest, 4 two runs of a cell differ.";

const RUN_HELP: &str = "\
Examples:
  worstcase lab run --kernel debian:6.1 --load shm,fork
  worstcase lab run --kernel debian:6.12 --kernel debian:6.12-rt --seeds 10 -o two-kernels
  worstcase lab run --kernel ./bzImage,config=.config --load fork --criterion 100us
  worstcase lab run --kernel debian:6.1 --probe switch:2/16x0/16k,inversion
  worstcase lab run --kernel debian:6.1 --probe hackbench:1/4+pipes/sockets
  worstcase lab run --kernel debian:6.1 --add /usr/bin/stress-ng --load 'cmd:stress-ng --vm 1'

A run that was interrupted goes on where it stopped when the same command is given again.
Times are virtual: instructions at a stated rate. A cell that was measured before, with the same
inputs, is taken from the cache.

Exit code: 0 everything was measured, whatever the verdicts: worstcase verdict and gate decide by them.";

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct RunArgs {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    how: How,
    /// Judge every subject: no latency above this, e.g. 100us [default: 100us if inversion is the only probe]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    criterion: Option<Nanos>,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_HELP)]
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
        plan.criterion_ns = args.criterion.or(selection.usual_criterion()).map(|c| c.0);
        plan
    };
    measure(&|terminal| selection.plan(terminal), &selection.added, &args.how, &plan)
}

/// Measures planned cells into the run folder and shows what came out.
pub fn measure(
    planned: &dyn Fn(&ResolveOptions<'_>) -> Result<Vec<PlannedCell>, Error>,
    added: &[Added],
    how: &How,
    plan: &dyn Fn(Vec<worstcase_results::record::CellEntry>) -> RunPlan,
) -> Result<ExitCode, Error> {
    let terminal = Terminal::default();
    let options = ResolveOptions::from_cache(&terminal)?;
    let qemu = how.qemu.find(&options.cache)?;
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
    let terminal = Terminal::default();
    let options = ResolveOptions::from_cache(&terminal)?;
    let qemu = args.qemu.find(&options.cache)?;
    let matrix = Matrix::prepare(&args.selection.plan(&options)?, &args.selection.added, &qemu, &options)?;
    if !args.fresh_boots {
        for prepared in matrix.subjects() {
            boot_again(&options.cache, prepared, args.qemu.limit())?;
            eprintln!("{}: booted again, the same machine", prepared.subject.label());
        }
    }
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
        print(&format!(
            "{}: {} runs, one digest: {digest}\n",
            cell.entry.id, args.runs
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
