//! `worstcase census`: every stretch of a cell in which a wake-up had to wait.

use super::Error;
use super::output::print;
use super::progress::{Bar, Terminal};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_analysis::census::diff::diff;
use worstcase_analysis::census::ensemble::ensembles;
use worstcase_analysis::census::findings::{Findings, findings};
use worstcase_analysis::census::join::Contradiction;
pub use worstcase_analysis::census::take::How;
use worstcase_analysis::census::take::take;
use worstcase_base::Exit;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_lab::added::Added;
use worstcase_lab::qemu::Qemu;
use worstcase_probe::census::Kind;
use worstcase_report::census::{json, several, terminal};
use worstcase_report::terminal::Style;
use worstcase_results::record::{CellId, Progress, Record, Run, RunError, parallel};

/// Owners of the longest sections that are shown, unless asked otherwise.
const OWNERS: usize = 10;

/// Every stretch of a cell in which interrupts or preemption were off: replays it and counts, instruction by instruction
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase census RUN                                   a table of all cells, seeds of a subject together
  worstcase census RUN --cell 6.1.0-56-amd64.full.shm.wakeup.s1
  worstcase census RUN --cell ID --diff OTHER-ID         what the other cell of this run does otherwise
  worstcase census RUN --cell ID --diff OTHER-RUN        the other run's cell with the same load, probe and seed
  worstcase census RUN --cell ID --diff OTHER-RUN/cells/OTHER-ID

Only in the lab, and only of wakeup and response: the others wait for no timer.
The replay must give the same samples and events again; if it does not, nothing is told.")]
pub struct CensusArgs {
    /// The run's folder
    run: PathBuf,
    /// One cell, in detail [default: a table of all; in detail if there is only one]
    #[arg(long, value_name = "ID")]
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
    /// Compare the tracked state with the kernel's own at every block, and fail on the first difference
    #[arg(long)]
    audit: bool,
    /// QEMUs at once [default: one for each CPU]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// The QEMU that measured the run [default: qemu-system-x86_64 on the search path]
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
    /// The programs that were added when the run was measured
    #[arg(long = "add", value_name = "PATH[:DEST]")]
    added: Vec<Added>,
}

/// Why there is no census.
#[derive(Debug, thiserror::Error)]
pub enum CensusError {
    /// No timer is due.
    #[error(
        "{cell}: the census asks what a timer's wake-up meets, and nothing of this probe is due by a timer; take it of wakeup or response"
    )]
    NoTimer {
        /// The cell.
        cell: CellId,
    },
    /// Nothing to compare with.
    #[error("--diff {asked}: {reason}")]
    NoOther {
        /// What was asked for.
        asked: String,
        /// Why it is not one cell, and what would be.
        reason: String,
    },
    /// A census that does not fit its samples.
    #[error("{cell}: the census contradicts the samples: {source}; please report it")]
    Contradiction {
        /// The cell.
        cell: CellId,
        /// In which way.
        source: Contradiction,
    },
    /// Replaying failed.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl CensusError {
    /// What a script needs to know of it.
    pub fn exit(&self) -> Exit {
        match self {
            CensusError::NoOther { .. } | CensusError::NoTimer { .. } => Exit::Usage,
            CensusError::Contradiction { .. } => Exit::Measured,
            CensusError::Lab(e) => e.exit(),
            CensusError::Run(e) => e.exit(),
        }
    }
}

