//! `worstcase gate`: is a run worse than a baseline, as text and as exit code.

use super::output::{OutputError, print};
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_base::format::shell;
use worstcase_base::output;
use worstcase_report::gate::{ShownGate, json, junit, markdown, terminal};
use worstcase_report::terminal::{Style, fitted};
use worstcase_results::compare::gate::gate;
use worstcase_results::compare::judged::{GateLimits, LEVEL};
use worstcase_results::compare::side::SeedResult;
use worstcase_results::compare::{CompareError, MappedSubjects, Side, baseline};
use worstcase_results::record::{Record, Run, RunError};
use worstcase_results::stats::{ranks, signed_ranks};
use worstcase_results::verdict::{AskedLimit, Criterion, Outcome, Verdict, verdicts, worst};

/// Is a run worse than a baseline? PASS, FAIL or INCONCLUSIVE as text, JUnit, Markdown and exit code, for CI
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase gate RUN --write-baseline baseline.json
  worstcase gate RUN --baseline baseline.json --junit gate.xml --markdown gate.md
  worstcase gate RUN --baseline baseline.json --tolerance 25% --criterion 200us
  worstcase gate RUN --baseline baseline.json --exact
  worstcase gate A1 A2 A3 A4 A5 --write-baseline baseline.json        real machine: a run is one draw

Exit code: 0 PASS, 1 a cell is worse (FAIL) or above the criterion, 10 INCONCLUSIVE; 2 the input is wrong.
A cell FAILs if a median, p99, maximum or count of missed periods is higher by more than the tolerance and an exact rank
test over the seeds shows it (the probability of any false FAIL by the test is below 5 %); in the lab, which is exact, also
if the worst seed is above the baseline's worst by more than its own limit, or two seeds are by more than the tolerance, or
periods were missed where the baseline missed none. In the lab each seed is set against the same seed of the baseline.
In the lab the same inputs give the same samples: a rerun always PASSes.
INCONCLUSIVE: too few seeds to tell, a worst seed of a host above its limit, cells that are missing or were not measured
alike, interference, new warnings.
With 10 seeds on each side up to 51 tests can tell (3 to 4 for each cell); see docs/ci.md.
With --exact a cell of the lab FAILs if its median, p99, maximum or count of missed periods, the highest of all seeds, is
above the baseline's by as little as 1 ns (or by more than --worst-seed, if that is given); else it PASSes. It needs the
same seeds on both sides; one is enough.")]
pub struct GateArgs {
    /// The run's folder; of a real machine several runs, made in turns with those of the baseline
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// What to compare with: a file that --write-baseline wrote, or a run's folder
    #[arg(long, value_name = "FILE", required_unless_present = "write_baseline")]
    baseline: Option<PathBuf>,
    /// Write a baseline of this run, to be kept in the repository
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "junit", "markdown", "json", "criterion", "map", "exact"])]
    write_baseline: Option<PathBuf>,
    /// What the typical seed's median, p99, maximum and missed periods may be higher by
    #[arg(long, value_name = "SHARE", default_value_t = TypedShare(GateLimits::default().tolerance))]
    tolerance: TypedShare,
    /// What the worst seed's may be higher by than those of the baseline's worst [default: 60%; with --exact 0%]
    #[arg(long, value_name = "SHARE")]
    worst_seed: Option<TypedShare>,
    /// Lab: no test over the seeds; no figure of the worst seed may be above the baseline's
    #[arg(long, conflicts_with = "tolerance")]
    exact: bool,
    /// No latency above this either, e.g. 100us, or no percentile, e.g. p99.9=50us
    #[arg(long, value_name = "LIMIT")]
    criterion: Option<AskedLimit>,
    /// Subjects of the baseline and those of the run that belong to them, separated by commas
    #[arg(long, value_name = "OLD=NEW,...", value_delimiter = ',')]
    map: Vec<MappedSubjects>,
    /// Write JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write Markdown, for a pull request
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Print JSON (worstcase-gate/7), times in ns
    #[arg(long)]
    json: bool,
}

/// A share, typed as `10%`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TypedShare(f64);

impl std::str::FromStr for TypedShare {
    type Err = String;
    fn from_str(text: &str) -> Result<TypedShare, String> {
        let percent: Option<f64> = text.strip_suffix('%').and_then(|number| number.parse().ok());
        let allowed = percent.filter(|p| (0.0..=1_000.0).contains(p));
        allowed
            .map(|p| TypedShare(p / 100.0))
            .ok_or_else(|| "write a percentage from 0% to 1000%, e.g. 10%".to_string())
    }
}

impl std::fmt::Display for TypedShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}%", self.0 * 100.0)
    }
}

