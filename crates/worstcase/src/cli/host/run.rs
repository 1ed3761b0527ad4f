//! `worstcase host run`.

use super::broke::Broke;
use super::choice::EveryHost;
use super::folder::{self, RunPlace, TITLE};
use super::hooks::{self, HookArgs, Hooks};
use super::lines::{ProgressLines, Quiet};
use super::live::{self, LiveScreen};
use super::on::{self, OnArgs};
use crate::cli::error::Error;
use crate::cli::kept::{KeptArgs, judged};
use crate::cli::parameters::ParameterArgs;
use crate::cli::progress::is_quiet;
use crate::cli::{show, stop};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worstcase_base::ExitKind;
use worstcase_base::output::BegunFolder;
use worstcase_base::progress::Silent;
use worstcase_base::say;
use worstcase_contract::Nanos;
use worstcase_host::run::specs::matrix;
use worstcase_host::run::{HostExecutor, MeasurementObserver};
use worstcase_host::{HostError, StateFolder};
use worstcase_plan::{Experiment, ExperimentPlan, Venue};
use worstcase_results::record::{CompletedCells, ENDED_EARLY, Run, RunPlan, execute};

const HELP: &str = "\
Examples:
  worstcase host run
  worstcase host run --load desktop --time 10m --criterion 100us
  worstcase host run --probe response --load cpu+disk --cpus 2-3 --interval 250us
  worstcase host run --probe jitter --load desktop
  worstcase host run --probe switch:2/16x0/16k --load desktop
  worstcase host run --probe hackbench:1/4+pipes/sockets
  worstcase host run --probe inversion --criterion 100us
  worstcase host run --probe remote,shootdown:0/1 --samples 100
  worstcase host run --load desktop --seeds 3 --output mine --resume
  worstcase host run -a 2-3 -p 90 -i 1ms -D 10m -b 100us --on-break 'logger late'
  worstcase host run --on board1,root@board2 --load desktop --time 10m -o boards

Each run has a folder of its own, without -o host-NAME-YYYYMMDD-HHMM (UTC); --resume goes on with one. Ctrl-C ends a measurement early; what was
taken until then is kept whole.
As root everything can be measured; without, what is missing is said, and stands in the record.
Exit code: 0 all was measured, whatever the verdict: worstcase verdict and gate decide by it;
1 a sample was above --break, 130 Ctrl-C ended it early: what was measured is kept.";

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct HostRunArgs {
    #[command(flatten)]
    parameters: ParameterArgs<EveryHost>,
    #[command(flatten)]
    hooks: HookArgs,
    #[command(flatten)]
    kept: KeptArgs,
    /// Go on with the run in the folder of --output: measure what it lacks
    #[arg(long, requires = "output", conflicts_with = "boards")]
    resume: bool,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    on: OnArgs,
}

/// What is shown meanwhile; changes nothing of the result.
#[derive(Debug, Default, Args)]
pub struct ViewArgs {
    /// Plain lines while it measures, also on a terminal
    #[arg(long)]
    plain: bool,
}

impl HostRunArgs {
    /// The experiment, and the run's folder.
    pub fn plan(&self) -> Result<(ExperimentPlan, PathBuf), Error> {
        let plan = ExperimentPlan::new(TITLE, self.experiment()?);
        let output = self.kept.output.clone();
        Ok((plan, output.unwrap_or_else(folder::usual)))
    }

    fn experiment(&self) -> Result<Experiment, Error> {
        let experiment = self.parameters.given.experiment(Venue::Host, &[])?;
        Ok(judged(experiment, self.kept.criterion)?)
    }
}

