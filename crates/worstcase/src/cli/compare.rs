//! `worstcase compare`: two runs, cell by cell.

use super::Error;
use super::output::print;
use super::progress::ProgressDisplay;
use super::replay::ReplayArgs;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_analysis::explain::{self, ReplayMeans, SampleChoice};
use worstcase_base::format::shell;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_report::compare::{ShownComparison, json, markdown, terminal};
use worstcase_report::terminal::{Style, fitted};
use worstcase_results::compare::change::{ComparedMeasure, MeasureChange};
use worstcase_results::compare::words::{ChangeWord, Compared, JudgedChange};
use worstcase_results::compare::{CompareError, MappedSubjects, Side, SideComparison, compare};
use worstcase_results::record::{Quantity, Record, Run, SubjectId};

/// What changed between two runs, or two subjects of one, cell by cell, with a test over the seeds
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase compare BEFORE AFTER
  worstcase compare RUN --subject none --with full         two subjects of one run; a part of a name will do
  worstcase compare BEFORE AFTER --map 6.1.0-56-amd64.full=6.12.1-amd64.lazy
  worstcase compare BEFORE AFTER --explain                 replays both worst samples of the largest worsening
  worstcase compare BEFORE AFTER --markdown > comment.md
  worstcase compare A1 A2 A3 A4 A5 --to B1 B2 B3 B4 B5     a real machine: five runs of each, made in turns

Cells belong together if load, probe and CPU are the same. Subjects: as --map says; the only one on each side; those of
one name; those that differ in the kernel alone. Only what was measured alike compares (period, periods, warm-up,
priority, timer); the rest is listed with its reason.
better and worse are said only of what an exact rank test over the seeds shows (level 0.05, all tests of the comparison
corrected together), so it takes at least 4 seeds on each side. Of a real machine a run is one draw: two runs tell no more
than that one is higher or lower, five of each side can show worse and better. In the lab the samples are compared bit by bit, too.
Exit code: 0 whatever changed; worstcase gate decides.")]
pub struct CompareArgs {
    /// The run to compare with and the run that is compared: folders, or a baseline's file; with --subject and --with one
    /// run; with --to all runs of A
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// The runs of B, where a side has several: of a real machine, which needs five, made in turns with those of A
    #[arg(long, value_name = "RUN", num_args = 1..)]
    to: Vec<PathBuf>,
    /// Only this subject of A; a part of its name will do
    #[arg(long, value_name = "SUBJECT", requires = "with", conflicts_with = "map")]
    subject: Option<String>,
    /// The subject of B to compare it with
    #[arg(long, value_name = "SUBJECT", requires = "subject")]
    with: Option<String>,
    /// A subject of A and the one of B that belongs to it; may be given again
    #[arg(long, value_name = "A=B")]
    map: Vec<MappedSubjects>,
    /// Print JSON (worstcase-compare/5), times in ns
    #[arg(long)]
    json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// In the lab: tell what is behind the largest worsening
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    explain: bool,
    /// With --explain: what replays the cells.
    #[command(flatten)]
    replay: ReplayArgs,
}

