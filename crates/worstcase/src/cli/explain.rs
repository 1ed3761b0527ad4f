//! `worstcase explain`: why a sample was late.

use super::show::print;
use crate::cli::Error;
use choice::{Choice, choose};
use clap::Args;
pub use error::ExplainError;
use retell::{Retold, retell};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_analysis::story::blame::Peer;
use worstcase_analysis::story::lines::Lines;
use worstcase_analysis::story::spans::Sample;
use worstcase_analysis::story::{Around, Story, Told, compare, group};
use worstcase_lab::added::Added;
use worstcase_probe::Nanos;
use worstcase_probe::bench::Details;
use worstcase_report::story::{flame, json, perfetto, terminal};
use worstcase_report::terminal::Style;
use worstcase_results::record::{Quantity, Record, Run, RunError, SampleRow};

mod choice;
mod error;
mod host;
mod retell;

/// Why a sample was late: replays its cell and tells what ran, instruction by instruction
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase explain RUN
  worstcase explain RUN --cell 6.1.0-56-amd64.none.shm.wakeup.s1 --sample p99.9
  worstcase explain RUN --compare 6.1.0-56-amd64.full.shm.wakeup.s1 --flame grown.svg
  worstcase explain RUN --all -k 5
  worstcase explain RUN --perfetto trace.json     (open it at ui.perfetto.dev)

Of this machine, stories are told from the traces that `worstcase host run --flights N` kept (response keeps 10).
switch and hackbench have no worst wake-up: nothing can be told of them; of inversion, why a blocked thread waited.
The replay must give the same samples and events again; if it does not, nothing is told.
After `worstcase kernels get --debug KERNEL` its stories tell lines of source code.")]
pub struct ExplainArgs {
    /// The run's folder
    run: PathBuf,
    /// The cell [default: the one with the highest latency]
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    cell: Option<String>,
    /// Which sample: worst, its number, or a percentile such as p99.9
    #[arg(long, value_name = "SAMPLE", default_value = "worst", conflicts_with = "all")]
    sample: Choice,
    /// Lay the worst sample of another cell beside it
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    compare: Option<String>,
    /// Group the worst samples of every cell by cause
    #[arg(long)]
    all: bool,
    /// Samples of each cell, with --all
    #[arg(short = 'k', value_name = "N", default_value_t = NonZeroUsize::new(5).unwrap(), requires = "all")]
    each: NonZeroUsize,
    /// Print JSON (worstcase-story/1), times in ns
    #[arg(long)]
    json: bool,
    /// Write folded stacks
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    folded: Option<PathBuf>,
    /// Write a flame graph; with --compare, one that shows what grew in the other cell
    #[arg(long, value_name = "FILE.svg", conflicts_with = "all")]
    flame: Option<PathBuf>,
    /// Write a trace for ui.perfetto.dev
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    perfetto: Option<PathBuf>,
    /// A vmlinux of the kernel with debug information [default: what `kernels get --debug` brought]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["all", "compare"])]
    debug_info: Option<PathBuf>,
    /// What replays it
    #[command(flatten)]
    means: Means,
}

/// What a cell of the lab is replayed with.
#[derive(Debug, Args)]
pub struct Means {
    /// The QEMU that measured the run [default: qemu-system-x86_64 on the search path]
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
    /// The programs that were added when the run was measured
    #[arg(long = "add", value_name = "PATH[:DEST]")]
    added: Vec<Added>,
}

/// Runs the command.
pub fn run(args: &ExplainArgs) -> Result<ExitCode, Error> {
    let run = Run::open(&args.run)?;
    let mut records = run.records()?;
    if args.cell.is_none() && records.iter().any(has_latency) {
        records.retain(has_latency);
    }
    let text = match args.all {
        true => all(args, &run, &records)?,
        false => one(args, &run, &records)?,
    };
    print(&text).map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}

