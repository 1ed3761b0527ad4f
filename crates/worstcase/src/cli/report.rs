//! `worstcase report`: runs as one page.

use super::against::LabRun;
use super::followed;
use super::jobs::Jobs;
use super::output::{OutputError, print, print_data};
use super::progress::ProgressDisplay;
use super::replay::ReplayArgs;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_analysis::against::{AgainstError, summary};
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::explain::{self, ExplainError, ReplayMeans, SampleChoice, worst_of_host, worst_of_lab};
use worstcase_base::format::plain;
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_report::ReportView;
use worstcase_report::html::{BreakdownPart, CyclePart, PageParts, RunPart, page};
use worstcase_report::picture::{self, PictureOptions};
use worstcase_report::terminal::wrapped;
use worstcase_results::record::{Quantity, Record, Run, RunError, Venue, parallel};
use worstcase_results::verdict::{AskedLimit, Criterion, verdicts};

/// Write runs as one page that works offline: the answer, pictures, breakdowns, and what it was measured on
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase report RUN
  worstcase report RUN --breakdowns -o why.html
  worstcase report RUN --small -o mail.html
  worstcase report BEFORE AFTER --criterion 100us -o both.html
  worstcase report HOSTRUN --against LABRUN       whether the paths that are blamed can take so long

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
    /// A page of some hundred kB: pictures are drawings, which nobody can zoom or filter
    #[arg(long)]
    small: bool,
    /// Replay each subject's worst cell of the lab and tell why its worst sample was late (breakdowns of this machine's
    /// recordings are always told)
    #[arg(long)]
    breakdowns: bool,
    /// Lay breakdowns of this machine against a run of the lab with the same kernel series and load, as explain --against does
    #[arg(long, value_name = "LABRUN")]
    against: Option<PathBuf>,
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
        /// Nothing can be laid against that run of the lab.
        #[error(transparent)]
        Against(#[from] AgainstError) => within,
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
    let mut lab = args.against.as_deref().map(LabRun::open).transpose()?;
    let parts = runs.iter().map(|run| part(args, run, runs.len(), lab.as_mut()));
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
    let digits = if args.small { 2 } else { 1 };
    let said = format!("{} ({size:.digits$} MB): open it in a browser", args.output.display());
    print(&(plain(&said) + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a run of this machine, and says where it is.
pub fn of_host(run: &Run, output: &Path, against: Option<PathBuf>) -> Result<(), ReportError> {
    let args = ReportArgs {
        runs: vec![run.dir().to_path_buf()],
        output: output.to_path_buf(),
        criterion: None,
        small: false,
        breakdowns: false,
        against,
        jobs: Jobs::default(),
        replay: ReplayArgs::default(),
    };
    self::run(&args).map(|_| ())
}

fn part(args: &ReportArgs, run: &Run, runs: usize, lab: Option<&mut LabRun>) -> Result<RunPart, ReportError> {
    let steps = ProgressDisplay::new();
    steps.state(&format!("reading {}", run.dir().display()));
    let records = run.records()?;
    let asked = args.criterion.or(run.plan().criterion().map(AskedLimit::of_all));
    let whole = match args.small {
        true => PictureOptions::small(),
        false => PictureOptions::default(),
    };
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
        is_small: args.small,
        breakdowns: breakdowns(args, &means, run, &records, lab)?,
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
    mut lab: Option<&mut LabRun>,
) -> Result<Vec<BreakdownPart>, ReportError> {
    let told = |record: &Record| TOLD.contains(&record.cell.probe.as_str());
    let cells: Vec<&Record> = worst_cells(records, told)
        .into_iter()
        .filter(|record| record.foreign.is_none() && (args.breakdowns || record.subject.venue() == Venue::Host))
        .collect();
    let bar = ProgressDisplay::new();
    bar.begin(&CountedWork::cells(cells.len()));
    let breakdowns = parallel(args.jobs.count(), &cells, |record| {
        let told = match record.subject.venue() {
            Venue::Host => worst_of_host(run, records, record)?.map(|breakdown| (breakdown, None)),
            Venue::Lab => worst_of_lab(means, run, records, record)?.map(|told| (told.breakdown, Some(told.folded))),
        };
        bar.done(&format!("replayed {}", record.id));
        Ok::<_, ExplainError>(told.map(|(breakdown, folded)| (*record, breakdown, folded)))
    });
    bar.end();
    let told = breakdowns?.into_iter().flatten();
    let part = |(record, breakdown, folded): (&Record, Breakdown, Option<String>)| match &mut lab {
        Some(lab) if record.subject.venue() == Venue::Host => confronted(args, means, lab, record, breakdown),
        _ => Ok(BreakdownPart::new(&breakdown, folded.as_deref())),
    };
    told.map(part).collect()
}

/// A breakdown of this machine with what the lab says of it, which is printed too; that the lab was not under this load is said.
fn confronted(
    args: &ReportArgs,
    means: &ReplayMeans,
    lab: &mut LabRun,
    record: &Record,
    breakdown: Breakdown,
) -> Result<BreakdownPart, ReportError> {
    let (part, said) = match lab.confront(means, args.jobs.count(), record, breakdown.clone()) {
        Ok(told) => (BreakdownPart::against(&told), summary(&told)),
        Err(error @ AgainstError::OtherLoad { .. }) => {
            let said = error.to_string();
            (BreakdownPart::new(&breakdown, None).noted(said.clone()), said)
        }
        Err(error) => return Err(error.into()),
    };
    if args.output != Path::new("-") {
        let lines = wrapped("against the lab: ", &format!("{}, {said}", record.id));
        print(&(lines.join("\n") + "\n"))?;
    }
    Ok(part)
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
