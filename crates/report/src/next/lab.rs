//! After a run of the lab.

use super::{JudgedRun, NextRule, NextStep, kernels, option, page, the_rest};
use worstcase_analysis::explain::is_worth_explaining;
use worstcase_base::distinct;
use worstcase_plan::{CellLength, PreemptChoice, Seeds};
use worstcase_results::record::{Record, SubjectId};
use worstcase_results::verdict::{Outcome, bears};

pub(super) const RULES: [NextRule; 8] = [
    the_rest,
    more_samples,
    more_seeds,
    explained,
    compared,
    seeds_to_compare,
    other_models,
    page,
];

/// Seeds that are asked for where a PASS lacks some.
const SEEDS: u64 = 5;
/// Seeds with which a comparison of a few cells can tell.
const COMPARED: u64 = 6;

fn seeds(run: &JudgedRun) -> u64 {
    distinct(run.view.records.iter().map(|r| r.cell.seed)).len() as u64
}

/// As many samples of each cell as bear the percentile that is asked for.
fn more_samples(run: &JudgedRun) -> Option<NextStep> {
    let (criterion, _) = run.view.verdicts.as_ref().filter(|_| run.is(Outcome::Inconclusive))?;
    let percentile = criterion.percentile?;
    if run.view.records.iter().all(|r| bears(r, percentile)) {
        return None;
    }
    let enough = SEEDS.max(criterion.min_seeds as u64).max(seeds(run));
    let command = run.again("samples", |e| {
        e.parts[0].seeds = Seeds::to(enough as u32);
        e.parts[0].timing.length = Some(CellLength::Samples(percentile.bearing() as u32));
    })?;
    let what_for = format!("with as many samples of each cell as {} needs", percentile.name());
    Some(NextStep::new(what_for, command))
}

fn more_seeds(run: &JudgedRun) -> Option<NextStep> {
    let (criterion, _) = run.view.verdicts.as_ref().filter(|_| run.is(Outcome::Inconclusive))?;
    let enough = SEEDS.max(criterion.min_seeds as u64);
    if seeds(run) >= criterion.min_seeds as u64 {
        return None;
    }
    let command = run.again("seeds", |e| e.parts[0].seeds = Seeds::to(enough as u32))?;
    Some(NextStep::new("with as many seeds as a PASS needs", command))
}

/// The latest sample of all.
fn explained(run: &JudgedRun) -> Option<NextStep> {
    let worst = run.worst(is_worth_explaining)?;
    let command = run.about("explain");
    let what_for = format!("why it was late: {}, {}", worst.cell.load, worst.subject.id());
    Some(NextStep::new(what_for, command))
}

/// The subjects that are farthest apart.
fn compared(run: &JudgedRun) -> Option<NextStep> {
    let told = || run.view.records.iter().filter(|r| r.max_latency().is_some());
    let of = |id: &SubjectId| {
        told()
            .filter(|r| r.subject.id() == *id)
            .filter_map(Record::max_latency)
            .max()
    };
    let subjects = distinct(told().map(|r| r.subject.id()));
    let low = subjects.iter().min_by_key(|id| of(id))?;
    let high = subjects.iter().max_by_key(|id| of(id))?;
    if low == high || seeds(run) < COMPARED {
        return None;
    }
    let mut command = run.about("compare");
    option(&mut command, "subject", high);
    option(&mut command, "with", low);
    Some(NextStep::new(
        "what differs between the two that are farthest apart, cell by cell",
        command,
    ))
}

/// As many seeds as a comparison of its subjects needs.
fn seeds_to_compare(run: &JudgedRun) -> Option<NextStep> {
    let subjects = distinct(run.view.records.iter().map(|r| r.subject.id())).len();
    if subjects < 2 || seeds(run) >= COMPARED {
        return None;
    }
    let command = run.again("seeds", |e| e.parts[0].seeds = Seeds::to(10))?;
    Some(NextStep::new(
        "with as many seeds as a comparison of its subjects needs",
        command,
    ))
}

/// Those that were not asked for.
fn other_models(run: &JudgedRun) -> Option<NextStep> {
    let mut planned = run.view.plan.experiment.kernels();
    if planned.all(|subject| subject.preempt == PreemptChoice::All) {
        return None;
    }
    let subjects = distinct(run.view.records.iter().map(|r| r.subject.id()));
    let [_] = subjects.as_slice() else {
        return None;
    };
    let command = run.again("models", |e| {
        kernels(e).for_each(|kernel| kernel.preempt = PreemptChoice::All)
    })?;
    Some(NextStep::new(
        "the same in every preemption model that this kernel has",
        command,
    ))
}
