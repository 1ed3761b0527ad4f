//! The figures of a run that are compared: for each cell one value over its seeds, and the digests of their samples.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use worstcase_base::format::micros;
use worstcase_contract::Nanos;
use worstcase_results::compare::Side;
use worstcase_results::compare::side::{DistributionFigures, SeedGroup};
use worstcase_results::record::{Run, RunError, Subject, SubjectId};

/// Which figure of a cell is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BisectedMeasure {
    /// The median of the seeds' medians.
    Median,
    /// The median of the seeds' 99th percentiles.
    P99,
    /// The largest of all seeds.
    Max,
}

/// Names as they are typed.
const MEASURES: [(&str, BisectedMeasure); 3] = [
    ("max", BisectedMeasure::Max),
    ("p99", BisectedMeasure::P99),
    ("median", BisectedMeasure::Median),
];

impl BisectedMeasure {
    /// The value over all seeds of a cell; none if a seed has too few samples for it.
    pub fn value(self, seeds: &[DistributionFigures]) -> Option<Nanos> {
        let one = |figures: &DistributionFigures| match self {
            BisectedMeasure::Median => figures.median,
            BisectedMeasure::P99 => figures.p99,
            BisectedMeasure::Max => Some(figures.max),
        };
        let mut values: Vec<Nanos> = seeds.iter().map(one).collect::<Option<_>>()?;
        values.sort_unstable();
        match self {
            BisectedMeasure::Max => values.last().copied(),
            BisectedMeasure::Median | BisectedMeasure::P99 => values.get(values.len().checked_sub(1)? / 2).copied(),
        }
    }
}

impl fmt::Display for BisectedMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = MEASURES
            .iter()
            .find(|(_, measure)| measure == self)
            .map_or("", |(name, _)| name);
        f.pad(name)
    }
}

impl FromStr for BisectedMeasure {
    type Err = String;
    fn from_str(text: &str) -> Result<BisectedMeasure, String> {
        let found = MEASURES.iter().find(|(name, _)| *name == text);
        found
            .map(|(_, measure)| *measure)
            .ok_or_else(|| format!("'{text}' is no measure; take max, p99 or median"))
    }
}

/// A cell of a kernel, all its seeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFigure {
    /// Preemption model, machine, load and probe: all but the kernel.
    pub cell: String,
    /// The measure's value; none if the cell has too few samples for it.
    #[serde(rename = "value_ns")]
    pub value: Option<Nanos>,
    /// The digest of each seed's samples.
    pub digests: Vec<String>,
}

/// The figures of all cells of a run.
pub fn of_run(run: &Run, measure: BisectedMeasure) -> Result<Vec<KernelFigure>, RunError> {
    let side = Side::of_run(run)?;
    Ok(side.cells.iter().map(|cell| of_cell(&side, cell, measure)).collect())
}

fn of_cell(side: &Side, cell: &SeedGroup, measure: BisectedMeasure) -> KernelFigure {
    let first = |seed: &worstcase_results::compare::side::SeedResult| seed.quantities.values().next().copied();
    let seeds: Option<Vec<_>> = cell.seeds.iter().map(first).collect();
    KernelFigure {
        cell: format!(
            "{}: {}",
            side.subject(&cell.subject).map_or(String::new(), without_kernel),
            cell.how.name()
        ),
        value: seeds.and_then(|seeds| measure.value(&seeds)),
        digests: cell.seeds.iter().map(|seed| seed.digest.clone()).collect(),
    }
}

/// A subject's name without the name of its kernel.
fn without_kernel(subject: &Subject) -> String {
    let preempt = subject.preempt.asked.as_deref().unwrap_or(&subject.preempt.in_force);
    let machine = subject.virtual_machine().cloned().unwrap_or_default();
    let id = SubjectId::lab("kernel", preempt, &machine);
    id.as_str().trim_start_matches("kernel.").to_string()
}

/// Figures in a line: `none: shm, wakeup 34.1 us`.
pub fn line<'a>(figures: impl IntoIterator<Item = &'a KernelFigure>, measure: BisectedMeasure) -> String {
    let one = |figure: &KernelFigure| match figure.value {
        Some(value) => format!("{measure} {} us ({})", micros(value), figure.cell),
        None => format!("no {measure} ({})", figure.cell),
    };
    figures.into_iter().map(one).collect::<Vec<_>>().join(", ")
}
