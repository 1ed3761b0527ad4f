//! `worstcase history`: many runs over time or over kernels, and where they changed.

use super::output::{OutputError, print};
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_base::{ExitKind, output};
use worstcase_kernels::version;
use worstcase_report::history::{csv, json, svg, terminal};
use worstcase_report::picture::svg::Theme;
use worstcase_report::terminal::{Style, fitted};
use worstcase_results::history::{History, HistoryError, find};

/// Many runs over time or kernels: maximum, p99.9 and losses, and where they changed
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase history RUNS                          all runs in a folder, and in folders of it
  worstcase history RUN1 RUN2 RUNS
  worstcase history RUNS --output history.svg     draws them, too
  worstcase history RUNS --fail-on-change         in CI
  worstcase history RUNS --csv > history.csv

What was measured alike on one machine is a line: load, probe, CPU, interval, timer, priority and preemption model. Kernel,
date and settings may differ; they are named where a line changed. On a machine a change is said only if a rank test shows
it, and dated only if a step explains it better than a drift: all series together err with a probability of 5 %
(docs/over-time.md). In the lab every difference is exact.
What is no run that can be read is skipped and told.
Exit code: 0; with --fail-on-change 1 if the last change of a measure is for the worse, and 2 if a run is damaged;
2 if there is no run.")]
pub struct HistoryArgs {
    /// Runs' folders, or folders that hold some
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Draw them into this SVG file as well
    #[arg(short, long, value_name = "FILE.svg", value_parser = PathBufValueParser::new().try_map(drawn))]
    output: Option<PathBuf>,
    /// Light on dark, for slides
    #[arg(long, requires = "output")]
    dark: bool,
    /// Exit with 1 if the last change of a measure is for the worse (in the lab: the newest kernel by more than 10 %)
    #[arg(long)]
    fail_on_change: bool,
    /// Show all points in the tables
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    all: bool,
    /// Print JSON (worstcase-history/3), times in ns
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print a line for each point as CSV, times in ns
    #[arg(long)]
    csv: bool,
}

fn drawn(path: PathBuf) -> Result<PathBuf, String> {
    match path.extension().is_some_and(|e| e == "svg") {
        true => Ok(path),
        false => Err("it is drawn as SVG; name a file that ends in .svg".into()),
    }
}

worstcase_base::errors! {
    /// Why there is no history.
    #[derive(Debug, thiserror::Error)]
    pub enum HistoryCliError {
        /// No run could be read.
        #[error(transparent)]
        History(#[from] HistoryError) => within,
        /// A damaged folder may be the newest run: there is no answer.
        #[error("--fail-on-change has no answer, {count} of the runs cannot be read: {why}")]
        Damaged {
            /// The number of damaged folders.
            count: usize,
            /// The damage of the first.
            why: String,
        } => Usage,
        /// The CSV cannot be written.
        #[error("cannot write CSV: {0}")]
        Csv(String) => Storage,
        /// The picture cannot be written.
        #[error("cannot write {}: {cause}; choose another file with -o", path.display())]
        Write {
            /// The file.
            path: PathBuf,
            /// The system's words.
            cause: io::Error,
        } => Storage,
        /// The output failed.
        #[error(transparent)]
        Output(#[from] OutputError) => Storage,
    }
}

/// Runs the command.
pub fn run(args: &HistoryArgs) -> Result<ExitCode, HistoryCliError> {
    let history = History::of(find(&args.folders)?, version::compare);
    if let Some(path) = &args.output {
        let theme = if args.dark { Theme::Dark } else { Theme::Light };
        output::write(path, svg(&history, theme).as_bytes()).map_err(|cause| HistoryCliError::Write {
            path: path.clone(),
            cause,
        })?;
    }
    print(&match (args.json, args.csv) {
        (true, _) => json::document(&history),
        (_, true) => csv::run(&history).map_err(|e| HistoryCliError::Csv(e.to_string()))?,
        _ => fitted(&terminal::lines(&history, args.all, Style::of_stdout())),
    })?;
    if args.fail_on_change {
        check_whole(&history)?;
    }
    match args.fail_on_change && history.is_worse() {
        true => Ok(ExitCode::from(ExitKind::Fail as u8)),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// When a run was measured stands in its records: one that cannot be read may be the newest.
fn check_whole(history: &History) -> Result<(), HistoryCliError> {
    let damaged: Vec<_> = history.skipped.iter().filter(|s| s.damaged).collect();
    match damaged.first() {
        None => Ok(()),
        Some(first) => Err(HistoryCliError::Damaged {
            count: damaged.len(),
            why: first.why.clone(),
        }),
    }
}