worstcase_base::errors! {
    /// Why a run cannot be judged.
    #[derive(Debug, thiserror::Error)]
    pub enum GateError {
        /// The run cannot be read.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// Comparing failed.
        #[error(transparent)]
        Compare(#[from] CompareError) => within,
        /// A criterion is asked of one run.
        #[error("--criterion is of one run; ask each: worstcase verdict RUN --criterion LIMIT")]
        CriterionOfSeveral => Usage,
        /// The XML cannot be written.
        #[error("cannot write JUnit XML: {0}")]
        Junit(#[from] quick_junit::SerializeError) => Storage,
        /// A file cannot be written.
        #[error("cannot write {}: {cause}", path.display())]
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
pub fn run(args: &GateArgs) -> Result<ExitCode, GateError> {
    let runs = args.runs.iter().map(|path| Run::open(path));
    let runs = runs.collect::<Result<Vec<Run>, RunError>>()?;
    let Some(path) = &args.baseline else {
        let [side, _] = Side::open_both(&args.runs, &[])?;
        let path = args.write_baseline.as_ref().expect("clap asks for one of both");
        baseline::write(path, &side)?;
        print(&written(path, &side))?;
        return Ok(ExitCode::SUCCESS);
    };
    let [baseline, side] = Side::open_both(std::slice::from_ref(path), &args.runs)?;
    let limits = limits(args);
    let gated = gate(&baseline, &side, &args.map, &limits)?;
    let asked = match (args.criterion, &runs[..]) {
        (None, _) => None,
        (Some(limit), [run]) => Some((limit, run, run.records()?)),
        (Some(_), _) => return Err(GateError::CriterionOfSeveral),
    };
    let criterion = asked.as_ref().map(|(limit, run, records)| {
        let (criterion, verdicts) = judge(run, records, *limit);
        (criterion, verdicts, records.as_slice())
    });
    let outcome = match &criterion {
        Some((_, verdicts, _)) => gated.outcome.max(worst(verdicts)),
        None => gated.outcome,
    };
    let shown = ShownGate {
        outcome,
        gate: &gated,
        baseline: &baseline,
        run: &side,
        folders: args.runs.iter().map(|run| run.display().to_string()).collect(),
        command: again(args),
        criterion,
    };
    if let Some(path) = &args.junit {
        write(path, &junit::document(&shown)?)?;
    }
    if let Some(path) = &args.markdown {
        write(path, &markdown::lines(&shown))?;
    }
    print(&match args.json {
        true => json::document(&shown),
        false => fitted(&terminal::lines(&shown, Style::of_stdout())),
    })?;
    Ok(ExitCode::from(Outcome::exit_code(outcome)))
}

/// The limits that were asked for; an exact gate allows nothing.
fn limits(args: &GateArgs) -> GateLimits {
    let worst_seed = if args.exact {
        0.0
    } else {
        GateLimits::default().worst_seed
    };
    GateLimits {
        tolerance: args.tolerance.0,
        worst_seed: args.worst_seed.map_or(worst_seed, |share| share.0),
        exact: args.exact,
    }
}

fn judge(run: &Run, records: &[Record], limit: AskedLimit) -> (Criterion, Vec<Verdict>) {
    let criterion = Criterion::asked(limit, records);
    (criterion, verdicts(&run.plan().cells, records, &criterion))
}

/// The words about a written baseline, and whether a gate can rest on it.
fn written(path: &Path, side: &Side) -> String {
    let fewest = side.cells.iter().map(|c| c.seeds.len()).min().unwrap_or(0);
    let tests: usize = side
        .cells
        .iter()
        .map(|c| c.seeds.first().map_or(0, SeedResult::measures))
        .sum();
    let level = LEVEL / tests.max(1) as f64;
    let replicates = side.subjects.iter().map(|s| side.replicates(&s.id())).max();
    let noun = replicates.unwrap_or_default().noun();
    let mut text = format!(
        "wrote {}: {} cells, {fewest} {noun} or more of each\n",
        path.display(),
        side.cells.len()
    );
    // In the lab a run of the same seeds is set against the baseline seed by seed.
    let (least, needs) = match side.subjects.iter().all(|s| side.in_lab(&s.id())) {
        true => (signed_ranks::least(fewest), signed_ranks::needed(level)),
        false => (ranks::least(fewest, fewest), ranks::needed(level)),
    };
    if least > level {
        text += &format!("too few {noun} for a run of other inputs: {tests} tests need {needs} in baseline and run\n");
    }
    text
}

/// The command that asks again.
fn again(args: &GateArgs) -> String {
    let mut words = ["worstcase", "gate"].map(String::from).to_vec();
    words.extend(args.runs.iter().map(|run| run.display().to_string()));
    let mut option = |name: &str, value: String| words.extend([name.to_string(), value]);
    if let Some(baseline) = &args.baseline {
        option("--baseline", baseline.display().to_string());
    }
    let default = GateLimits::default();
    if args.tolerance != TypedShare(default.tolerance) {
        option("--tolerance", args.tolerance.to_string());
    }
    if let Some(share) = args.worst_seed {
        option("--worst-seed", share.to_string());
    }
    if let Some(limit) = args.criterion {
        option("--criterion", limit.to_string());
    }
    for mapped in &args.map {
        option("--map", format!("{}={}", mapped.a, mapped.b));
    }
    if args.exact {
        words.push("--exact".to_string());
    }
    shell(&words)
}

fn write(path: &Path, text: &str) -> Result<(), GateError> {
    output::write(path, text.as_bytes()).map_err(|cause| GateError::Write {
        path: path.to_path_buf(),
        cause,
    })
}
