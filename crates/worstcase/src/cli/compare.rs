//! `worstcase compare`: two runs, cell by cell.

use super::output::print;
use super::progress::ProgressDisplay;
use super::replay::ReplayArgs;
use super::worsening::{WorseningError, breakdown, worsening};
use crate::cli::error::Error;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_base::format::shell;
use worstcase_contract::Venue;
use worstcase_contract::probe::ProbeInfo;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_report::compare::{ShownComparison, json, markdown, terminal};
use worstcase_report::terminal::{Style, fitted};
use worstcase_results::compare::{CompareError, MappedSubjects, Side, chosen, compare};

/// What changed between two runs, or two subjects of one, cell by cell, with a test over the seeds
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase compare BEFORE AFTER
  worstcase compare RUN --subject none --with full         two subjects of one run
  worstcase compare RUN --subject 6.1 --with 6.12          words of their names will do
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
    /// Only this subject of A: words of its name, as "6.1 full"; of several the one that differs in least from that of B
    #[arg(long, value_name = "SUBJECT", requires = "with", conflicts_with = "map")]
    subject: Option<String>,
    /// The subject of B to compare it with
    #[arg(long, value_name = "SUBJECT", requires = "subject")]
    with: Option<String>,
    /// Subjects of A and those of B that belong to them, separated by commas
    #[arg(long, value_name = "A=B,...", value_delimiter = ',')]
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

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<ExitCode, Error> {
    let (of_a, of_b) = sides(args)?;
    let [a, b] = Side::open_both(of_a, of_b)?;
    let named = args.subject.as_ref().zip(args.with.as_ref());
    let chosen = named.map(|(of_a, of_b)| chosen(&a, &b, of_a, of_b)).transpose()?;
    let only = chosen.is_some();
    let mapped: Vec<MappedSubjects> = args.map.iter().cloned().chain(chosen).collect();
    let comparison = compare(&a, &b, &mapped, only)?;
    let worst = worsening(&comparison).filter(|c| a.in_lab(&c.pair.a) && b.in_lab(&c.pair.b));
    let worst = worst.filter(|c| args.explain || is_explained(&c.pair.how.probe));
    let called = |runs: &[PathBuf]| {
        let names: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
        names.join(", ")
    };
    let shown = ShownComparison {
        runs: [called(of_a), called(of_b)],
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
        let worst = worst.ok_or(WorseningError::None)?;
        let terminal = ProgressDisplay::new();
        let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
        let additions = args.replay.added.named()?;
        let means = args.replay.means(&additions, &options, None);
        let [left, right] = breakdown(&means, &of_a[0], &of_b[0], worst)?;
        let told = worstcase_report::breakdown::compare::terminal(&left, &right);
        print(&format!("\n{told}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The runs of both sides.
fn sides(args: &CompareArgs) -> Result<(&[PathBuf], &[PathBuf]), CompareError> {
    match (&args.runs[..], &args.to[..]) {
        ([a, b], []) => Ok((std::slice::from_ref(a), std::slice::from_ref(b))),
        (one @ [_], []) if args.with.is_some() => Ok((one, one)),
        (_, []) => Err(CompareError::WhichRuns),
        (a, b) => Ok((a, b)),
    }
}

/// Whether the worst samples of a probe can be explained in the lab.
fn is_explained(probe: &str) -> bool {
    ProbeInfo::of_word(probe).is_none_or(|info| info.explained.contains(&Venue::Lab))
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
