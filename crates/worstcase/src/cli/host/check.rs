//! `worstcase host check`: can this machine keep a deadline? The doctor, the loads that matter here, the verdict with its
//! cause, what helps, and one page.

use super::doctor;
use super::folder::{self, RunPlace};
use super::hooks::Hooks;
use super::run::{ViewArgs, measure};
use super::try_settings::{self, TryArgs};
use crate::cli::against;
use crate::cli::error::Error;
use crate::cli::words;
use crate::cli::{report, stop};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_base::duration;
use worstcase_base::say;
use worstcase_contract::Nanos;
use worstcase_contract::loads::LoadSpec;
use worstcase_host::doctor::{Finding, FindingLevel};
use worstcase_host::facts::FileTree;
use worstcase_host::run::matter::{MatteringLoad, loads};
use worstcase_host::{CpuList, MachineFacts, StateFolder};
use worstcase_plan::{CellLength, Experiment, ExperimentPlan, Subjects, Venue, grammar};
use worstcase_results::record::{Record, Run};
use worstcase_results::verdict::{Criterion, Outcome, verdicts, worst};

const HELP: &str = "\
Examples:
  worstcase host check --period 1ms --deadline 100us
  worstcase host check --period 250us --deadline 50us --cpus 2-3 --try

The loads are those that matter on this machine; each is named before it begins, with the time of all.
It changes nothing of the machine, but with --try, which sets everything back.
Exit code: 0 PASS, 1 FAIL, 10 INCONCLUSIVE, 130 it was ended early.";

/// What a load takes to start, and its records to be kept.
const START: Nanos = Nanos::from_millis(3_000);

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct CheckArgs {
    /// How often your program has to run
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    period: Nanos,
    /// How late it may be woken at most
    #[arg(long, value_name = "DURATION", value_parser = words::limit)]
    deadline: Nanos,
    /// The CPUs that it may use, e.g. 2-3 [default: all that are not isolated from others]
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// How long each load is measured [default: what a PASS needs: a minute, and 10000 periods]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    time: Option<Nanos>,
    /// After a FAIL, measure what each setting of the doctor brings under the worst load (about ten minutes more)
    #[arg(long = "try")]
    tries: bool,
    /// A run of this kernel's series that counted instructions: whether the path that is blamed can take so long
    #[arg(long, value_name = "RUN")]
    against: Option<PathBuf>,
    /// The run's folder [default: a new one, check-NAME-YYYYMMDD-HHMM (UTC)]; the page and what --try brought are beside it
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    view: ViewArgs,
}

/// Runs the command.
pub fn run(args: &CheckArgs, state: &StateFolder) -> Result<ExitCode, Error> {
    args.output.as_deref().map_or(Ok(()), Run::check_free)?;
    let facts = MachineFacts::of(Path::new("/"));
    let findings = doctor::findings(&facts, args.cpus.as_ref())?;
    let loads = loads(&facts, &FileTree::at(Path::new("/")));
    let length = args.length();
    if let Some(lab) = &args.against {
        let names: Vec<String> = loads.iter().map(|row| row.load.to_string()).collect();
        against::check_before(lab, facts.kernel.release.as_deref().unwrap_or_default(), &names)?;
    }
    tell(args, &findings, &loads, length);
    let dir = args.output.clone().unwrap_or_else(|| folder::new("check"));
    let title = format!(
        "how late this machine wakes a program: within {}, every {}",
        duration::show(args.deadline),
        duration::show(args.period)
    );
    let plan = ExperimentPlan::new(title, args.experiment(&loads, length)?);
    let place = RunPlace {
        dir: dir.clone(),
        resume: false,
    };
    let ended = measure(plan, &place, state, &args.view, Hooks::default())?;
    let run = Run::open(&dir)?;
    if run.missing().next().is_some() {
        return Ok(ended);
    }
    let records = run.records()?;
    let criterion = Criterion::of(args.deadline, &records);
    let outcome = worst(&verdicts(&run.plan().cells, &records, &criterion));
    if args.tries && outcome == Outcome::Fail {
        try_settings::run(&args.trial(&records, &dir), state)?;
        if stop::is_asked() {
            return Ok(stop::interrupted());
        }
    }
    let page = PathBuf::from(format!("{}.html", dir.display().to_string().trim_end_matches('/')));
    report::of_host(&run, &page, args.against.clone())?;
    Ok(ExitCode::from(outcome.exit_code()))
}

impl CheckArgs {
    /// A minute and ten thousand periods of each load: what a PASS needs.
    fn length(&self) -> Nanos {
        let needs = Criterion::of_host(self.deadline);
        // Some more: the periods at the ends.
        let periods = Nanos(self.period.0.saturating_mul(needs.min_samples + needs.min_samples / 50));
        self.time.unwrap_or(needs.min_time.max(periods))
    }

    fn experiment(&self, loads: &[MatteringLoad], length: Nanos) -> Result<Experiment, Error> {
        let mut experiment = Experiment::usual(Venue::Host, Subjects::Cpus(self.cpus.clone()));
        let part = &mut experiment.parts[0];
        part.loads = loads.iter().map(|row| row.load.clone()).collect();
        part.timing.interval = Some(self.period);
        part.timing.length = Some(CellLength::Time(length));
        experiment.criterion = Some(self.deadline);
        experiment.check()?;
        Ok(experiment)
    }

    /// What helps under the load with the latest sample.
    fn trial(&self, records: &[Record], dir: &Path) -> TryArgs {
        let worst = records
            .iter()
            .max_by_key(|r| r.max_latency())
            .map(|r| r.cell.load.as_str());
        let idle = || "idle".parse().expect("there is a load of this name");
        let load: LoadSpec = worst.and_then(|load| load.parse().ok()).unwrap_or_else(idle);
        TryArgs::under(
            load,
            self.cpus.clone(),
            self.deadline,
            format!("{}-try", dir.display()).into(),
        )
    }
}

/// What is about to happen, on standard error: the doctor's findings, the loads, the time.
fn tell(args: &CheckArgs, findings: &[Finding], loads: &[MatteringLoad], length: Nanos) {
    if crate::cli::progress::is_quiet() {
        return;
    }
    let each = length + grammar::usual(Venue::Host).warmup + START;
    let all = Nanos(each.0.saturating_mul(loads.len() as u64));
    say!(
        "worstcase: {} loads, {} each: about {}",
        loads.len(),
        duration::about(length),
        duration::about(all)
    );
    let width = loads.iter().map(|row| row.load.to_string().len()).max().unwrap_or(0);
    for row in loads {
        say!("  {:width$}  {}", row.load.to_string(), row.why);
    }
    let ill = |finding: &&Finding| matches!(finding.level, FindingLevel::Harmful | FindingLevel::Notice);
    for finding in findings.iter().filter(ill) {
        let level = match finding.level {
            FindingLevel::Harmful => "harmful",
            _ => "notice",
        };
        say!("worstcase: {level}: {}", finding.what);
    }
    if findings.iter().any(|f| ill(&f)) {
        let cpus = args
            .cpus
            .as_ref()
            .map_or(String::new(), |cpus| format!(" --cpus {cpus}"));
        say!("worstcase: why, and the remedies: worstcase host doctor{cpus}");
    }
}