/// One sample, or two side by side.
fn one(args: &ExplainArgs, run: &Run, records: &[Record]) -> Result<String, Error> {
    let record = match &args.cell {
        Some(id) => run.record(&run.entry(id)?.id)?,
        None => worst_cell(run, records)?.clone(),
    };
    let compared = match &args.compare {
        Some(id) => Some(comparable(&record, run.record(&run.entry(id)?.id)?)?),
        None => None,
    };
    if !has_latency(&record) {
        return Err(ExplainError::NoLatency { cell: record.id }.into());
    }
    if host::is_host(&record) {
        let story = host::one(args, run, records, &record, args.sample)?;
        let other = match &compared {
            Some(other) => Some(host::one(args, run, records, other, Choice::Worst)?),
            None => None,
        };
        return Ok(shown(args, &story, other.as_ref()));
    }
    let (told, lines) = tell_one(args, run, records, &record, args.sample)?;
    let other = match &compared {
        Some(other) => Some(tell_one(args, run, records, other, Choice::Worst)?.0),
        None => None,
    };
    if let Some(path) = &args.folded {
        write(path, flame::folded(&told).as_bytes())?;
    }
    if let Some(path) = &args.perfetto {
        write(path, perfetto::trace(&told, &*lines).as_bytes())?;
    }
    if let Some(path) = &args.flame {
        let svg = match &other {
            Some(other) => flame::differential_svg(&told, other),
            None => flame::svg(&told),
        };
        write(path, &svg.map_err(ExplainError::Flame)?)?;
    }
    Ok(shown(args, &told.story, other.as_ref().map(|o| &o.story)))
}

/// Whether its samples are somebody's lateness.
fn has_latency(record: &Record) -> bool {
    !matches!(record.details, Some(Details::Switch(_) | Details::Hackbench(_)))
}

/// The worst samples of two cells of the lab, of one run or of two, side by side.
pub(super) fn beside(
    means: &Means,
    (run_a, records_a, a): (&Run, &[Record], &Record),
    (run_b, records_b, b): (&Run, &[Record], &Record),
) -> Result<String, Error> {
    let worst = |run, records, record: &Record| {
        worst_of_lab(means, run, records, record)?.ok_or_else(|| ExplainError::NoSample {
            cell: record.id.clone(),
            asked: Choice::Worst,
        })
    };
    let (left, right) = (worst(run_a, records_a, a)?, worst(run_b, records_b, b)?);
    Ok(compare::terminal(&left.story, &right.story))
}

fn shown(args: &ExplainArgs, story: &Story, other: Option<&Story>) -> String {
    match (other, args.json) {
        (Some(other), true) => json::stories(&[story, other]),
        (Some(other), false) => compare::terminal(story, other),
        (None, true) => json::story(story),
        (None, false) => terminal::story(story, Style::of_stdout()),
    }
}

fn comparable(left: &Record, right: Record) -> Result<Record, ExplainError> {
    match left.cell.load == right.cell.load && left.cell.probe == right.cell.probe {
        true => Ok(right),
        false => Err(ExplainError::Incomparable {
            left: left.id.clone(),
            right: right.id.clone(),
        }),
    }
}

/// The worst samples of every cell, by cause.
fn all(args: &ExplainArgs, run: &Run, records: &[Record]) -> Result<String, Error> {
    let mut stories: Vec<Story> = Vec::new();
    for record in records.iter().filter(|r| r.accounting.rows() > 0 && has_latency(r)) {
        if host::is_host(record) {
            stories.extend(host::worst(run, records, record, args.each.get())?);
            continue;
        }
        let mut rows = rows(run, record)?;
        rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.latency));
        rows.truncate(args.each.get());
        let (told, _) = tell(&args.means, args.debug_info.as_deref(), record, records, &rows)?;
        stories.extend(told.into_iter().map(|t| t.story));
    }
    let stories: Vec<&Story> = stories.iter().collect();
    Ok(match args.json {
        true => json::stories(&stories),
        false => group::terminal(&group::group(&stories)),
    })
}

fn worst_cell<'a>(run: &Run, records: &'a [Record]) -> Result<&'a Record, ExplainError> {
    let max = |r: &&Record| r.summary(Quantity::Latency).map(|s| s.max_ns);
    let worst = records.iter().filter(|r| max(r).is_some()).max_by_key(max);
    worst.ok_or_else(|| {
        ExplainError::Run(RunError::NotMeasured {
            id: run.plan().cells[0].id.clone(),
            command: run.plan().command.join(" "),
        })
    })
}