/// Runs the command.
pub fn run(args: &CensusArgs) -> Result<ExitCode, Error> {
    let text = text(args).map_err(Error::Census)?;
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn text(args: &CensusArgs) -> Result<String, CensusError> {
    let run = Run::open(&args.run)?;
    let records = match &args.cell {
        Some(id) => vec![run.record(&run.entry(id)?.id)?],
        None => {
            let mut records = measured(&run)?;
            if records.iter().any(|r| r.details.is_none()) {
                records.retain(|r| r.details.is_none());
            }
            records
        }
    };
    let other = match &args.diff {
        Some(asked) => Some(other(&run, &records[0], asked)?),
        None => None,
    };
    let style = Style::of_stdout();
    // A difference is looked for among all that were replayed, not only those that are shown.
    let kept = if other.is_some() { usize::MAX } else { args.top.get() };
    let records: Vec<Record> = records.into_iter().chain(other).collect();
    let cells = take_all(&records, args, kept)?;
    Ok(match (&cells[..], &args.diff) {
        ([before, after], Some(_)) => {
            let lists = [before, after].map(|cell| &cell.of(Kind::NonPreemptible).longest);
            let differences = diff(lists[0], lists[1]);
            match args.json {
                true => json::diff(before, after, &differences),
                false => several::diff(before, after, &differences, args.top.get(), style),
            }
        }
        ([cell], _) if args.json => json::cell(cell),
        ([cell], _) => terminal::cell(cell, style),
        (all, _) if args.json => json::ensembles(&ensembles(all)),
        (all, _) => several::run(&ensembles(all), args.top.get(), style),
    })
}

/// The records of all cells; there must be one.
fn measured(run: &Run) -> Result<Vec<Record>, RunError> {
    let records = run.records()?;
    match (records.is_empty(), run.plan().cells.first()) {
        (true, Some(first)) => Err(RunError::NotMeasured {
            id: first.id.clone(),
            command: worstcase_base::format::shell(&run.command()),
        }),
        _ => Ok(records),
    }
}

/// The cell to compare with.
fn other(run: &Run, record: &Record, asked: &str) -> Result<Record, CensusError> {
    if run.plan().cells.iter().any(|c| c.id.as_str() == asked) {
        return Ok(run.record(&run.entry(asked)?.id)?);
    }
    let path = Path::new(asked);
    let of_cell = path
        .parent()
        .and_then(Path::parent)
        .zip(path.file_name().and_then(|n| n.to_str()));
    if let Some((dir, id)) = of_cell.filter(|(dir, _)| dir.join(worstcase_results::record::run::RUN_FILE).exists()) {
        let run = Run::open(dir)?;
        return Ok(run.record(&run.entry(id)?.id)?);
    }
    let no_other = |reason: String| CensusError::NoOther {
        asked: asked.escape_debug().to_string(),
        reason,
    };
    if !path.join(worstcase_results::record::run::RUN_FILE).exists() {
        return Err(no_other(format!(
            "neither a cell of {} nor the folder of a run",
            run.dir().display()
        )));
    }
    let run = Run::open(path)?;
    let same = |c: &&worstcase_results::record::CellEntry| {
        c.load == record.cell.load && c.probe == record.cell.probe && c.seed == record.cell.seed
    };
    let found: Vec<_> = run.plan().cells.iter().filter(same).collect();
    match found[..] {
        [one] => Ok(run.record(&one.id)?),
        [] => Err(no_other(format!(
            "that run has no cell with load {}, probe {} and seed {}",
            record.cell.load, record.cell.probe, record.cell.seed
        ))),
        [first, ..] => Err(no_other(format!(
            "that run has {} cells with this load, probe and seed; name one: {asked}/cells/{}",
            found.len(),
            first.id
        ))),
    }
}

fn take_all(records: &[Record], args: &CensusArgs, kept: usize) -> Result<Vec<Findings>, CensusError> {
    let terminal = Terminal::default();
    let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
    let qemu = Qemu::find(args.qemu.as_deref(), &options.cache)?;
    let how = How {
        qemu: &qemu,
        added: &args.added,
        options: &options,
        limit: None,
        audit: args.audit,
        in_detail: records.len() == 1,
    };
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok());
    all(records, &how, jobs.unwrap_or(NonZeroUsize::MIN), kept)
}

/// Prints a table of all cells of a run that was just measured.
pub fn summary(run: &Run, how: &How, jobs: NonZeroUsize) -> Result<(), Error> {
    let records = run.records()?;
    let cells = all(&records, how, jobs, OWNERS)?;
    let text = several::run(&ensembles(&cells), OWNERS, Style::of_stdout());
    Ok(print(&format!("\n{text}"))?)
}

/// The census of every cell; `kept` places and owners of each.
fn all(records: &[Record], how: &How, jobs: NonZeroUsize, kept: usize) -> Result<Vec<Findings>, CensusError> {
    if let Some(record) = records.iter().find(|r| r.details.is_some()) {
        return Err(CensusError::NoTimer {
            cell: record.id.clone(),
        });
    }
    let bar = Bar::new();
    bar.begin(0, records.len());
    let taken = parallel(jobs, records, |record| {
        let taken = take(record, how)?;
        bar.measured(&record.id);
        Ok::<_, CensusError>(taken)
    });
    bar.finish();
    let of = |((taken, longest), record): ((_, _), &Record)| {
        findings(&taken, longest, kept).map_err(|source| CensusError::Contradiction {
            cell: record.id.clone(),
            source,
        })
    };
    taken?.into_iter().zip(records).map(of).collect()
}