/// Runs the command.
pub fn run(args: &HostRunArgs, state: &StateFolder) -> Result<ExitCode, Error> {
    let (plan, dir) = args.plan()?;
    if !args.on.boards.is_empty() {
        let mut arguments = worstcase_plan::command(&plan.experiment, None, Path::new(on::RUN)).split_off(1);
        arguments.push("--quiet".into());
        return on::run(&args.on, &arguments, args.kept.output.as_deref());
    }
    let resume = args.resume;
    let hooks = args.hooks.parsed()?;
    if hooks.on_break.is_some() && args.parameters.given.values("break").is_none() {
        return Err(HostError::Argument("--on-break needs --break, e.g. --break 100us".into()).into());
    }
    measure(plan, &RunPlace { dir, resume }, state, &args.view, hooks)
}

/// Measures into the run folder and shows what came out.
pub fn measure(
    mut plan: ExperimentPlan,
    place: &RunPlace,
    state: &StateFolder,
    view: &ViewArgs,
    hooks: Hooks,
) -> Result<ExitCode, Error> {
    let output = &place.dir;
    Run::check_begun(output, place.resume)?;
    plan.title = folder::titled(&plan.title);
    let matrix = matrix(&plan.experiment)?;
    let criterion = plan.experiment.criterion;
    let cells = matrix.tasks().into_iter().flat_map(|task| task.cells).collect();
    let _begun = BegunFolder::at(output);
    let run = Run::create(output, RunPlan::new(plan, cells))?;
    let is_live = !is_quiet() && !view.plain && live::is_usable();
    let stop = stop::in_order((!is_live).then_some("ending the measurement, and keeping what was taken"));
    let broke = Broke::default();
    let watched = broke.watch(watch(is_live, criterion, &stop), hooks.on_break, output);
    let mut executor = HostExecutor::new(matrix, state, Box::new(watched));
    let outcome = execute(&mut executor, &run, &Silent, &stop);
    // Gives the terminal back.
    drop(executor);
    let ended = broke.end();
    let outcome = outcome?;
    if ended.is_none() {
        stop::tell(outcome, &run);
    }
    if outcome.before > 0 {
        tell_short(&run)?;
    }
    if let Some(late) = &ended {
        late.tell(&run)?;
    }
    let interrupted = stop::is_asked() && is_short(outcome, &run)?;
    let shown = match (outcome.measured, interrupted) {
        (0, _) => stop::interrupted(),
        (_, true) => show::summary(&run).map(|_| stop::interrupted())?,
        (_, false) => show::summary(&run)?,
    };
    let outcome = match &ended {
        Some(_) => "break",
        None if interrupted => "interrupted",
        None => "complete",
    };
    if let Some(command) = hooks.on_end {
        let said = hooks::run(
            &command,
            "--on-end",
            output,
            &[("WORSTCASE_OUTCOME", outcome.to_string())],
        );
        hooks::tell(&said);
    }
    Ok(match ended {
        Some(_) => ExitCode::from(ExitKind::Fail as u8),
        None => shown,
    })
}

/// Whether something was not measured, or not as long as it was to be.
fn is_short(outcome: CompletedCells, run: &Run) -> Result<bool, Error> {
    Ok(outcome.measured < outcome.of || short(run)? > 0)
}

fn short(run: &Run) -> Result<usize, Error> {
    let records = run.records()?;
    let short = records.iter().filter(|r| r.environment.contains_key(ENDED_EARLY));
    Ok(short.count())
}

/// Says what stays as short as somebody made it.
fn tell_short(run: &Run) -> Result<(), Error> {
    let short = short(run)?;
    if short > 0 {
        say!("worstcase: cells of measurements that were ended early stay as they are: {short}");
    }
    Ok(())
}

/// The observer that shows the measurement; it is stopped with `stop`.
fn watch(is_live: bool, criterion: Option<Nanos>, stop: &Arc<AtomicBool>) -> Box<dyn MeasurementObserver + Send> {
    match () {
        () if is_live => Box::new(LiveScreen::new(criterion, stop.clone())),
        () if is_quiet() => Box::new(Quiet),
        () => Box::new(ProgressLines::default()),
    }
}
