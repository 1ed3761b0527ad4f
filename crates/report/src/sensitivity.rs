//! Does a cell's maximum hold on other machines? A table, and the answer in a sentence.

use crate::style::{Style, WIDTH};
use crate::table::terminal::figures;
use crate::table::{ColumnKind, Table, field, name};
use serde::Serialize;
use worstcase_base::distinct;
use worstcase_base::format::{micros, plain};
use worstcase_contract::Nanos;
use worstcase_plan::sensitivity::VariedProperty;
use worstcase_results::record::{Quantity, Record};
use worstcase_results::stats::ensembles;

/// Schema of the JSON form.
pub(crate) const SCHEMA: &str = "worstcase-sensitivity/1";

/// A maximum that moves by more than this factor depends on the varied property.
const LARGEST: f64 = 2.0;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SensitivityRow {
    #[serde(skip)]
    property: VariedProperty,
    /// The same in words.
    pub(crate) varied: &'static str,
    /// Its value.
    pub value: String,
    /// Seeds.
    pub seeds: usize,
    /// Samples.
    pub samples: u64,
    /// Median over the seeds of their medians, in instructions.
    pub(crate) median_instructions: u64,
    /// The same of the 99th percentile.
    pub(crate) p99_instructions: Option<u64>,
    /// The maximum over the seeds, in instructions.
    pub(crate) max_instructions: u64,
    /// The maximum over that of the cell as it was measured.
    pub(crate) ratio: f64,
}

impl SensitivityRow {
    /// The factor by which the maximum moved, up or down.
    fn moved(&self) -> f64 {
        self.ratio.max(1.0 / self.ratio)
    }
}

/// The result of the variations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    schema: &'static str,
    /// The cell.
    pub cell: String,
    /// The rows, the cell as measured first.
    pub rows: Vec<SensitivityRow>,
    /// Properties under which the maximum moves by at most a factor of two.
    pub(crate) holds_over: Vec<&'static str>,
    /// The others.
    pub(crate) depends_on: Vec<&'static str>,
    /// The answer.
    pub sentence: String,
}

impl Sensitivity {
    /// Made from the records of each variation, the cell as measured first; none if one of them has no latency.
    pub fn new(cell: &str, variations: &[(VariedProperty, String, &[Record])]) -> Option<Sensitivity> {
        let mut rows: Vec<SensitivityRow> = Vec::new();
        for (property, value, records) in variations {
            let ensemble = ensembles(records, Quantity::Latency).into_iter().next()?;
            let instructions = |time: Nanos| instructions(&records[0], time);
            let max = instructions(ensemble.max());
            let base = rows.first().map_or(max, |row| row.max_instructions);
            rows.push(SensitivityRow {
                property: *property,
                varied: property.name(),
                value: value.clone(),
                seeds: ensemble.seeds.len(),
                samples: ensemble.taken(),
                median_instructions: instructions(ensemble.median()?),
                p99_instructions: ensemble.p99().map(instructions),
                max_instructions: max,
                ratio: max as f64 / base.max(1) as f64,
            });
        }
        let properties = distinct(rows.iter().skip(1).map(|row| row.property));
        let moves = |property: &&VariedProperty| {
            let mut of = rows.iter().filter(|row| row.property == **property);
            of.any(|row| row.moved() > LARGEST)
        };
        let (depends, holds): (Vec<&VariedProperty>, Vec<&VariedProperty>) = properties.iter().partition(moves);
        let names = |all: &[&VariedProperty]| all.iter().map(|p| p.name()).collect::<Vec<_>>();
        Some(Sensitivity {
            schema: SCHEMA,
            cell: cell.to_string(),
            holds_over: names(&holds),
            depends_on: names(&depends),
            sentence: sentence(&rows, &holds, &depends),
            rows,
        })
    }

    /// Thousands of instructions read as microseconds do.
    fn table(&self) -> Table {
        let instructions = |key: &str, heading: &str, count: fn(&SensitivityRow) -> Option<u64>| {
            field(ColumnKind::Time, key, heading, count)
        };
        let fields = [
            name("varied", "varied", |row: &SensitivityRow| row.varied),
            name("value", "", |row: &SensitivityRow| row.value.clone()),
            field(ColumnKind::Count, "samples", "samples", |row: &SensitivityRow| {
                row.samples
            }),
            instructions("median_instructions", "median", |row| Some(row.median_instructions)),
            instructions("p99_instructions", "p99", |row| row.p99_instructions),
            instructions("max_instructions", "max", |row| Some(row.max_instructions)),
            field(ColumnKind::Factor, "ratio", "ratio", |row: &SensitivityRow| row.ratio),
        ];
        Table::new("rows", "", &fields, &self.rows)
    }

    /// The text for the terminal.
    pub fn terminal(&self, style: Style) -> String {
        let seeds = self.rows.first().map_or(0, |row| row.seeds);
        let mut out = vec![
            style.bold(&format!("{}: the same cell on other machines", plain(&self.cell))),
            format!("thousand instructions (virtual us at 1000 MIPS) over {seeds} seeds"),
            String::new(),
        ];
        out.extend(figures(&self.table(), WIDTH));
        out.extend([String::new(), self.sentence.clone(), String::new()]);
        out.join("\n")
    }
}

/// Path lengths do not depend on the speed by which virtual time counts them.
fn instructions(record: &Record, time: Nanos) -> u64 {
    let mips = record.subject.virtual_machine().map_or(1_000, |machine| machine.mips);
    time.0 * u64::from(mips) / 1_000
}

fn sentence(rows: &[SensitivityRow], holds: &[&VariedProperty], depends: &[&VariedProperty]) -> String {
    let names = |all: &[&VariedProperty]| all.iter().map(|p| p.name()).collect::<Vec<_>>().join(", ");
    let own = rows.first().map_or(0, |row| row.max_instructions);
    let own = micros(Nanos(own));
    let mut text = match holds.is_empty() {
        true => format!("The maximum of {own} holds over nothing that was varied."),
        false => format!(
            "The maximum of {own} holds within a factor of {LARGEST} over: {}.",
            names(holds)
        ),
    };
    if !depends.is_empty() {
        let far = |property: &&&VariedProperty| {
            let of = rows.iter().filter(|row| row.property == ***property);
            let far = of.max_by(|a, b| a.moved().total_cmp(&b.moved()))?;
            Some(format!(
                "{} ({}: {})",
                far.varied,
                far.value,
                micros(Nanos(far.max_instructions))
            ))
        };
        let far: Vec<String> = depends.iter().filter_map(|p| far(&p)).collect();
        text += &format!(" It depends on: {}.", far.join(", "));
    }
    text
}
