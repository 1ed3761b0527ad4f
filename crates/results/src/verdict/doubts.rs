//! The reasons against a PASS.

use super::Criterion;
use super::evidence::{steal_share, throttled};
use crate::record::{CellEntry, Record, Venue};
use std::collections::{BTreeMap, BTreeSet};
use worstcase_base::duration;
use worstcase_base::format::counted;
use worstcase_contract::Nanos;

/// The share of time that the hypervisor may take on a host with a PASS: stolen time is late time, and not the
/// kernel's fault.
pub const STEAL_ALLOWED: f64 = 0.001;

/// All of it, in words.
pub(crate) fn of(planned: &[&CellEntry], records: &[&Record], criterion: &Criterion) -> Vec<String> {
    let mut reasons = Vec::new();
    let missing = planned.iter().filter(|c| !records.iter().any(|r| r.id == c.id)).count();
    if missing > 0 {
        reasons.push(format!("{missing} of {} cells were not measured", planned.len()));
    }
    reasons.extend(too_little(records, criterion));
    for record in records {
        let at_ends = record.accounting.periods().map_or(0, |p| p.missed_at_ends);
        if at_ends > 0 {
            reasons.push(format!(
                "{}: {at_ends} periods at the ends have no sample to bound them",
                record.id
            ));
        }
    }
    let untold = records
        .iter()
        .filter(|r| r.awaits_timer() && r.missed().is_none())
        .count();
    if untold > 0 {
        let of = records.len();
        reasons.push(format!(
            "how many periods were missed is not known in {untold} of {of} cells"
        ));
    }
    reasons.extend(records.iter().filter_map(|r| lost(r)));
    reasons.extend(interference(records));
    reasons.extend(warnings(records));
    reasons.extend(another_model(records));
    reasons
}

/// The lost samples of a cell. A worse one may be among them.
pub fn lost(record: &Record) -> Option<String> {
    let (lost, of) = (record.accounting.lost(), record.accounting.row_name());
    let s = if lost == 1 { "" } else { "s" };
    (lost > 0).then(|| format!("{}: {lost} {of}{s} lost while measuring", record.id))
}

/// Too few seeds, samples or too little time. In the lab the seeds of a load and probe are one body of evidence; on the
/// host every CPU answers for itself.
fn too_little(records: &[&Record], criterion: &Criterion) -> Vec<String> {
    let mut seeds: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let mut amounts: BTreeMap<String, (Option<u64>, u64)> = BTreeMap::new();
    for record in records {
        let question = format!("{}, {}", record.cell.load, record.cell.probe);
        let whole = record
            .cell
            .cpu
            .map_or(question.clone(), |cpu| format!("{question}, CPU {cpu}"));
        seeds.entry(question).or_default().insert(record.cell.seed);
        let (samples, observation_time) = amounts.entry(whole).or_insert((Some(0), 0));
        // Gaps are no samples: the probe spins and looks all the time.
        *samples = samples
            .filter(|_| record.accounting.gaps().is_none())
            .map(|n| n + record.accounting.taken());
        *observation_time = observation_time.saturating_add(record.observation_time().0);
    }
    let mut reasons = Vec::new();
    for (question, seeds) in seeds {
        if seeds.len() < criterion.min_seeds {
            let needed = criterion.min_seeds;
            reasons.push(format!(
                "{question}: {}, a PASS needs {needed}",
                counted(seeds.len() as u64, "seed")
            ));
        }
    }
    for (whole, (samples, observation_time)) in amounts {
        if let Some(samples) = samples.filter(|n| *n < criterion.min_samples) {
            let needed = criterion.min_samples;
            reasons.push(format!("{whole}: {samples} samples, a PASS needs {needed}"));
        }
        if observation_time < criterion.min_time.0 {
            let (observation_time, needed) = (
                duration::show(Nanos(observation_time)),
                duration::show(criterion.min_time),
            );
            reasons.push(format!("{whole}: {observation_time} observed, a PASS needs {needed}"));
        }
    }
    reasons
}

/// Host: everything beside the kernel under test that took the CPU away, or may have. An unknown value is no PASS.
pub fn interference(records: &[&Record]) -> Vec<String> {
    let host: Vec<&&Record> = records.iter().filter(|r| r.subject.venue() == Venue::Host).collect();
    let of = |count: usize| format!("in {count} of {} cells", host.len());
    let mut reasons = Vec::new();
    let held_back = host.iter().filter(|r| throttled(r).is_some_and(|n| n > 0)).count();
    if held_back > 0 {
        reasons.push(format!(
            "the kernel held real-time threads back (throttling) {}",
            of(held_back)
        ));
    }
    let unknown = host.iter().filter(|r| throttled(r).is_none()).count();
    if unknown > 0 {
        reasons.push(format!(
            "whether the kernel held real-time threads back (throttling) is not known {}",
            of(unknown)
        ));
    }
    let stolen = host.iter().filter_map(|r| Some((steal_share(r)?, *r)));
    if let Some((share, worst)) = stolen
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(s, _)| *s > STEAL_ALLOWED)
    {
        reasons.push(format!(
            "{}: the hypervisor took {:.2} % of the time, a PASS allows {} %",
            worst.id,
            share * 100.0,
            STEAL_ALLOWED * 100.0
        ));
    }
    let unknown = host.iter().filter(|r| steal_share(r).is_none()).count();
    if unknown > 0 {
        reasons.push(format!("the time that a hypervisor took is not known {}", of(unknown)));
    }
    reasons
}

/// Each warning once, with the number of cells that gave it: any of them may have changed the result.
pub(super) fn warnings(records: &[&Record]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for warning in records.iter().flat_map(|r| &r.warnings) {
        *counts.entry(warning).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(warning, cells)| format!("warning in {cells} of {} cells: {warning}", records.len()))
        .collect()
}

/// Whether what a kernel says can be this model. From 6.12 on those with PREEMPT_RT say `rt lazy`: the model, and how it treats
/// ordinary tasks; those that cannot choose say `none or voluntary`.
fn is_in_force(asked: &str, runs: &str) -> bool {
    runs.split(" or ").any(|one| one.split(' ').next() == Some(asked))
}

/// Whether the kernel runs another preemption model than it was asked to.
pub(crate) fn another_model(records: &[&Record]) -> Option<String> {
    let preempt = records.iter().map(|r| &r.subject.preempt);
    let (asked, runs) = preempt
        .filter_map(|p| Some((p.asked.as_ref()?, &p.in_force)))
        .find(|(asked, runs)| !is_in_force(asked, runs))?;
    Some(format!(
        "preemption model {asked} was asked for, the kernel runs {runs}"
    ))
}
