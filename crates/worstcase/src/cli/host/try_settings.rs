//! `worstcase host try`: measures which of the doctor's settings help.

use super::folder;
use super::try_switch::Switch;
use crate::cli::error::Error;
use crate::cli::output::{print, print_json};
use crate::cli::progress::ProgressDisplay;
use crate::cli::stop;
use crate::cli::words;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_analysis::trial::{MeasuredRounds, Shortest, Trial, judge, rounds_for};
use worstcase_base::duration;
use worstcase_base::format::{plain, shell};
use worstcase_base::output::BegunFolder;
use worstcase_base::progress::{CountedWork, Progress, Silent};
use worstcase_base::say;
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;
use worstcase_contract::loads::LoadSpec;
use worstcase_host::doctor::{examine, settable};
use worstcase_host::message::Message;
use worstcase_host::run::specs::matrix;
use worstcase_host::run::trial::{SWITCHED, TrialVariant, not_settable, orders, variants};
use worstcase_host::run::{HostExecutor, MeasurementObserver};
use worstcase_host::{CpuList, HostError, HostSpec, Journal, MachineFacts, StateFolder};
use worstcase_plan::{CellLength, Experiment, ExperimentPlan, Seeds, Subjects, Venue};
use worstcase_report::terminal::Style;
use worstcase_report::trial::terminal;
use worstcase_results::record::{Executor, Quantity, Run, RunPlan};

const HELP: &str = "\
Examples:
  worstcase host try
  worstcase host try --load desktop --time 20s --rounds 8 --criterion 100us
  worstcase host try --only timer-migration,huge-pages --load fork
  worstcase host try --switch 'tuned-adm profile realtime' --back 'tuned-adm profile balanced'

Each setting that `worstcase host doctor` can make is made alone, then all together; each is measured in every
round, in random order, and set back; or what a command of your own makes is tried, against the machine without it. With --criterion the fewest settings that reach it are looked for, and measured
again, in turns with the machine as it is, for a minute each.
Every round of every variant is kept: a run for each variant, in the folder of --output.
Exit code: 0 it was measured, whatever it says.";

/// Arguments of `try`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct TryArgs {
    /// Try these settings only, by the names that --json of the doctor gives
    #[arg(long, value_name = "SETTING", value_delimiter = ',')]
    only: Vec<String>,
    /// Try what this command makes instead, e.g. "tuned-adm profile realtime": it is split into words like a shell's, and no
    /// shell runs it
    #[arg(long, value_name = "COMMAND", requires = "back", conflicts_with = "only")]
    switch: Option<String>,
    /// The command that takes --switch back; it runs after every round, and if worstcase is killed
    #[arg(long, value_name = "COMMAND", requires = "switch")]
    back: Option<String>,
    /// The load [default: idle]
    #[arg(long, value_name = "LOAD", default_value = "idle", hide_default_value = true, hide_possible_values = true, value_parser = words::loads(LoadSpec::from_str))]
    load: LoadSpec,
    /// wakeup or response
    #[arg(long, value_name = "PROBE", default_value = "wakeup", value_parser = ["wakeup", "response"])]
    probe: String,
    /// CPUs to measure, e.g. 0,2-5 [default: all that are online]
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// How long each measurement takes
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration::parse)]
    time: Nanos,
    /// How often each variant is measured [default: as many as a difference needs, 8 for one setting, 11 for ten]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: Option<u32>,
    /// Look for the fewest settings with which no latency is above this, e.g. 100us
    #[arg(long, value_name = "DURATION", value_parser = words::limit)]
    criterion: Option<Nanos>,
    /// The folder of the runs [default: a new one, try-NAME-YYYYMMDD-HHMM (UTC)]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print JSON (worstcase-trial/2)
    #[arg(long)]
    json: bool,
}

impl TryArgs {
    /// What the settings bring under a load, measured as usual.
    pub(super) fn under(load: LoadSpec, cpus: Option<CpuList>, criterion: Nanos, output: PathBuf) -> TryArgs {
        TryArgs {
            only: Vec::new(),
            switch: None,
            back: None,
            load,
            probe: "wakeup".into(),
            cpus,
            time: Nanos::from_millis(5_000),
            rounds: None,
            criterion: Some(criterion),
            output: Some(output),
            json: false,
        }
    }
}

