//! The figures of a run that are compared: for each cell one value over its seeds, and the digests of their samples.

use crate::measure::BisectedMeasure;
use serde::{Deserialize, Serialize};
use worstcase_base::format::micros;
use worstcase_contract::Nanos;
use worstcase_results::compare::Side;
use worstcase_results::compare::side::{CellConditions, SeedGroup};
use worstcase_results::record::{Record, Run, RunError, Subject, SubjectId, Summary};

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

/// The figures of all cells of a run, or why a cell's samples do not bear the measure.
pub fn of_run(run: &Run, measure: BisectedMeasure) -> Result<Result<Vec<KernelFigure>, String>, RunError> {
    let (side, records) = (Side::of_run(run)?, run.records()?);
    let of_cell = |cell: &SeedGroup| {
        let name = format!(
            "{}: {}",
            side.subject(&cell.subject).map_or(String::new(), without_kernel),
            cell.how.name()
        );
        let value = value(&summaries(cell, &records), measure).map_err(|why| format!("{name}: {why}"))?;
        Ok(KernelFigure {
            cell: name,
            value,
            digests: cell.seeds.iter().map(|seed| seed.digest.clone()).collect(),
        })
    };
    Ok(side.cells.iter().map(of_cell).collect())
}

/// The summaries of a cell's seeds, of the quantity that is compared; none for `noise`.
fn summaries<'a>(cell: &SeedGroup, records: &'a [Record]) -> Vec<&'a Summary> {
    let Some(quantity) = cell.seeds.iter().find_map(|seed| seed.quantities.keys().next()) else {
        return Vec::new();
    };
    let is_of_cell = |r: &&Record| r.subject.id() == cell.subject && CellConditions::from(*r) == cell.how;
    let of_cell = records.iter().filter(is_of_cell);
    of_cell.filter_map(|record| record.summary(*quantity)).collect()
}

/// The measure over all seeds, if there are any, or why their samples do not bear it.
fn value(seeds: &[&Summary], measure: BisectedMeasure) -> Result<Option<Nanos>, String> {
    let one = |seed: &&Summary| match measure.of(seed) {
        None => Err(measure.refusal(seed.period_count()).unwrap_or_default()),
        Some(value) => Ok(value),
    };
    let values: Vec<Nanos> = seeds.iter().map(one).collect::<Result<_, _>>()?;
    Ok(measure.over_seeds(values))
}

/// A subject's name without the name of its kernel.
fn without_kernel(subject: &Subject) -> String {
    let preempt = subject.preempt.asked.as_deref().unwrap_or(&subject.preempt.in_force);
    let machine = subject.virtual_machine().cloned().unwrap_or_default();
    let id = SubjectId::lab("kernel", preempt, &machine);
    id.as_str().trim_start_matches("kernel.").to_string()
}

/// Figures in a line: `max 34.1 us (none: shm, wakeup)`.
pub fn line<'a>(figures: impl IntoIterator<Item = &'a KernelFigure>, measure: BisectedMeasure) -> String {
    let one = |figure: &KernelFigure| match figure.value {
        Some(value) => format!("{measure} {} us ({})", micros(value), figure.cell),
        None => format!("no {measure} ({})", figure.cell),
    };
    figures.into_iter().map(one).collect::<Vec<_>>().join(", ")
}
