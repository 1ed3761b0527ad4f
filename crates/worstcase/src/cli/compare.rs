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
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_report::compare::{ShownComparison, json, markdown, terminal};
use worstcase_report::terminal::{Style, fitted};
use worstcase_results::compare::{MappedSubjects, Side, compare};

/// What changed between two runs, or two subjects of one, cell by cell, with a test over the seeds
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase compare BEFORE AFTER
  worstcase compare RUN --subject none --with full         two subjects of one run; a part of a name will do
  worstcase compare BEFORE AFTER --map 6.1.0-56-amd64.full=6.12.1-amd64.lazy
  worstcase compare BEFORE AFTER --explain                 replays both worst samples of the largest worsening
  worstcase compare BEFORE AFTER --markdown > comment.md

Cells belong together if load, probe and CPU are the same. Subjects: as --map says; the only one on each side; those of
one name; those that differ in the kernel alone. Only what was measured alike compares (period, periods, warm-up,
priority, timer); the rest is listed with its reason.
better and worse are said only of what an exact rank test over the seeds shows (level 0.05, all tests of the comparison
corrected together), so it takes at least 4 seeds on each side. In the lab the samples are compared bit by bit, too.
Exit code: 0 whatever changed; worstcase gate decides.")]
pub struct CompareArgs {
    /// The run to compare with: its folder, or a baseline's file
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The run that is compared [default: A, with --subject and --with]
    #[arg(value_name = "B", required_unless_present = "with")]
    b: Option<PathBuf>,
    /// Only this subject of A; a part of its name will do
    #[arg(long, value_name = "SUBJECT", requires = "with", conflicts_with = "map")]
    subject: Option<String>,
    /// The subject of B to compare it with
    #[arg(long, value_name = "SUBJECT", requires = "subject")]
    with: Option<String>,
    /// A subject of A and the one of B that belongs to it; may be given again
    #[arg(long, value_name = "A=B")]
    map: Vec<MappedSubjects>,
    /// Print JSON (worstcase-compare/4), times in ns
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
    let path_b = args.b.as_ref().unwrap_or(&args.a);
    let (a, b) = (Side::open(&args.a)?, Side::open(path_b)?);
    let chosen = args
        .subject
        .clone()
        .zip(args.with.clone())
        .map(|(a, b)| MappedSubjects { a, b });
    let only = chosen.is_some();
    let mapped: Vec<MappedSubjects> = args.map.iter().cloned().chain(chosen).collect();
    let comparison = compare(&a, &b, &mapped, only)?;
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
        let worst = worst.ok_or(WorseningError::None)?;
        let terminal = ProgressDisplay::new();
        let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
        let additions = args.replay.added.named()?;
        let means = args.replay.means(&additions, &options, None);
        let told = breakdown(&means, &args.a, path_b, worst)?;
        print(&format!("\n{told}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// This command, with the breakdown.
fn again(args: &CompareArgs) -> String {
    let mut words = ["worstcase", "compare"].map(String::from).to_vec();
    words.push(args.a.display().to_string());
    words.extend(args.b.iter().map(|b| b.display().to_string()));
    for (option, subject) in [("--subject", &args.subject), ("--with", &args.with)] {
        words.extend(subject.iter().flat_map(|s| [option.to_string(), s.clone()]));
    }
    words.extend(
        args.map
            .iter()
            .flat_map(|m| ["--map".to_string(), format!("{}={}", m.a, m.b)]),
    );
    words.push("--explain".to_string());
    shell(&words)
}