worstcase_base::errors! {
    /// Why there is no breakdown.
    #[derive(Debug, thiserror::Error)]
    pub enum CompareCliError {
        /// Comparing failed.
        #[error(transparent)]
        Compare(#[from] CompareError) => within,
        /// It is open which run belongs to which side.
        #[error("name two runs, or one with --subject and --with, or the runs of each side: A1 A2 ... --to B1 B2 ...")]
        WhichRuns => Usage,
        /// Nothing got worse, or the cells are not of the lab.
        #[error(
            "--explain tells of a cell of the lab that is later than before, and there is none; see `worstcase explain --help`"
        )]
        NothingWorse => Usage,
    }
}

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<ExitCode, Error> {
    let (of_a, of_b) = sides(args)?;
    let [a, b] = Side::open_both(of_a, of_b).map_err(CompareCliError::from)?;
    let chosen = args
        .subject
        .clone()
        .zip(args.with.clone())
        .map(|(a, b)| MappedSubjects { a, b });
    let only = chosen.is_some();
    let mapped: Vec<MappedSubjects> = args.map.iter().cloned().chain(chosen).collect();
    let comparison = compare(&a, &b, &mapped, only).map_err(CompareCliError::from)?;
    let worst = worsening(&comparison).filter(|c| a.in_lab(&c.pair.a) && b.in_lab(&c.pair.b));
    let shown = ShownComparison {
        a: &a,
        b: &b,
        comparison: &comparison,
        why: worst.filter(|_| !args.explain).map(|_| again(args)),
    };
    let text = match (args.json, args.markdown) {
        (true, _) => json::document(&shown),
        (_, true) => markdown::lines(&shown),
        _ => fitted(&terminal::lines(&shown, Style::of_stdout())),
    };
    print(&text)?;
    if args.explain {
        let worst = worst.ok_or(CompareCliError::NothingWorse)?;
        let terminal = ProgressDisplay::new();
        let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
        let additions = args.replay.added.named()?;
        let means = args.replay.means(&additions, &options, None);
        let told = breakdown(&means, &of_a[0], &of_b[0], worst)?;
        print(&format!("\n{told}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The runs of both sides.
fn sides(args: &CompareArgs) -> Result<(&[PathBuf], &[PathBuf]), CompareCliError> {
    match (&args.runs[..], &args.to[..]) {
        ([a, b], []) => Ok((std::slice::from_ref(a), std::slice::from_ref(b))),
        (one @ [_], []) if args.with.is_some() => Ok((one, one)),
        (_, []) => Err(CompareCliError::WhichRuns),
        (a, b) => Ok((a, b)),
    }
}

/// The cell whose maximum grew most: of those that the test shows, if it shows any.
pub(super) fn worsening(comparison: &SideComparison) -> Option<&Compared> {
    let grew = |cell: &Compared, shown: bool| -> f64 {
        let of =
            |s: &&JudgedChange| s.change.measure == ComparedMeasure::Max && (!shown || s.word == ChangeWord::Worse);
        let by = |c: &MeasureChange| if c.difference.best > 0.0 { c.size() } else { 0.0 };
        cell.said.iter().filter(of).map(|s| by(&s.change)).fold(0.0, f64::max)
    };
    let most = |shown: bool| {
        let cells = comparison.cells.iter().filter(|c| grew(c, shown) > 0.0);
        cells.max_by(|x, y| grew(x, shown).total_cmp(&grew(y, shown)))
    };
    most(true).or_else(|| most(false))
}

/// This command, with the breakdown.
fn again(args: &CompareArgs) -> String {
    let mut words = ["worstcase", "compare"].map(String::from).to_vec();
    words.extend(args.runs.iter().map(|run| run.display().to_string()));
    for (option, subject) in [("--subject", &args.subject), ("--with", &args.with)] {
        words.extend(subject.iter().flat_map(|s| [option.to_string(), s.clone()]));
    }
    words.extend(
        args.map
            .iter()
            .flat_map(|m| ["--map".to_string(), format!("{}={}", m.a, m.b)]),
    );
    words.push("--explain".to_string());
    if !args.to.is_empty() {
        words.push("--to".to_string());
        words.extend(args.to.iter().map(|run| run.display().to_string()));
    }
    shell(&words)
}

/// The worst samples of the cell on either side: of the seed whose maximum grew most, or the worst of all seeds where no
/// seed is on both sides.
pub(super) fn breakdown(means: &ReplayMeans, path_a: &Path, path_b: &Path, worst: &Compared) -> Result<String, Error> {
    let (run_a, run_b) = (Run::open(path_a)?, Run::open(path_b)?);
    let (records_a, records_b) = (run_a.records()?, run_b.records()?);
    let seeds = worst.pair.exact.iter().flat_map(|e| &e.maxima);
    let seed = seeds.max_by_key(|m| m.difference_ns).map(|m| m.seed);
    let latest = |records: &[Record], subject: &SubjectId| -> Option<Record> {
        let cell = |r: &&Record| {
            let same = r.cell.load == worst.pair.how.load && r.cell.probe == worst.pair.how.probe;
            same && r.subject.id() == *subject && seed.is_none_or(|seed| r.cell.seed == seed)
        };
        let max = |r: &&Record| r.summary(Quantity::Latency).map(|s| s.max_ns);
        let all = records.iter().filter(cell).filter(|r| max(r).is_some());
        all.max_by_key(max).cloned()
    };
    let (Some(left), Some(right)) = (latest(&records_a, &worst.pair.a), latest(&records_b, &worst.pair.b)) else {
        return Err(CompareCliError::NothingWorse.into());
    };
    let left = explain::one(means, &run_a, &records_a, &left, SampleChoice::Worst)?;
    let right = explain::one(means, &run_b, &records_b, &right, SampleChoice::Worst)?;
    Ok(worstcase_report::breakdown::compare::terminal(
        left.breakdown(),
        right.breakdown(),
    ))
}
