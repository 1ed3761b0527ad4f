//! `worstcase census`: every stretch of a cell in which a wake-up had to wait.

use super::cell_names;
use super::jobs::Jobs;
use super::output::print;
use super::progress::ProgressDisplay;
use super::replay::ReplayArgs;
use super::slurm::with_slurm;
use super::stop;
use crate::cli::error::Error;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_analysis::census::take::CensusMeans;
use worstcase_analysis::census::{CensusAnswer, CensusQuestion, WorkShare, answer, of_run, of_share};
use worstcase_base::cache::Cache;
use worstcase_base::progress::Progress;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_lab::qemu::Qemus;
use worstcase_remote::slurm::Slurm;
use worstcase_remote::slurm::shares::{self, JobShares};
use worstcase_remote::{ExecutorChoice, RemoteError};
use worstcase_report::census;
use worstcase_report::terminal::Style;
use worstcase_results::record::Run;

/// Owners of the longest sections that are shown, unless asked otherwise.
const OWNERS: usize = 10;

/// The option that [`for_a_share`] replaces.
const EXECUTOR: &str = "--executor";
/// Memory that a node needs beside the machine's own: it holds a replay's log.
const MORE_MEMORY_MB: u32 = 2_048;

/// Every stretch of a cell in which interrupts or preemption were off: replays it and counts, instruction by instruction
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase census RUN                                   a table of all cells, seeds of a subject together
  worstcase census RUN --cell full.shm.wakeup.s1
  worstcase census RUN --cell ID --cpu 0                 of several CPUs, another one than the probe's
  worstcase census RUN --cell ID --diff OTHER-ID         what the other cell of this run does otherwise
  worstcase census RUN --cell ID --diff OTHER-RUN        the other run's cell with the same load, probe and seed
  worstcase census RUN --cell ID --diff OTHER-RUN/cells/OTHER-ID
  worstcase census RUN --executor slurm:partition=short  the nodes of a cluster replay the cells

Only in the lab, and only of wakeup and response: the others wait for no timer.
The replay must give the same samples and events again; if it does not, nothing is told.")]
pub struct CensusArgs {
    /// The run's folder
    run: PathBuf,
    /// One cell, in detail [default: a table of all; in detail if there is only one]
    #[arg(long, value_name = "ID", add = cell_names::cells())]
    cell: Option<String>,
    /// What changes from the cell to this one: an ID, another run's folder, or a folder of one of its cells
    #[arg(long, value_name = "OTHER", requires = "cell")]
    diff: Option<String>,
    /// So many of the longest sections
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::new(OWNERS).unwrap())]
    top: NonZeroUsize,
    /// Print JSON (worstcase-census/4), times in ns
    #[arg(long)]
    json: bool,
    /// Of several CPUs: which one [default: the probe's]
    #[arg(long, value_name = "CPU", requires = "cell", conflicts_with = "diff")]
    cpu: Option<u32>,
    /// Compare the tracked state with the kernel's own at every block, and fail on the first difference
    #[arg(long)]
    audit: bool,
    /// Only replay the I-th of N shares of the cells, into the cache: for work that is divided
    #[arg(long, value_name = "I/N", conflicts_with_all = ["cell", "executor"])]
    share: Option<WorkShare>,
    /// Which machines replay the cells of a whole run: local, or slurm[:NAME=VALUE,...] (see docs/cluster.md)
    #[arg(long, value_name = "EXECUTOR", default_value = "local", conflicts_with = "cell")]
    executor: ExecutorChoice,
    /// How many at once.
    #[command(flatten)]
    jobs: Jobs,
    /// What replays it
    #[command(flatten)]
    replay: ReplayArgs,
}

/// Runs the command.
pub fn run(args: &CensusArgs) -> Result<ExitCode, Error> {
    let bar = ProgressDisplay::new();
    let answer = taken(args, &bar);
    bar.end();
    let Some(answer) = answer? else {
        return Ok(match stop::is_asked() {
            true => stop::interrupted(),
            false => ExitCode::SUCCESS,
        });
    };
    print(&match args.json {
        true => census::json(&answer),
        false => census::text(&answer, args.top.get(), Style::of_stdout()),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// None if there is nothing to show yet.
fn taken(args: &CensusArgs, bar: &ProgressDisplay) -> Result<Option<CensusAnswer>, Error> {
    let run = Run::open(&args.run)?;
    let terminal = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
    let qemus = Qemus::new(args.replay.qemu.as_deref(), &options.cache, options.progress);
    let how = CensusMeans {
        qemus: &qemus,
        additions: &args.replay.added.named()?,
        options: &options,
        limit: None,
        cpu: args.cpu,
        audit: args.audit,
    };
    let (jobs, top) = (args.jobs.count(), args.top.get());
    if let Some(share) = args.share {
        of_share(&run, share, &how, jobs, bar)?;
        return Ok(None);
    }
    if !replayed_elsewhere(args, &run, &options.cache, bar)? {
        return Ok(None);
    }
    let asked = match (&args.cell, &args.diff) {
        (Some(cell), Some(other)) => CensusQuestion::Difference(cell, other),
        (Some(cell), None) => CensusQuestion::Cell(cell),
        (None, _) => CensusQuestion::Run,
    };
    Ok(Some(answer(&run, asked, &how, jobs, top, bar)?))
}

/// Lets other machines replay the cells into the cache, if that is wanted; false if it was not done.
fn replayed_elsewhere(args: &CensusArgs, run: &Run, cache: &Cache, bar: &ProgressDisplay) -> Result<bool, Error> {
    let options = match &args.executor {
        ExecutorChoice::Local => return Ok(true),
        ExecutorChoice::Slurm(options) => options,
        ExecutorChoice::Ssh(hosts) => {
            let why = "a census takes local or slurm: replays name functions by the kernel's package, which machines of \
                       ssh do not have";
            return Err(RemoteError::Choice(format!("ssh:{}", hosts.display()), why.into()).into());
        }
    };
    let (cells, memory_mb) = size(run)?;
    let shares = JobShares {
        command: for_a_share(),
        count: shares::count(cells, options),
        memory_mb: memory_mb + MORE_MEMORY_MB,
    };
    let stop = stop::in_order("ending what other machines do");
    with_slurm(options, cache, bar, |how| {
        Ok(shares::all(&shares, how, Slurm, bar, &stop)?)
    })
}

/// Cells that a census is taken of, and the memory of the largest machine.
fn size(run: &Run) -> Result<(usize, u32), Error> {
    let records = run.records()?;
    let machines = records.iter().filter_map(|record| record.subject.virtual_machine());
    let memory_mb = machines.map(|machine| machine.memory_mb).max();
    let cells = records.iter().filter(|record| record.awaits_timer()).count();
    Ok((cells.max(1), memory_mb.unwrap_or_default()))
}

/// This command, with a share in the place of the executor.
fn for_a_share() -> Vec<String> {
    let mut words = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word.strip_prefix(EXECUTOR) {
            Some("") => drop(words.next()),
            Some(value) if value.starts_with('=') => {}
            _ => kept.push(word),
        }
    }
    kept.push("--share".into());
    kept
}

/// Prints a table of all cells of a run that was just measured.
pub fn summary(run: &Run, how: &CensusMeans, jobs: NonZeroUsize) -> Result<(), Error> {
    let bar = ProgressDisplay::new();
    let ensembles = of_run(run, how, jobs, OWNERS, &bar);
    bar.end();
    let text = census::run(&ensembles?, OWNERS, Style::of_stdout());
    Ok(print(&format!("\n{text}"))?)
}