/// Runs the command.
pub fn run(args: &TryArgs, state: &StateFolder) -> Result<ExitCode, Error> {
    let switch = Switch::of(args.switch.as_deref(), args.back.as_deref())?;
    let settings = match &switch {
        Some(_) => vec![SWITCHED.to_string()],
        None => settings(args)?,
    };
    let names: Vec<&str> = settings.iter().map(String::as_str).collect();
    let folder = args.output.clone().unwrap_or_else(|| folder::new("try"));
    Run::check_free(&folder)?;
    let begun = BegunFolder::at(&folder);
    let stop = stop::in_order("ending the measurement, and setting the machine back");
    let bar = ProgressDisplay::new();
    let trying = Trying {
        args,
        folder: &folder,
        state,
        switch: switch.as_ref(),
        stop: &stop,
        bar: &bar,
    };
    let outcome = trying.all(&names);
    bar.end();
    let Some(trial) = outcome? else {
        begun.discard();
        say!("worstcase: ended before the first round was over: nothing is kept, and the machine is as it was");
        return Ok(stop::interrupted());
    };
    match args.json {
        true => print_json(&trial)?,
        false => {
            let title = folder::titled(&format!("what the settings bring, load {}, {}", args.load, args.probe));
            let text = terminal(&trial, &title, Style::of_stdout());
            print(&format!(
                "{text}\nkept in {}; one of them: worstcase show {}/{}\n",
                folder.display(),
                folder.display(),
                trial.variants[0].name
            ))?;
        }
    }
    Ok(match stop.load(Ordering::Relaxed) {
        true => stop::interrupted(),
        false => ExitCode::SUCCESS,
    })
}

/// The names of the settings to be tried.
fn settings(args: &TryArgs) -> Result<Vec<String>, HostError> {
    let facts = MachineFacts::of(Path::new("/"));
    let online = facts.cpu.online.clone().unwrap_or_default();
    let cpus = args.cpus.as_ref().unwrap_or(&online);
    let findings = examine(&facts, cpus);
    let known: Vec<String> = settable(&findings).map(|finding| finding.id.to_string()).collect();
    if known.is_empty() {
        return Err(HostError::Argument(
            "there is nothing to try: what the doctor could set is as it should be (worstcase host doctor)".into(),
        ));
    }
    let unknown = args.only.iter().find(|name| !known.contains(name));
    match unknown {
        Some(name) => Err(not_settable(name, &known)),
        None if args.only.is_empty() => Ok(known),
        None => Ok(args.only.clone()),
    }
}

struct Trying<'a> {
    args: &'a TryArgs,
    folder: &'a Path,
    state: &'a StateFolder,
    switch: Option<&'a Switch>,
    stop: &'a AtomicBool,
    bar: &'a ProgressDisplay,
}

/// What a confirmation measures of each variant: as much as a verdict needs.
const CONFIRMED_AFTER: Nanos = Nanos::from_millis(60_000);

