//! One side of a comparison: the figures of a run or a baseline for each cell's seeds.

use super::CompareError;
use super::baseline;
use crate::record::{
    CellId, GapAccount, MethodRecord, Quantity, Record, Run, RunError, Subject, SubjectId, SubjectMachine, Venue,
    judged,
};
use crate::stats::Percentile;
use crate::verdict::{another_model, interference, lost};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use worstcase_contract::Nanos;
use worstcase_contract::probe::ProbeInfo;

/// A run, or the figures that a baseline kept of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The question.
    pub title: String,
    /// Arguments that repeat the run.
    pub command: Vec<String>,
    /// The measured subjects.
    pub subjects: Vec<Subject>,
    /// Its cells.
    pub cells: Vec<SeedGroup>,
    /// Planned cells that were not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<CellId>,
    /// The command that goes on with a run.
    #[serde(skip)]
    pub(crate) to_go_on: Vec<String>,
}

/// The seeds of one subject under one load, probe, and on the host of one CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedGroup {
    /// The subject's name.
    pub subject: SubjectId,
    /// The conditions of the measurement.
    #[serde(flatten)]
    pub how: CellConditions,
    /// Equipment that was missing while measuring and may have changed the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Interference beside the kernel under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) interference: Vec<String>,
    /// Where a result is a run: the number of seeds of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) seeds_a_run: Vec<usize>,
    /// The results, in order of the seeds.
    pub seeds: Vec<SeedResult>,
}

/// The conditions of a cell, all but its seed: only cells measured alike compare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellConditions {
    /// The load.
    pub load: String,
    /// The instrument.
    pub probe: String,
    /// Host: the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// The interval.
    #[serde(rename = "period_ns")]
    pub period: Nanos,
    /// Their number: a maximum grows with it.
    pub periods: u32,
    /// The load ran alone for so long.
    #[serde(rename = "warmup_ns")]
    pub warmup: Nanos,
    /// Real-time priority of the probe.
    pub priority: u8,
    /// Host: timer, policy and CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodRecord>,
}

/// Numbers of periods, and periods, that differ by one in so many are alike, where they are not asked for but found.
const NEARLY: u64 = 50;

impl From<&Record> for CellConditions {
    /// Of a program in the lab those that were asked for: its own period, priority and CPUs are results, of each seed its own.
    fn from(record: &Record) -> CellConditions {
        let cell = &record.cell;
        let found = CellConditions {
            load: cell.load.clone(),
            probe: cell.probe.clone(),
            cpu: cell.cpu,
            period: Nanos(cell.period_ns),
            periods: cell.periods,
            warmup: Nanos(cell.warmup_ns),
            priority: cell.priority,
            method: cell.method.clone(),
        };
        match record.followed.as_ref().and_then(|followed| followed.asked) {
            None => found,
            Some(asked) => CellConditions {
                period: Nanos(asked.period_ns),
                periods: asked.periods,
                priority: 0,
                method: None,
                ..found
            },
        }
    }
}

fn nearly(a: u64, b: u64) -> bool {
    a.abs_diff(b) <= a.max(b) / NEARLY
}

impl CellConditions {
    /// Whether both are of one cell, if not necessarily measured alike.
    pub(crate) fn same_cell(&self, other: &CellConditions) -> bool {
        (&self.load, &self.probe, self.cpu) == (&other.load, &other.probe, other.cpu)
    }

    /// Whether both have about as many periods: a foreign tool ends by its own clock, and takes a few more or less each time.
    pub(crate) fn nearly_as_long(&self, other: &CellConditions) -> bool {
        nearly(self.periods.into(), other.periods.into())
    }

    /// Whether both have about the same period: that of a program is found, and not asked for.
    pub(crate) fn nearly_as_often(&self, other: &CellConditions) -> bool {
        nearly(self.period.0, other.period.0)
    }

    /// Whether a program of the user's own is the instrument: how it is scheduled, and when it works, is its own affair.
    pub(crate) fn is_of_program(&self) -> bool {
        ProbeInfo::of_word(&self.probe).is_some_and(ProbeInfo::is_program)
    }

    /// Its name beside the subject.
    pub fn name(&self) -> String {
        let cpu = self.cpu.map_or(String::new(), |cpu| format!(", CPU {cpu}"));
        format!("{}, {}{cpu}", self.load, self.probe)
    }
}

/// The result of one seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedResult {
    /// The seed.
    pub seed: u64,
    /// The digest of all its samples.
    pub digest: String,
    /// Periods that passed while the probe was late.
    pub missed: u64,
    /// Samples or gaps that we failed to keep.
    pub lost: u64,
    /// For `noise`: the gaps, and the time in which they were seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<GapAccount>,
    /// The figures of each quantity of the probe; `noise` has none.
    pub quantities: BTreeMap<Quantity, DistributionFigures>,
}

impl SeedGroup {
    /// The interference with it, if there was any: the first, and how many more.
    pub(super) fn disturbed(&self, side: &str) -> Vec<String> {
        let line = |first: &String| match self.interference.len() - 1 {
            0 => format!("{side}: {first}"),
            more => format!("{side}: {first} (and {more} more)"),
        };
        self.interference.first().map(line).into_iter().collect()
    }
}

