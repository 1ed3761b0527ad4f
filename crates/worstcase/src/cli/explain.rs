//! `worstcase explain`: why a sample was late.

use super::against;
use super::breakdown_files::{BreakdownFiles, ShowBreakdownError};
use super::cell_names;
use super::error::Error;
use super::followed;
use super::jobs::Jobs;
use super::output::print;
use super::progress::ProgressDisplay;
use super::replay::ReplayArgs;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_analysis::breakdown::{Breakdown, group};
use worstcase_analysis::explain::{
    self, ExplainError, Explained, ReplayMeans, SampleChoice, can_be_explained, comparable, worst_cell,
};
use worstcase_analysis::noise::{self, Entered};
use worstcase_analysis::operation::{self, Operation};
use worstcase_base::ExitKind;
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_report::breakdown::cells_on_machine::CellsOnMachine;
use worstcase_report::breakdown::on_machine::PathOnMachine;
use worstcase_report::breakdown::{self as shown, compare, json, terminal};
use worstcase_report::terminal::Style;
use worstcase_results::record::{Record, Run, Venue, parallel};
use worstcase_timing::Calibration;

/// Why a sample was late: replays its cell and tells what ran, instruction by instruction
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase explain RUN
  worstcase explain RUN --cell none.shm.wakeup.s1 --sample p99.9
  worstcase explain RUN --compare full.shm.wakeup.s1 --flame grown.svg
  worstcase explain RUN --all -k 5
  worstcase explain HOSTRUN --against LABRUN      whether the path that is blamed can take so long
  worstcase explain RUN --costs                   whether a path is long or misses caches
  worstcase explain RUN --on-machine here.json    what it would take on a calibrated machine (--all: of each cell)
  worstcase explain RUN --perfetto trace.json     (open it at ui.perfetto.dev)

Of this machine, breakdowns are made from the traces that `worstcase host run --captures N` kept (response keeps 10).
Of noise in the lab: what entered the CPU in all gaps of a cell, and who sent it; without --cell, of every cell.
Of io in the lab: what the disk did during the longest operation of the run, of a cell (--cell) or of each (--all); no replay.
switch, hackbench and spawn have no worst wake-up: they are not explained (but see --on-machine). Of remote, irq and shootdown, cells of the lab are.
Of inversion, why a blocked thread waited. Of a program of your own, what was found while it was followed; in the lab (lab run
--program) with the functions of a cycle, the kernel's and its own.
The replay must give the same samples and events again; if it does not, nothing is explained.
After `worstcase kernels get --debug KERNEL` its breakdowns have lines of source code.")]
pub struct ExplainArgs {
    /// The run's folder
    run: PathBuf,
    /// The cell [default: the one with the highest latency]
    #[arg(long, value_name = "ID", add = cell_names::cells())]
    pub(super) cell: Option<String>,
    /// Which sample: worst, its number, or a percentile such as p99.9
    #[arg(long, value_name = "SAMPLE", default_value = "worst", conflicts_with = "all")]
    pub(super) sample: SampleChoice,
    /// Lay a sample of another cell beside it: the same percentile, else the worst; of programs all cycles, of another run's
    /// folder too
    #[arg(long, value_name = "ID", add = cell_names::cells(), conflicts_with = "all")]
    compare: Option<String>,
    /// Of this machine: whether the paths that are blamed can take so long, by a run of the lab with the same kernel series and
    /// load
    #[arg(long, value_name = "LABRUN", conflicts_with_all = ["compare", "folded", "flame", "perfetto", "debug_info"])]
    against: Option<PathBuf>,
    /// What each span consists of: misses of caches, entries, locks; of cells of the lab with one CPU
    #[arg(long, conflicts_with_all = ["all", "compare", "against", "folded", "flame", "perfetto", "debug_info"])]
    costs: bool,
    /// What each span would take on the machine of this calibration (worstcase host calibrate); with --all, and of switch, spawn,
    /// pick and io, a line for each cell; with --against the upper rate that is measured there
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compare", "costs", "folded", "flame", "perfetto", "debug_info"])]
    pub(super) on_machine: Option<PathBuf>,
    /// Group the worst samples of every cell by cause
    #[arg(long)]
    pub(super) all: bool,
    /// Samples of each cell, with --all
    #[arg(short = 'k', value_name = "N", default_value_t = NonZeroUsize::new(5).unwrap(), requires = "all", conflicts_with = "on_machine")]
    pub(super) each: NonZeroUsize,
    /// Print JSON (worstcase-breakdown/2; with --against worstcase-against/1), times in ns
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    files: BreakdownFiles,
    /// A vmlinux of the kernel with debug information [default: what `kernels get --debug` brought]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["all", "compare"])]
    debug_info: Option<PathBuf>,
    /// How many at once.
    #[command(flatten)]
    pub(super) jobs: Jobs,
    /// What replays it
    #[command(flatten)]
    pub(super) replay: ReplayArgs,
}

