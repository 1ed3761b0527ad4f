//! `worstcase census`: every stretch of a cell in which a wake-up had to wait.

use super::Error;
use super::completions;
use super::lab::Jobs;
use super::output::print;
use super::progress::{Bar, Terminal};
use super::replay::ReplayArgs;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
pub use worstcase_analysis::census::take::How;
use worstcase_analysis::census::{Answer, Asked, CensusError, answer, of_run};
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_lab::qemu::Qemu;
use worstcase_report::census;
use worstcase_report::terminal::Style;
use worstcase_results::record::Run;

/// Owners of the longest sections that are shown, unless asked otherwise.
const OWNERS: usize = 10;

/// Every stretch of a cell in which interrupts or preemption were off: replays it and counts, instruction by instruction
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase census RUN                                   a table of all cells, seeds of a subject together
  worstcase census RUN --cell 6.1.0-56-amd64.full.shm.wakeup.s1
  worstcase census RUN --cell ID --cpu 0                 of several CPUs, another one than the probe's
  worstcase census RUN --cell ID --diff OTHER-ID         what the other cell of this run does otherwise
  worstcase census RUN --cell ID --diff OTHER-RUN        the other run's cell with the same load, probe and seed
  worstcase census RUN --cell ID --diff OTHER-RUN/cells/OTHER-ID

Only in the lab, and only of wakeup and response: the others wait for no timer.
The replay must give the same samples and events again; if it does not, nothing is told.")]
pub struct CensusArgs {
    /// The run's folder
    run: PathBuf,
    /// One cell, in detail [default: a table of all; in detail if there is only one]
    #[arg(long, value_name = "ID", add = completions::cells())]
    cell: Option<String>,
    /// What changes from the cell to this one: an ID, another run's folder, or a folder of one of its cells
    #[arg(long, value_name = "OTHER", requires = "cell")]
    diff: Option<String>,
    /// So many of the longest sections
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::new(OWNERS).unwrap())]
    top: NonZeroUsize,
    /// Print JSON (worstcase-census/2), times in ns
    #[arg(long)]
    json: bool,
    /// Of several CPUs: which one [default: the probe's]
    #[arg(long, value_name = "CPU", requires = "cell", conflicts_with = "diff")]
    cpu: Option<u32>,
    /// Compare the tracked state with the kernel's own at every block, and fail on the first difference
    #[arg(long)]
    audit: bool,
    /// How many at once.
    #[command(flatten)]
    jobs: Jobs,
    /// What replays it
    #[command(flatten)]
    replay: ReplayArgs,
}

/// Runs the command.
pub fn run(args: &CensusArgs) -> Result<ExitCode, Error> {
    let answer = taken(args).map_err(Error::Census)?;
    print(&match args.json {
        true => census::json(&answer),
        false => census::text(&answer, args.top.get(), Style::of_stdout()),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn taken(args: &CensusArgs) -> Result<Answer, CensusError> {
    let run = Run::open(&args.run)?;
    let terminal = Terminal::default();
    let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
    let qemu = Qemu::find(args.replay.qemu.as_deref(), &options.cache, options.observer)?;
    let how = How {
        qemu: &qemu,
        additions: &args.replay.added.named(),
        options: &options,
        limit: None,
        cpu: args.cpu,
        audit: args.audit,
    };
    let asked = match (&args.cell, &args.diff) {
        (Some(cell), Some(other)) => Asked::Difference(cell, other),
        (Some(cell), None) => Asked::Cell(cell),
        (None, _) => Asked::Run,
    };
    let bar = Bar::new();
    let answer = answer(&run, asked, &how, args.jobs.count(), args.top.get(), &bar);
    bar.finish();
    answer
}

/// Prints a table of all cells of a run that was just measured.
pub fn summary(run: &Run, how: &How, jobs: NonZeroUsize) -> Result<(), Error> {
    let bar = Bar::new();
    let ensembles = of_run(run, how, jobs, OWNERS, &bar);
    bar.finish();
    let text = census::run(&ensembles?, OWNERS, Style::of_stdout());
    Ok(print(&format!("\n{text}"))?)
}