impl SeedResult {
    /// The number of a seed's measures that a gate judges, if nothing is missed: median, p99 if there are enough samples,
    /// and maximum of each quantity; for noise the sum and the longest gap.
    pub fn measures(&self) -> usize {
        let of = |f: &DistributionFigures| 1 + usize::from(f.median.is_some()) + usize::from(f.p99.is_some());
        self.quantities.values().map(of).sum::<usize>() + 2 * usize::from(self.noise.is_some())
    }
}

/// The compared figures of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistributionFigures {
    /// Median, if it is known.
    #[serde(rename = "median_ns", default)]
    pub median: Option<Nanos>,
    /// 99th percentile, if the samples bear one.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanos>,
    /// Maximum.
    #[serde(rename = "max_ns")]
    pub max: Nanos,
}

impl Side {
    /// Reads a run's folder, or a baseline's file.
    pub fn open(path: &Path) -> Result<Side, CompareError> {
        match path.is_dir() {
            true => Ok(Side::of_run(&Run::open(path)?)?),
            false => baseline::read(path),
        }
    }

    /// The side of a run.
    pub fn of_run(run: &Run) -> Result<Side, RunError> {
        let records = run.records()?;
        let mut side = Side::of_records(&records);
        side.title = run.plan().title.clone();
        side.command = run.command();
        side.to_go_on = run.to_go_on();
        side.unfinished = run.missing().map(|cell| cell.id.clone()).collect();
        Ok(side)
    }

    /// The side of records alone.
    pub fn of_records(records: &[Record]) -> Side {
        let mut groups: Vec<(SubjectId, CellConditions, Vec<&Record>)> = Vec::new();
        for record in records {
            let (subject, mut how) = (record.subject.id(), CellConditions::from(record));
            if let Some((_, like, _)) = groups
                .iter()
                .find(|g| record.foreign.is_some() && g.0 == subject && g.1.same_cell(&how) && g.1.nearly_as_long(&how))
            {
                how.periods = like.periods;
            }
            match groups.iter_mut().find(|g| g.0 == subject && g.1 == how) {
                Some(group) => group.2.push(record),
                None => groups.push((subject, how, vec![record])),
            }
        }
        let mut subjects: Vec<Subject> = Vec::new();
        for record in records {
            if !subjects.iter().any(|s| s.id() == record.subject.id()) {
                subjects.push(record.subject.clone());
            }
        }
        let cells = groups
            .into_iter()
            .map(|(subject, how, of)| group(subject, how, &of, records));
        Side {
            title: String::new(),
            command: Vec::new(),
            subjects,
            cells: cells.collect(),
            unfinished: Vec::new(),
            to_go_on: Vec::new(),
        }
    }

    /// A subject.
    pub fn subject(&self, id: &SubjectId) -> Option<&Subject> {
        self.subjects.iter().find(|s| s.id() == *id)
    }

    /// Whether a subject was measured in the lab.
    pub fn in_lab(&self, id: &SubjectId) -> bool {
        self.subject(id).is_some_and(|s| s.venue() == Venue::Lab)
    }

    /// Whether another tool measured a subject.
    pub(crate) fn is_foreign(&self, id: &SubjectId) -> bool {
        let machine = self.subject(id).map(|s| &s.machine);
        matches!(machine, Some(SubjectMachine::Foreign(_)))
    }

    /// In the lab: the key of the subject's machine.
    pub fn key(&self, id: &SubjectId) -> Option<&str> {
        match &self.subject(id)?.machine {
            SubjectMachine::Lab(lab) => Some(&lab.key),
            SubjectMachine::Host(_) | SubjectMachine::Foreign(_) => None,
        }
    }
}

fn group(subject: SubjectId, how: CellConditions, of: &[&Record], all: &[Record]) -> SeedGroup {
    let mut quantities = judged(&how.probe, all).to_vec();
    // Both parts may be as before and their sum later: a process sees the sum.
    if quantities.contains(&Quantity::AfterIrq) {
        quantities.push(Quantity::Latency);
    }
    let mut seeds: Vec<SeedResult> = of.iter().map(|record| seed(record, &quantities)).collect();
    seeds.sort_by_key(|s| s.seed);
    let mut warnings: Vec<String> = of.iter().flat_map(|r| r.warnings.iter().cloned()).collect();
    warnings.sort();
    warnings.dedup();
    SeedGroup {
        subject,
        how,
        warnings,
        interference: interference(of)
            .into_iter()
            .chain(another_model(of))
            .chain(of.iter().filter_map(|r| lost(r)))
            .collect(),
        seeds_a_run: Vec::new(),
        seeds,
    }
}

fn seed(record: &Record, quantities: &[Quantity]) -> SeedResult {
    let figures = |quantity: &Quantity| {
        let summary = record.summary(*quantity)?;
        let figures = DistributionFigures {
            median: summary.median(),
            p99: summary.percentile(Percentile::P99),
            max: Nanos(summary.max_ns),
        };
        Some((*quantity, figures))
    };
    SeedResult {
        seed: record.cell.seed,
        digest: record.digest.clone(),
        missed: record.accounting.missed(),
        lost: record.accounting.lost(),
        noise: record.accounting.gaps().copied(),
        // The distribution of gaps depends on the threshold: more short ones would lower every percentile.
        quantities: match record.accounting.gaps() {
            Some(_) => BTreeMap::new(),
            None => quantities.iter().filter_map(figures).collect(),
        },
    }
}
