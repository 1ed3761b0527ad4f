//! Whether a subject meets a limit on its latency, from stored records alone.
//!
//! FAIL needs one proof, PASS needs enough evidence, and everything else is INCONCLUSIVE with its reasons.

mod above;
mod details;
mod doubts;
mod evidence;
mod limit;
mod reservations;

pub use above::PeriodsAbove;
pub(crate) use doubts::another_model;
pub use doubts::{STEAL_ALLOWED, interference, lost};
pub use evidence::Evidence;
pub use limit::{AskedLimit, LimitError, bears};

use crate::record::{CellEntry, Quantity, Record, SubjectId, Venue};
use crate::stats::Percentile;
use evidence::latency;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use worstcase_base::format::{counted, micros_exact};
use worstcase_base::{ExitKind, duration};
use worstcase_contract::Nanos;

/// The criterion for every subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// The limit that no latency may exceed.
    pub limit: Nanos,
    /// The percentile of each cell that it is a limit of, in place of every latency.
    pub percentile: Option<Percentile>,
    /// Seeds that a PASS needs of every load and probe: in the lab one seed is one path through the kernel.
    pub min_seeds: usize,
    /// Samples that a PASS needs: in the lab of every load and probe, all seeds together; on the host of every CPU too.
    pub min_samples: u64,
    /// Observation time that a PASS needs of the same.
    pub min_time: Nanos,
}

impl Criterion {
    /// A limit with the lab's usual evidence: 3 seeds and 1 000 samples.
    pub const fn new(limit: Nanos) -> Criterion {
        Criterion {
            limit,
            percentile: None,
            min_seeds: 3,
            min_samples: 1_000,
            min_time: Nanos(0),
        }
    }

    /// A limit with the host's usual evidence: 10 000 samples in a minute on every CPU. A seed is no path of its own there.
    pub const fn of_host(limit: Nanos) -> Criterion {
        Criterion {
            limit,
            percentile: None,
            min_seeds: 1,
            min_samples: 10_000,
            min_time: Nanos::from_millis(60_000),
        }
    }

    /// What was asked with the usual evidence where these records were measured.
    pub fn asked(asked: AskedLimit, records: &[Record]) -> Criterion {
        Criterion {
            percentile: asked.percentile,
            ..Criterion::of(asked.limit, records)
        }
    }

    /// A limit with the usual evidence where these records were measured.
    pub fn of(limit: Nanos, records: &[Record]) -> Criterion {
        match records.iter().any(|r| r.subject.venue() == Venue::Host) {
            true => Criterion::of_host(limit),
            false => Criterion::new(limit),
        }
    }
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    /// Every sample is within the limit, and there is enough evidence.
    Pass,
    /// There is too little evidence, or something voids it.
    Inconclusive,
    /// At least one period was later than the limit.
    Fail,
}

