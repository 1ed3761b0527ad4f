//! What to do next: at most three commands that fit what was found, ready to paste.
//!
//! A rule looks at the run and its verdicts and gives a step or none; the rules of a venue stand in the order in which
//! their steps matter.

mod host;
mod lab;

use super::ReportView;
use super::style::{Style, wrapped};
use serde::Serialize;
use worstcase_analysis::breakdown::spans::Mechanism;
use worstcase_base::format::{plain, shell};
use worstcase_plan::{Experiment, PlannedSubject, Subjects};
use worstcase_results::record::{Record, Venue};
use worstcase_results::verdict::{Outcome, worst};

/// Steps that are shown.
const MOST: usize = 3;

/// A command, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// What for, in a few words.
    pub what_for: String,
    /// The words of the command.
    pub command: Vec<String>,
}

/// A step as programs and pages have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ShownStep {
    what_for: String,
    command: String,
}

/// A rule.
type NextRule = fn(&JudgedRun) -> Option<NextStep>;

/// A run with what was found of it.
pub(crate) struct JudgedRun<'a> {
    view: &'a ReportView<'a>,
    outcome: Option<Outcome>,
    /// Why the latest samples were late, as far as it is told.
    causes: &'a [Mechanism],
}

impl NextStep {
    /// Whether it makes a page.
    pub(crate) fn is_page(&self) -> bool {
        self.command.get(1).is_some_and(|word| word == "report")
    }

    fn new(what_for: impl Into<String>, command: Vec<String>) -> NextStep {
        NextStep {
            what_for: what_for.into(),
            command,
        }
    }
}

/// The steps after a run, the first one first; `causes`: why the latest samples were late, as far as it is told.
pub fn next(view: &ReportView, causes: &[Mechanism]) -> Vec<NextStep> {
    let Some(first) = view.records.first() else {
        return Vec::new();
    };
    let run = JudgedRun {
        view,
        outcome: view.verdicts.as_ref().map(|(_, verdicts)| worst(verdicts)),
        causes,
    };
    let rules: &[NextRule] = match first.subject.venue() {
        _ if first.foreign.is_some() => &host::OF_FOREIGN,
        _ if first.followed.is_some() => &host::OF_PROGRAM,
        Venue::Host => &host::RULES,
        Venue::Lab => &lab::RULES,
    };
    let steps = rules.iter().filter_map(|rule| rule(&run));
    steps.take(MOST).collect()
}

/// Steps as lines: a command a line, below what it is for.
pub fn lines(steps: &[NextStep], style: Style) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if !steps.is_empty() {
        lines.extend([String::new(), style.bold("Next")]);
    }
    for step in steps {
        lines.extend(wrapped("  ", &step.what_for));
        lines.push(format!("    {}", plain(&shell(&step.command))));
    }
    lines
}

/// Steps for programs and pages.
pub(crate) fn shown(steps: &[NextStep]) -> Vec<ShownStep> {
    let shown = |step: &NextStep| ShownStep {
        what_for: step.what_for.clone(),
        command: shell(&step.command),
    };
    steps.iter().map(shown).collect()
}

impl JudgedRun<'_> {
    fn is(&self, outcome: Outcome) -> bool {
        self.outcome == Some(outcome)
    }

    /// Whether all that was planned is measured.
    fn is_whole(&self) -> bool {
        self.view.records.len() >= self.view.plan.cells.len()
    }

    /// Whether another preemption model could help: some cause is one that models differ in, or none is told.
    fn may_be_of_the_model(&self) -> bool {
        let differs = |cause: &Mechanism| {
            matches!(
                cause,
                Mechanism::NoReschedulePoint
                    | Mechanism::PreemptionOff
                    | Mechanism::SoftInterrupt
                    | Mechanism::OtherTimer
                    | Mechanism::TimersHeldBack
                    | Mechanism::OtherInterrupt
            )
        };
        self.causes.is_empty() || self.causes.iter().any(differs)
    }

    fn run(&self) -> String {
        self.view.dir.display().to_string()
    }

    /// A command about this run.
    fn about(&self, command: &str) -> Vec<String> {
        self.view.about(command)
    }

    /// The same experiment once more, with a change, once it is whole; a study cannot be changed.
    fn again(&self, name: &str, change: impl FnOnce(&mut Experiment)) -> Option<Vec<String>> {
        self.is_whole().then(|| self.anew(name, change)).flatten()
    }

    /// The same before that.
    fn anew(&self, name: &str, change: impl FnOnce(&mut Experiment)) -> Option<Vec<String>> {
        let plan = self.view.plan;
        if plan.study.is_some() || plan.experiment.parts.len() != 1 {
            return None;
        }
        let mut experiment = plan.experiment.clone();
        change(&mut experiment);
        let dir = format!("{}-{name}", self.run().trim_end_matches('/'));
        Some(worstcase_plan::command(&experiment, None, dir.as_ref()))
    }

    /// The record with the highest latency of those that a rule asks for.
    fn worst(&self, asked: impl Fn(&Record) -> bool) -> Option<&Record> {
        let told = self
            .view
            .records
            .iter()
            .filter(|r| asked(r) && r.max_latency().is_some());
        told.max_by_key(|r| r.max_latency())
    }
}

/// What was planned and not measured; the run's own command goes on with it.
fn the_rest(run: &JudgedRun) -> Option<NextStep> {
    (!run.is_whole() && run.outcome.is_some()).then(|| NextStep::new("what was not measured yet", run.view.to_go_on()))
}

/// A page of it: the pictures and breakdowns in one file.
fn page(run: &JudgedRun) -> Option<NextStep> {
    Some(NextStep::new(
        "all of it as one page, with pictures",
        run.about("report"),
    ))
}

fn option(command: &mut Vec<String>, name: &str, value: impl ToString) {
    command.extend([format!("--{name}"), value.to_string()]);
}

/// The kernels of an experiment of the lab.
fn kernels(experiment: &mut Experiment) -> impl Iterator<Item = &mut PlannedSubject> {
    experiment.parts.iter_mut().flat_map(|part| match &mut part.subjects {
        Subjects::Kernels(kernels) => kernels.iter_mut(),
        Subjects::Cpus(_) => [].iter_mut(),
    })
}