impl Trying<'_> {
    /// All variants, then fewer settings than all as long as that may suffice, then the chosen ones again; none if no round was
    /// over.
    fn all(&self, settings: &[&str]) -> Result<Option<Trial>, Error> {
        let first = variants(settings);
        let rounds = self
            .args
            .rounds
            .map_or(rounds_for(first.len() - 1), |rounds| rounds as usize);
        let first = self.rounds(first, rounds, "")?;
        if !has_round(&first) {
            return Ok(None);
        }
        let mut fewer: Vec<MeasuredRounds> = Vec::new();
        loop {
            let trial = judge(&first, &fewer, None, self.args.criterion);
            let Some(next) = trial.next().filter(|_| !self.is_over()) else {
                break;
            };
            let further = self.beside(&next, rounds, &format!("fewer-{}", next.len()))?;
            if !has_round(&further) {
                return Ok(Some(trial));
            }
            fewer.push(further);
        }
        let trial = judge(&first, &fewer, None, self.args.criterion);
        let Shortest::NotConfirmed(chosen) = &trial.shortest else {
            return Ok(Some(trial));
        };
        if self.is_over() {
            return Ok(Some(trial));
        }
        let minute = CONFIRMED_AFTER.0.div_ceil(self.args.time.0.max(1)) as usize;
        let again = self.beside(chosen, rounds.max(minute), "again")?;
        let again = Some(&again).filter(|again| has_round(again));
        Ok(Some(judge(&first, &fewer, again, self.args.criterion)))
    }

    /// These settings together, in turns with the machine as it is.
    fn beside(&self, settings: &[String], rounds: usize, stage: &str) -> Result<MeasuredRounds, Error> {
        let names: Vec<&str> = settings.iter().map(String::as_str).collect();
        self.rounds(vec![TrialVariant::of(&[]), TrialVariant::of(&names)], rounds, stage)
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Measures every variant once a round, in the order of that round. A round that ends early does not count. The runs are in
    /// the folder `stage`.
    fn rounds(&self, variants: Vec<TrialVariant>, rounds: usize, stage: &str) -> Result<MeasuredRounds, Error> {
        let mut ready = variants
            .iter()
            .map(|v| self.ready(v, rounds, stage))
            .collect::<Result<Vec<_>, Error>>()?;
        for ((_, executor), variant) in ready.iter_mut().zip(&variants) {
            self.prove(variant, executor)?;
        }
        self.bar.begin(&CountedWork {
            units: "measurements",
            ..CountedWork::cells(rounds * ready.len())
        });
        let mut measured: MeasuredRounds = variants.into_iter().map(|variant| (variant, Vec::new())).collect();
        for (round, order) in orders(ready.len(), rounds, Utc::now().seconds())
            .into_iter()
            .enumerate()
        {
            let mut of_round = vec![Nanos(0); ready.len()];
            for place in order {
                let (run, executor) = &mut ready[place];
                let switch = self.switch.filter(|_| measured[place].0.is_switched());
                let held = switch.map(|switch| switch.make(self.state)).transpose()?;
                self.measure(run, executor, round)?;
                held.map(Journal::finish_all).transpose()?;
                if self.is_over() {
                    return Ok(measured);
                }
                of_round[place] = highest(run, round)?;
                self.bar.done(&format!("measured {}", run.plan().cells[0].id));
            }
            measured
                .iter_mut()
                .zip(of_round)
                .for_each(|((_, maxima), one)| maxima.push(one));
        }
        Ok(measured)
    }

    /// Makes a variant's settings and sets them back, so that what cannot be made is known before anything is measured.
    fn prove(&self, variant: &TrialVariant, executor: &mut HostExecutor) -> Result<(), Error> {
        let switch = self.switch.filter(|_| variant.is_switched());
        let held = switch.map(|switch| switch.make(self.state)).transpose()?;
        let begun = executor.begin(&[0], &Silent);
        let refused = executor.refused();
        executor.end()?;
        held.map(Journal::finish_all).transpose()?;
        begun?;
        match refused {
            Some(why) => Err(HostError::Missing(why).into()),
            None => Ok(()),
        }
    }

    /// One round of a variant: its settings are made before, and set back behind it.
    fn measure(&self, run: &Run, executor: &mut HostExecutor, round: usize) -> Result<(), Error> {
        let begun = executor.begin(&[round], &Silent);
        let measured = begun.and_then(|()| match executor.refused() {
            Some(why) => Err(HostError::Missing(why)),
            None => executor.measure(round, run, self.stop),
        });
        executor.end()?;
        Ok(measured?)
    }

    /// A variant's run, and who measures it: one measurement for each round.
    fn ready(&self, variant: &TrialVariant, rounds: usize, stage: &str) -> Result<(Run, HostExecutor<'_>), Error> {
        let args = self.args;
        let mut experiment = Experiment::usual(Venue::Host, Subjects::Cpus(args.cpus.clone()));
        for part in &mut experiment.parts {
            part.loads = vec![args.load.clone()];
            part.probes = vec![args.probe.clone()];
            part.seeds = Seeds::to(rounds as u32);
            part.timing.length = Some(CellLength::Time(args.time));
            part.method.captures = Some(0);
        }
        experiment.setup.apply = variant.apply();
        experiment.criterion = args.criterion;
        experiment.check()?;
        let name = match self.switch.filter(|_| variant.is_switched()) {
            Some(switch) => plain(&shell(&switch.command)),
            None => variant.name.clone(),
        };
        let plan = ExperimentPlan::new(folder::titled(&format!("settings: {name}")), experiment);
        let matrix = matrix(&plan.experiment)?;
        let cells = matrix.tasks().into_iter().flat_map(|task| task.cells).collect();
        let dir = self.folder.join(stage).join(&variant.name);
        Run::check_free(&dir)?;
        let run = Run::create(&dir, RunPlan::new(plan, cells))?;
        Ok((run, HostExecutor::new(matrix, self.state, Box::new(Unwatched))))
    }
}

fn has_round(measured: &MeasuredRounds) -> bool {
    measured.iter().all(|(_, maxima)| !maxima.is_empty())
}

/// The highest latency of a round, of all its CPUs.
fn highest(run: &Run, round: usize) -> Result<Nanos, Error> {
    let records = run.records()?;
    let of_round = records.iter().filter(|record| record.cell.seed == round as u64 + 1);
    let maxima = of_round.filter_map(|record| record.summary(Quantity::Latency));
    Ok(maxima.map(|summary| Nanos(summary.max_ns)).max().unwrap_or_default())
}

/// A measurement of many says nothing of its own.
struct Unwatched;

impl MeasurementObserver for Unwatched {
    fn note(&mut self, _note: &str) {}

    fn begin(&mut self, _nth: usize, _of: usize, _spec: &HostSpec) {}

    fn message(&mut self, _spec: &HostSpec, _message: &Message) {}

    fn end(&mut self) {}
}
