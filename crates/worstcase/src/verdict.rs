//! Whether a subject meets a limit on its latency, from stored records alone.
//!
//! FAIL needs one proof, PASS needs enough evidence, and everything else is INCONCLUSIVE with its reasons.

use crate::duration;
use crate::record::{CellEntry, Quantity, Record, SubjectId};
use crate::report::format::{grouped, micros_exact};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use worstcase_probe::Nanos;

/// What is asked of every subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// No latency is above it.
    pub limit: Nanos,
    /// Seeds that a PASS needs of every load and probe: one seed is one path through the kernel.
    pub min_seeds: usize,
    /// Samples that a PASS needs of every load and probe, all seeds together. By the rule of three, n samples
    /// without one above the limit say (95 %, were they independent) that fewer than 3/n of all periods are above.
    pub min_samples: u64,
}

impl Criterion {
    /// A limit with the usual evidence: 3 seeds and 1 000 samples.
    pub const fn new(limit: Nanos) -> Criterion {
        Criterion {
            limit,
            min_seeds: 3,
            min_samples: 1_000,
        }
    }
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    /// Every sample is within the limit, and there is enough evidence.
    Pass,
    /// Not enough evidence, or something voids it.
    Inconclusive,
    /// At least one period was later than the limit.
    Fail,
}

impl Outcome {
    /// Exit code of commands that turn a verdict into one: 0, 1, or 2 ("no answer", as for bad input).
    pub const fn exit_code(self) -> u8 {
        match self {
            Outcome::Pass => 0,
            Outcome::Fail => 1,
            Outcome::Inconclusive => 2,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Outcome::Pass => "PASS",
            Outcome::Fail => "FAIL",
            Outcome::Inconclusive => "INCONCLUSIVE",
        })
    }
}

/// A subject's verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The subject.
    pub subject: SubjectId,
    /// The answer.
    pub outcome: Outcome,
    /// Why, the weightiest first; never empty.
    pub reasons: Vec<String>,
}

/// The verdicts of all subjects of a run, in the plan's order.
pub fn verdicts(planned: &[CellEntry], records: &[Record], criterion: &Criterion) -> Vec<Verdict> {
    let mut subjects: Vec<&SubjectId> = Vec::new();
    for cell in planned {
        if !subjects.contains(&&cell.subject) {
            subjects.push(&cell.subject);
        }
    }
    let of = |subject: &SubjectId| {
        let cells: Vec<&CellEntry> = planned.iter().filter(|c| c.subject == *subject).collect();
        let records: Vec<&Record> = records.iter().filter(|r| r.subject.id() == *subject).collect();
        verdict(subject, &cells, &records, criterion)
    };
    subjects.into_iter().map(of).collect()
}

fn verdict(subject: &SubjectId, planned: &[&CellEntry], records: &[&Record], criterion: &Criterion) -> Verdict {
    let decided = |outcome, reasons| Verdict {
        subject: subject.clone(),
        outcome,
        reasons,
    };
    let failures = failures(records, criterion);
    if !failures.is_empty() {
        return decided(Outcome::Fail, failures);
    }
    let doubts = doubts(planned, records, criterion);
    if !doubts.is_empty() {
        return decided(Outcome::Inconclusive, doubts);
    }
    decided(Outcome::Pass, vec![evidence(records)])
}

/// The proofs that the limit was exceeded: the worst sample, and the longest stall.
fn failures(records: &[&Record], criterion: &Criterion) -> Vec<String> {
    let limit = criterion.limit;
    let mut reasons = Vec::new();
    let latency = |r: &Record| r.summary(Quantity::Latency).map_or(0, |s| s.max_ns);
    let above = records.iter().filter(|r| latency(r) > limit.0);
    if let Some(worst) = above.clone().max_by_key(|r| latency(r)) {
        let index = worst.summary(Quantity::Latency).map_or(0, |s| s.max_index);
        reasons.push(format!(
            "{} {} ({}, {}, seed {}, sample {index}); {} of {} cells are above",
            micros_exact(Nanos(latency(worst))),
            worst.subject.micros_name(),
            worst.cell.load,
            worst.cell.probe,
            worst.cell.seed,
            above.count(),
            records.len()
        ));
    }
    let stall = |r: &Record| r.accounting.longest_missed_run.saturating_mul(r.cell.period_ns);
    let stalled = records
        .iter()
        .filter(|r| r.accounting.missed > 0 && stall(r) >= limit.0);
    if let Some(worst) = stalled.max_by_key(|r| stall(r)) {
        reasons.push(format!(
            "{} periods of {} missed in a row, so at least that late ({}, {}, seed {})",
            worst.accounting.longest_missed_run,
            duration::show(Nanos(worst.cell.period_ns)),
            worst.cell.load,
            worst.cell.probe,
            worst.cell.seed
        ));
    }
    reasons
}

/// What stands against a PASS.
fn doubts(planned: &[&CellEntry], records: &[&Record], criterion: &Criterion) -> Vec<String> {
    let mut reasons = Vec::new();
    let missing = planned.iter().filter(|c| !records.iter().any(|r| r.id == c.id)).count();
    if missing > 0 {
        reasons.push(format!("{missing} of {} cells were not measured", planned.len()));
    }
    // Per load and probe: number of seeds, number of samples.
    let mut evidence: BTreeMap<(&str, &str), (usize, u64)> = BTreeMap::new();
    for record in records {
        let entry = evidence.entry((&record.cell.load, &record.cell.probe)).or_default();
        entry.0 += 1;
        entry.1 += record.accounting.taken;
    }
    for ((load, probe), (seeds, samples)) in evidence {
        if seeds < criterion.min_seeds {
            reasons.push(format!(
                "{load}, {probe}: {seeds} seeds, a PASS needs {}",
                criterion.min_seeds
            ));
        }
        if samples < criterion.min_samples {
            reasons.push(format!(
                "{load}, {probe}: {samples} samples, a PASS needs {}",
                criterion.min_samples
            ));
        }
    }
    for record in records {
        if record.accounting.missed_at_ends > 0 {
            reasons.push(format!(
                "{}: {} periods at the ends have no sample to bound them",
                record.id, record.accounting.missed_at_ends
            ));
        }
    }
    reasons.extend(warnings(records));
    let in_force = |r: &&&Record| {
        r.subject
            .preempt
            .asked
            .as_ref()
            .is_some_and(|a| *a != r.subject.preempt.in_force)
    };
    if let Some(record) = records.iter().find(in_force) {
        reasons.push(format!(
            "preemption model {} was asked for, the kernel runs {}",
            record.subject.preempt.asked.as_deref().unwrap_or_default(),
            record.subject.preempt.in_force
        ));
    }
    reasons
}

/// Each warning once, with the number of cells that gave it: any of them may have changed the result.
fn warnings(records: &[&Record]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for warning in records.iter().flat_map(|r| &r.warnings) {
        *counts.entry(warning).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(warning, cells)| format!("warning in {cells} of {} cells: {warning}", records.len()))
        .collect()
}

fn evidence(records: &[&Record]) -> String {
    let max = records
        .iter()
        .filter_map(|r| Some(r.summary(Quantity::Latency)?.max_ns))
        .max();
    let samples: u64 = records.iter().map(|r| r.accounting.taken).sum();
    let looked = Nanos(records.iter().map(|r| r.looked().0).sum());
    let unit = records.first().map_or("", |r| r.subject.micros_name());
    format!(
        "at most {} {unit} in {} samples, {} cells, {} looked at",
        micros_exact(Nanos(max.unwrap_or(0))),
        grouped(samples),
        records.len(),
        duration::show(looked)
    )
}