impl Outcome {
    /// Exit code of commands that turn a verdict into one.
    pub const fn exit_code(self) -> u8 {
        match self {
            Outcome::Pass => 0,
            Outcome::Fail => ExitKind::Fail as u8,
            Outcome::Inconclusive => ExitKind::Inconclusive as u8,
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The subject.
    pub subject: SubjectId,
    /// The answer.
    pub outcome: Outcome,
    /// Why, the weightiest first; never empty.
    pub reasons: Vec<String>,
    /// What limits the answer, beside it: how the subject was measured, where, and what was not tried.
    pub reservations: Vec<String>,
    /// The evidence.
    pub evidence: Evidence,
    /// Lab, of a PASS: for no load and probe is the probability that another seed is above the limit larger than this (95 %).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub another_seed_above: Option<f64>,
}

impl Verdict {
    /// Why, and what limits it, a sentence each.
    pub fn with_reservations(&self) -> Vec<String> {
        let but = self.reservations.iter().map(|text| format!("but {text}"));
        self.reasons.iter().cloned().chain(but).collect()
    }
}

/// The worst of several: one FAIL fails all. A run without a single subject proves nothing.
pub fn worst(verdicts: &[Verdict]) -> Outcome {
    let outcomes = verdicts.iter().map(|v| v.outcome);
    outcomes.max().unwrap_or(Outcome::Inconclusive)
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
        let cells = planned.iter().filter(|c| c.subject == *subject);
        let cells: Vec<&CellEntry> = cells.filter(|c| details::is_judged(&c.probe)).collect();
        let all: Vec<&Record> = records.iter().filter(|r| r.subject.id() == *subject).collect();
        verdict(subject, &cells, &all, criterion)
    };
    subjects.into_iter().map(of).collect()
}

fn verdict(subject: &SubjectId, planned: &[&CellEntry], all: &[&Record], criterion: &Criterion) -> Verdict {
    let judged: Vec<&Record> = all
        .iter()
        .copied()
        .filter(|r| details::is_judged(&r.cell.probe))
        .collect();
    let records = judged.as_slice();
    let evidence = Evidence::of(records, criterion.limit);
    let mut failures = match criterion.percentile {
        Some(percentile) => Vec::from_iter(limit::failure(records, percentile, criterion.limit)),
        None => failures(records, criterion),
    };
    let above = evidence
        .above
        .filter(|above| above.count() > 0 && criterion.percentile.is_none());
    failures.extend(above.map(|above| above.words()));
    failures.extend(details::failures(records));
    let mut doubts = doubts::of(planned, records, criterion);
    let untold = criterion
        .percentile
        .and_then(|percentile| limit::doubt(records, percentile, criterion.limit));
    doubts.extend(untold);
    doubts.extend(details::doubts(all));
    if planned.is_empty() {
        doubts.push("nothing to judge: what was measured is no latency".into());
    }
    let (outcome, reasons) = match (failures.is_empty(), doubts.is_empty()) {
        (false, _) => (Outcome::Fail, failures),
        (true, false) => (Outcome::Inconclusive, doubts),
        (true, true) => (Outcome::Pass, vec![evidence.at_most(records, criterion.percentile)]),
    };
    Verdict {
        subject: subject.clone(),
        another_seed_above: another_seed_above(records).filter(|_| outcome == Outcome::Pass),
        reservations: reservations::of(records, outcome, criterion.limit),
        outcome,
        reasons,
        evidence,
    }
}

/// The upper end of the exact one-sided interval of Clopper and Pearson: of none of n seeds was a sample above the limit. A seed
/// is an independent draw; the samples of one depend on each other, so their number says less.
fn another_seed_above(records: &[&Record]) -> Option<f64> {
    let mut seeds: BTreeMap<(&str, &str), BTreeSet<u64>> = BTreeMap::new();
    for record in records {
        if record.subject.venue() == Venue::Host {
            return None;
        }
        let group = seeds.entry((&record.cell.load, &record.cell.probe)).or_default();
        group.insert(record.cell.seed);
    }
    let fewest = seeds.values().map(BTreeSet::len).min()?;
    Some(1.0 - 0.05_f64.powf(1.0 / fewest as f64))
}

/// The proofs that the limit was exceeded: the worst sample, and the longest stall.
fn failures(records: &[&Record], criterion: &Criterion) -> Vec<String> {
    let limit = criterion.limit;
    let mut reasons = Vec::new();
    let above = records.iter().filter(|r| latency(r) > limit.0);
    if let Some(worst) = above.clone().max_by_key(|r| latency(r)) {
        let index = worst.summary(Quantity::Latency).and_then(|s| s.max_index);
        let sample = index.map_or_else(String::new, |n| format!(", {} {n}", worst.accounting.row_name()));
        reasons.push(format!(
            "{} {} ({}{sample}); {} of {} cells are above",
            micros_exact(Nanos(latency(worst))),
            worst.subject.micros_name(),
            place(worst),
            above.count(),
            records.len()
        ));
    }
    let run = |r: &Record| r.accounting.periods().map_or(0, |p| p.longest_missed_run);
    let stall = |r: &Record| run(r).saturating_mul(r.cell.period_ns);
    let stalled = records
        .iter()
        // A round of `inversion` that was left out does not tell how long a thread waited.
        .filter(|r| r.details.is_none() && run(r) > 0 && stall(r) >= limit.0);
    if let Some(worst) = stalled.max_by_key(|r| stall(r)) {
        reasons.push(format!(
            "{} of {} missed in a row, so at least that late ({})",
            counted(run(worst), "period"),
            duration::show(Nanos(worst.cell.period_ns)),
            place(worst)
        ));
    }
    reasons
}

/// The words for a subject's cell.
fn place(record: &Record) -> String {
    let cell = &record.cell;
    let cpu = cell.cpu.map_or(String::new(), |cpu| format!(", CPU {cpu}"));
    format!("{}, {}, seed {}{cpu}", cell.load, cell.probe, cell.seed)
}