/// Runs the command.
pub fn run(args: &ExplainArgs) -> Result<ExitCode, Error> {
    let run = Run::open(&args.run)?;
    let mut records = run.records()?;
    if let Some(lab) = &args.against {
        return against::run(args, &run, &records, lab);
    }
    if let Some(file) = &args.on_machine {
        print(&on_machine(args, &run, &records, &Calibration::read(file)?)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.costs {
        print(&costs(args, &run, &records)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(text) = found(args, &run, &records)? {
        print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(operations) = operations(args, &run, &records)? {
        print(&match args.json {
            true => worstcase_report::operation::json(&operations),
            false => worstcase_report::operation::terminal(&operations, Style::of_stdout()),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.cell.is_none() && records.iter().any(can_be_explained) {
        records.retain(can_be_explained);
    }
    let terminal = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
    let additions = args.replay.added.named()?;
    let means = args.replay.means(&additions, &options, args.debug_info.as_deref());
    let noise = noise(args, &run, &records)?;
    if args.cell.is_none() && noise.is_empty() {
        records.retain(|r| !is_noise(r));
    }
    let text = match args.all {
        _ if !noise.is_empty() => entered(args, &means, &run, &noise)?,
        true => all(args, &means, &run, &records)?,
        false => one(args, &means, &run, &records)?,
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The record of the cell that was asked for.
fn named(args: &ExplainArgs, run: &Run) -> Result<Option<Record>, Error> {
    Ok(args.cell.as_ref().map(|id| run.record_of(id)).transpose()?)
}

/// What the spans of one sample consist of.
fn costs(args: &ExplainArgs, run: &Run, records: &[Record]) -> Result<String, Error> {
    let told = with_costs(args, run, records, named(args, run)?)?;
    Ok(match args.json {
        true => json::breakdown(&told),
        false => shown::costs::terminal(&told, Style::of_stdout()),
    })
}

/// The breakdown of one sample of a cell, else of the worst one, with what its spans consist of.
fn with_costs(args: &ExplainArgs, run: &Run, records: &[Record], named: Option<Record>) -> Result<Breakdown, Error> {
    let terminal = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
    let additions = args.replay.added.named()?;
    let means = args.replay.means(&additions, &options, None);
    let record = match named {
        Some(record) => record,
        None => worst_cell(run, records)?.clone(),
    };
    Ok(explain::with_costs(&means, run, records, &record, args.sample)?)
}

/// What the spans of one sample would take on a machine; of several cells, and of samples without spans, each one as a whole.
fn on_machine(args: &ExplainArgs, run: &Run, records: &[Record], there: &Calibration) -> Result<String, Error> {
    let named = named(args, run)?;
    let has_spans = match &named {
        Some(record) => can_be_explained(record),
        None => records.iter().any(can_be_explained),
    };
    if has_spans && !args.all {
        let told = with_costs(args, run, records, named)?;
        let path = PathOnMachine::of(&told, there);
        return Ok(match args.json {
            true => path.json(),
            false => path.terminal(Style::of_stdout()),
        });
    }
    let bar = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&bar).map_err(LabError::from)?;
    let additions = args.replay.added.named()?;
    let means = args.replay.means(&additions, &options, None);
    let only = named.as_ref().map(|record| (record, args.sample));
    let paths = explain::counted_paths(&means, run, records, only, args.jobs.count(), &bar);
    bar.end();
    let paths = paths?;
    let cells = CellsOnMachine::of(&paths, there);
    Ok(match args.json {
        true => cells.json(),
        false => cells.terminal(Style::of_stdout()),
    })
}

/// What was found while a program of the user's own was followed.
fn found(args: &ExplainArgs, run: &Run, records: &[Record]) -> Result<Option<String>, Error> {
    let named = named(args, run)?;
    let Some(record) = named
        .as_ref()
        .or(followed::worst(records))
        .filter(|r| r.followed.is_some())
    else {
        return Ok(None);
    };
    if args.all {
        let all: Vec<&Record> = match &named {
            Some(record) => vec![record],
            None => records.iter().filter(|r| r.followed.is_some()).collect(),
        };
        return Ok(Some(followed::all(run, &all, args.json)?));
    }
    if let Some(other) = &args.compare {
        if args.sample != SampleChoice::Worst || args.files.are_asked_for() {
            return Err(ShowBreakdownError::AllCycles(record.id.clone()).into());
        }
        return Ok(Some(followed::compared(run, record, other, args.json)?));
    }
    if record.subject.venue() == Venue::Lab {
        return Ok(Some(replayed(args, run, record)?));
    }
    if args.sample != SampleChoice::Worst {
        return Err(ShowBreakdownError::AsFollowed(record.id.clone()).into());
    }
    Ok(Some(followed::told(run, record, args.json, &args.files)?))
}

/// A cycle of a program that was followed in the lab, with its functions. Where its cell cannot be replayed here, what was found
/// while it was followed, if no more is asked for.
fn replayed(args: &ExplainArgs, run: &Run, record: &Record) -> Result<String, Error> {
    let terminal = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
    let additions = args.replay.added.named()?;
    let means = args.replay.means(&additions, &options, args.debug_info.as_deref());
    let needs_replay = args.json
        || args.files.are_asked_for()
        || args.sample != SampleChoice::Worst
        || args.debug_info.is_some()
        || args.replay.qemu.is_some();
    match explain::cycle(&means, run, record, args.sample) {
        Ok(cycle) => followed::replayed(run, record, &cycle, args.json, &args.files),
        Err(e) if !needs_replay && matches!(e.exit(), ExitKind::Missing | ExitKind::Usage) => {
            let told = followed::told(run, record, false, &args.files)?;
            Ok(format!("{told}its functions are not known: {e}\n"))
        }
        Err(e) => Err(e.into()),
    }
}

/// The longest operation of the cell with files that is asked for, or of the one that has the longest if there are no other
/// cells to explain; with --all of each.
fn operations(args: &ExplainArgs, run: &Run, records: &[Record]) -> Result<Option<Vec<Operation>>, Error> {
    let named = named(args, run)?;
    let mut told: Vec<Operation> = match &named {
        Some(record) => operation::longest(record).into_iter().collect(),
        None if records.iter().any(can_be_explained) => Vec::new(),
        None => records.iter().filter_map(operation::longest).collect(),
    };
    let Some(worst) = told.iter().max_by_key(|operation| operation.took_ns).cloned() else {
        return Ok(None);
    };
    if args.compare.is_some() || args.sample != SampleChoice::Worst || args.files.are_asked_for() {
        return Err(ShowBreakdownError::LongestOnly(worst.cell).into());
    }
    if !args.all {
        told = vec![worst];
    }
    Ok(Some(told))
}

fn is_noise(record: &Record) -> bool {
    record.subject.venue() == Venue::Lab && record.accounting.gaps().is_some()
}

/// The cells of the lab's noise that are asked for: the one that is named, or all if there are no others.
fn noise(args: &ExplainArgs, run: &Run, records: &[Record]) -> Result<Vec<Record>, Error> {
    Ok(match &args.cell {
        Some(id) => Some(run.record_of(id)?).into_iter().filter(is_noise).collect(),
        None if records.iter().all(is_noise) => records.to_vec(),
        None => Vec::new(),
    })
}

/// The table of entries into the CPU in each of these cells.
fn entered(args: &ExplainArgs, means: &ReplayMeans, run: &Run, records: &[Record]) -> Result<String, Error> {
    let asks_for_one = args.all || args.compare.is_some() || args.sample != SampleChoice::Worst;
    if asks_for_one || args.files.are_asked_for() {
        return Err(ShowBreakdownError::AllGaps(records[0].id.clone()).into());
    }
    let bar = ProgressDisplay::new();
    bar.begin(&CountedWork::cells(records.len()));
    let cells = parallel(args.jobs.count(), records, |record| {
        let entered = noise::entered(means, run, record)?;
        bar.done(&format!("replayed {}", record.id));
        Ok::<Entered, ExplainError>(entered)
    });
    bar.end();
    let cells = cells?;
    Ok(match args.json {
        true => worstcase_report::entered::json(&cells),
        false => worstcase_report::entered::terminal(&cells, Style::of_stdout()),
    })
}

/// The worst samples of every cell, or of one, by cause.
fn all(args: &ExplainArgs, means: &ReplayMeans, run: &Run, records: &[Record]) -> Result<String, Error> {
    let only = named(args, run)?;
    let bar = ProgressDisplay::new();
    let (each, jobs) = (args.each.get(), args.jobs.count());
    let breakdowns = explain::all(means, run, records, only.as_ref(), each, jobs, &bar);
    bar.end();
    let breakdowns = breakdowns?;
    let breakdowns: Vec<&Breakdown> = breakdowns.iter().collect();
    Ok(match args.json {
        true => json::breakdowns(&breakdowns),
        false => shown::group::terminal(&group::group(&breakdowns), shown::group::obstacles),
    })
}

/// One sample, or two side by side.
fn one(args: &ExplainArgs, means: &ReplayMeans, run: &Run, records: &[Record]) -> Result<String, Error> {
    let record = match &args.cell {
        Some(id) => run.record_of(id)?,
        None => worst_cell(run, records)?.clone(),
    };
    let compared = match &args.compare {
        Some(id) => Some(run.record_of(id)?),
        None => None,
    };
    if let Some(other) = &compared {
        comparable(&record, other)?;
    }
    let of_other = args.sample.of_another();
    if !args.files.are_asked_for() {
        let explain = |record: &Record, sample| explain::breakdown(means, run, records, record, sample);
        let told = explain(&record, args.sample)?;
        let other = compared.as_ref().map(|other| explain(other, of_other)).transpose()?;
        return Ok(shown(args, &told, other.as_ref()));
    }
    let explain = |record: &Record, sample| explain::one(means, run, records, record, sample);
    let explained = explain(&record, args.sample)?;
    let other = compared.as_ref().map(|other| explain(other, of_other)).transpose()?;
    args.files.write(&explained, other.as_ref())?;
    Ok(shown(
        args,
        explained.breakdown(),
        other.as_ref().map(Explained::breakdown),
    ))
}

fn shown(args: &ExplainArgs, breakdown: &Breakdown, other: Option<&Breakdown>) -> String {
    match (other, args.json) {
        (Some(other), true) => json::breakdowns(&[breakdown, other]),
        (Some(other), false) => compare::terminal(breakdown, other),
        (None, true) => json::breakdown(breakdown),
        (None, false) => terminal::breakdown(breakdown, Style::of_stdout()),
    }
}
