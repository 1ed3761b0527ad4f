//! `worstcase report`: runs as one page.

use super::followed;
use super::jobs::Jobs;
use super::output::{OutputError, print, print_data};
use super::progress::ProgressDisplay;
use super::replay::ReplayArgs;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_analysis::explain::{self, ExplainError, ReplayMeans, SampleChoice, worst_of_host, worst_of_lab};
use worstcase_base::format::plain;
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_report::ReportView;
use worstcase_report::html::{BreakdownPart, CyclePart, PageParts, RunPart, page};
use worstcase_report::picture::{self, PictureOptions};
use worstcase_results::record::{Quantity, Record, Run, RunError, Venue, parallel};
use worstcase_results::verdict::{AskedLimit, Criterion, verdicts};

/// Write runs as one page that works offline: the answer, pictures, breakdowns, and what it was measured on
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase report RUN
  worstcase report RUN --breakdowns -o why.html
  worstcase report BEFORE AFTER --criterion 100us -o both.html

The page is one file that asks no server for anything. A run that is not finished is shown as far as it is, and says so.")]
pub struct ReportArgs {
    /// The runs' folders
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The page; one that is there is replaced, `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Judge every subject: no latency above this, e.g. 100us, or no percentile, e.g. p99.9=50us (default: each run's own criterion)
    #[arg(long, value_name = "LIMIT")]
    criterion: Option<AskedLimit>,
    /// Replay each subject's worst cell of the lab and tell why its worst sample was late (breakdowns of this machine's
    /// recordings are always told)
    #[arg(long)]
    breakdowns: bool,
    /// How many at once.
    #[command(flatten)]
    jobs: Jobs,
    /// What replays them
    #[command(flatten)]
    replay: ReplayArgs,
}

worstcase_base::errors! {
    /// Why there is no page.
    #[derive(Debug, thiserror::Error)]
    pub enum ReportError {
        /// A run cannot be read.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// The cache cannot be used.
        #[error(transparent)]
        Lab(#[from] LabError) => within,
        /// A breakdown cannot be made.
        #[error(transparent)]
        Breakdown(#[from] ExplainError) => within,
        /// The page cannot be written.
        #[error("cannot write {}: {source}; choose another file with -o", path.display())]
        Write {
            /// The file.
            path: PathBuf,
            /// Why.
            source: io::Error,
        } => Storage,
        /// Standard output.
        #[error(transparent)]
        Output(#[from] OutputError) => Storage,
    }
}

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<ExitCode, ReportError> {
    // A missing run is reported before the others are read.
    let runs: Vec<Run> = args.runs.iter().map(|dir| Run::open(dir)).collect::<Result<_, _>>()?;
    let parts = runs.iter().map(|run| part(args, run, runs.len()));
    let parts: Vec<RunPart> = parts.collect::<Result<_, _>>()?;
    let page = page(&parts);
    let failed = |source| ReportError::Write {
        path: args.output.clone(),
        source,
    };
    if args.output == Path::new("-") {
        print_data(&page)?;
        return Ok(ExitCode::SUCCESS);
    }
    worstcase_base::output::write(&args.output, page.as_bytes()).map_err(failed)?;
    let size = page.len() as f64 / 1e6;
    let said = format!("{} ({size:.1} MB): open it in a browser", args.output.display());
    print(&(plain(&said) + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a run of this machine, and says where it is.
pub fn of_host(run: &Run, output: &Path) -> Result<(), ReportError> {
    let args = ReportArgs {
        runs: vec![run.dir().to_path_buf()],
        output: output.to_path_buf(),
        criterion: None,
        breakdowns: false,
        jobs: Jobs::default(),
        replay: ReplayArgs::default(),
    };
    self::run(&args).map(|_| ())
}

fn part(args: &ReportArgs, run: &Run, runs: usize) -> Result<RunPart, ReportError> {
    let steps = ProgressDisplay::new();
    steps.state(&format!("reading {}", run.dir().display()));
    let records = run.records()?;
    let asked = args.criterion.or(run.plan().criterion().map(AskedLimit::of_all));
    let whole = PictureOptions::default();
    let options = PictureOptions {
        limit: asked.map(|asked| asked.limit),
        // All runs together have the room of one.
        dots: whole.dots / runs,
        ..whole
    };
    let pictures = picture::of_run(run, &records, options)?;
    steps.end();
    let terminal = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
    let additions = args.replay.added.named()?;
    let means = args.replay.means(&additions, &options, None);
    let parts = PageParts {
        pictures,
        breakdowns: breakdowns(args, &means, run, &records)?,
        cycles: cycles(args, &means, run, &records)?,
    };
    let criterion = asked.map(|asked| Criterion::asked(asked, &records));
    let explanations = run.explanations()?;
    let view = ReportView {
        plan: run.plan(),
        dir: run.dir(),
        records: &records,
        explanations: &explanations,
        quantities: &[],
        verdicts: criterion.map(|c| (c, verdicts(&run.plan().cells, &records, &c))),
    };
    Ok(RunPart::new(&view, parts))
}

/// Probes whose samples have a breakdown.
const TOLD: [&str; 2] = ["wakeup", "response"];

/// The breakdowns of each subject's worst cell.
fn breakdowns(
    args: &ReportArgs,
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
) -> Result<Vec<BreakdownPart>, ReportError> {
    let told = |record: &Record| TOLD.contains(&record.cell.probe.as_str());
    let cells: Vec<&Record> = worst_cells(records, told)
        .into_iter()
        .filter(|record| record.foreign.is_none() && (args.breakdowns || record.subject.venue() == Venue::Host))
        .collect();
    let bar = ProgressDisplay::new();
    bar.begin(&CountedWork::cells(cells.len()));
    let breakdowns = parallel(args.jobs.count(), &cells, |record| {
        let breakdown = match record.subject.venue() {
            Venue::Host => worst_of_host(run, records, record)?.map(|breakdown| BreakdownPart::new(&breakdown, None)),
            Venue::Lab => worst_of_lab(means, run, records, record)?
                .map(|told| BreakdownPart::new(&told.breakdown, Some(&told.folded))),
        };
        bar.done(&format!("replayed {}", record.id));
        Ok::<_, ExplainError>(breakdown)
    });
    bar.end();
    Ok(breakdowns?.into_iter().flatten().collect())
}

/// What was found while programs were followed, of each subject's cell with the slowest cycle; with --breakdowns in the lab with
/// the functions of that cycle.
fn cycles(
    args: &ReportArgs,
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
) -> Result<Vec<CyclePart>, ReportError> {
    let cells = worst_cells(records, |record| record.followed.is_some());
    let part = |record: &&Record| -> Result<Option<CyclePart>, ReportError> {
        let is_replayed = args.breakdowns && record.subject.venue() == Venue::Lab;
        let cycle = is_replayed.then(|| explain::cycle(means, run, record, SampleChoice::Worst));
        Ok(followed::part(run, record, cycle.transpose()?.as_ref())?)
    };
    cells.iter().filter_map(|record| part(record).transpose()).collect()
}

/// Of the cells that are wanted each subject's one with the highest latency, in the order of the records.
fn worst_cells(records: &[Record], wanted: impl Fn(&Record) -> bool) -> Vec<&Record> {
    let latency = |r: &Record| r.summary(Quantity::Latency).map(|s| s.max_ns);
    let mut worst: Vec<&Record> = Vec::new();
    let told = |r: &&Record| wanted(r) && latency(r).is_some();
    for record in records.iter().filter(told) {
        match worst.iter_mut().find(|w| w.subject.id() == record.subject.id()) {
            Some(so_far) if latency(record) > latency(so_far) => *so_far = record,
            Some(_) => {}
            None => worst.push(record),
        }
    }
    worst
}