/// All samples of a cell with their place in the record.
fn rows(run: &Run, record: &Record) -> Result<Vec<(usize, SampleRow)>, ExplainError> {
    let mut rows = Vec::new();
    run.for_each_sample(record, |row| rows.push((rows.len(), row)))?;
    Ok(rows)
}

fn tell_one(
    args: &ExplainArgs,
    run: &Run,
    records: &[Record],
    record: &Record,
    choice: Choice,
) -> Result<(Told, Box<dyn Lines>), ExplainError> {
    let rows = rows(run, record)?;
    let chosen = choose(&rows, choice).ok_or_else(|| ExplainError::NoSample {
        cell: record.id.clone(),
        asked: choice,
    })?;
    let (mut told, lines) = tell(&args.means, args.debug_info.as_deref(), record, records, &[chosen])?;
    Ok((told.remove(0), lines))
}

/// The story of a cell's worst sample, with what its flame graph is drawn from.
pub(super) fn worst_of_lab(
    means: &Means,
    run: &Run,
    records: &[Record],
    record: &Record,
) -> Result<Option<Told>, ExplainError> {
    let rows = rows(run, record)?;
    let Some(worst) = choose(&rows, Choice::Worst) else {
        return Ok(None);
    };
    let (mut told, _) = tell(means, None, record, records, &[worst])?;
    Ok(told.pop())
}

/// The story of a cell's worst sample on this machine, if something was recorded.
pub(super) fn worst_of_host(run: &Run, records: &[Record], record: &Record) -> Result<Option<Story>, ExplainError> {
    match host::worst(run, records, record, 1) {
        Ok(mut stories) => Ok(stories.pop()),
        Err(ExplainError::NoRecordings { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Replays the cell once and tells of each of these samples; also who knows the lines of source code.
fn tell(
    means: &Means,
    debug_info: Option<&Path>,
    record: &Record,
    records: &[Record],
    rows: &[(usize, SampleRow)],
) -> Result<(Vec<Told>, Box<dyn Lines>), ExplainError> {
    let Retold {
        executions,
        symbols,
        lines,
    } = retell(means, debug_info, record, rows)?;
    let around = Around {
        floor: record.summary(Quantity::Latency).map_or(Nanos(0), |s| Nanos(s.min_ns)),
        peers: peers(record, records),
    };
    let told = executions.iter().zip(rows).map(|(execution, (_, row))| {
        let sample = sample(record, row.index, row.latency);
        worstcase_analysis::story::tell(execution, &symbols, &*lines, sample, &around).map_err(|source| {
            ExplainError::Story {
                cell: record.id.clone(),
                index: row.index,
                source,
            }
        })
    });
    Ok((told.collect::<Result<_, _>>()?, lines))
}

/// Which sample a story is of.
fn sample(record: &Record, index: u32, latency_ns: Nanos) -> Sample {
    Sample {
        cell: record.id.to_string(),
        subject: record.subject.id().to_string(),
        load: record.cell.load.clone(),
        preempt: record.subject.preempt.in_force.clone(),
        unit: record.subject.time_unit(),
        index,
        latency_ns,
    }
}

/// The same load and probe on the run's other subjects.
fn peers(record: &Record, records: &[Record]) -> Vec<Peer> {
    let mut peers: Vec<Peer> = Vec::new();
    for other in records {
        let same = other.cell.load == record.cell.load && other.cell.probe == record.cell.probe;
        let id = other.subject.id();
        let Some(summary) = other
            .summary(Quantity::Latency)
            .filter(|_| same && id != record.subject.id())
        else {
            continue;
        };
        let subject = id.to_string();
        match peers.iter_mut().find(|p| p.subject == subject) {
            Some(peer) => peer.maximum = peer.maximum.max(Nanos(summary.max_ns)),
            None => peers.push(Peer {
                subject,
                preempt: other.subject.preempt.in_force.clone(),
                maximum: Nanos(summary.max_ns),
            }),
        }
    }
    peers
}

fn write(path: &Path, data: &[u8]) -> Result<(), ExplainError> {
    std::fs::write(path, data).map_err(|source| ExplainError::Write {
        path: path.to_path_buf(),
        source,
    })
}
