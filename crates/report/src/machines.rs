//! One measurement on several machines: a row each, its CPUs and seeds together.

use super::table::terminal::lines;
use super::table::{ColumnKind, Table, field, name};
use crate::style::Style;
use worstcase_base::distinct;
use worstcase_contract::Nanos;
use worstcase_results::record::{Quantity, Record, Summary};

/// The records of a machine.
pub struct MachineRecords {
    /// Its name, as the user gave it.
    pub machine: String,
    /// Its records.
    pub records: Vec<Record>,
}

/// A machine, and its measurements for a probe and load.
struct MachineRow<'a> {
    machine: &'a str,
    release: String,
    question: String,
    records: Vec<&'a Record>,
}

impl MachineRow<'_> {
    fn sum(&self, value: impl Fn(&Record) -> u64) -> Option<u64> {
        (!self.records.is_empty()).then(|| self.records.iter().map(|r| value(r)).sum())
    }

    fn largest(&self, value: impl Fn(&Summary) -> Option<u64>) -> Option<Nanos> {
        let summary = |r: &&Record| match r.cell.probe_info().is_some_and(|info| info.measures(Quantity::Jitter)) {
            true => r.summary.jitter.clone(),
            false => r.summary.latency.clone(),
        };
        self.records
            .iter()
            .filter_map(summary)
            .filter_map(|s| value(&s))
            .max()
            .map(Nanos)
    }
}

/// The table: for each probe and load the samples, the periods that were missed or lost, the largest median of a cell, and
/// the maximum.
pub fn table(machines: &[MachineRecords], style: Style) -> String {
    let all = || machines.iter().flat_map(|m| &m.records);
    let questions = distinct(all().map(|r| (r.cell.probe.clone(), r.cell.load.clone())));
    let row = |machine, (probe, load): &(String, String)| {
        let machine: &MachineRecords = machine;
        let release = machine.records.first().map(|r| r.subject.kernel.release.clone());
        let is_of_it = |r: &&Record| r.cell.probe == *probe && r.cell.load == *load;
        MachineRow {
            machine: &machine.machine,
            release: release.unwrap_or_else(|| "no kernel".into()),
            question: format!("{probe}, {load}"),
            records: machine.records.iter().filter(is_of_it).collect(),
        }
    };
    let of_machine = |machine| questions.iter().map(move |question| row(machine, question));
    let rows: Vec<MachineRow> = machines.iter().flat_map(of_machine).collect();
    let count = |key: &str, value: fn(&Record) -> u64| {
        field(ColumnKind::Count, key, key, move |row: &MachineRow| row.sum(value))
    };
    let fields = [
        name("machine", "machine", |row: &MachineRow| {
            format!("{} ({})", row.machine, row.release)
        }),
        name("question", "probe, load", |row: &MachineRow| row.question.clone()),
        count("samples", |r| r.accounting.rows()),
        count("missed", |r| r.accounting.periods().map_or(0, |p| p.missed)),
        count("lost", |r| r.accounting.lost()),
        field(ColumnKind::Time, "median_ns", "median", |row: &MachineRow| {
            row.largest(|s| s.median().map(|n| n.0))
        }),
        field(ColumnKind::Time, "max_ns", "max", |row: &MachineRow| {
            row.largest(|s| Some(s.max_ns))
        }),
    ];
    let title = "machines: CPUs and seeds together, the worst median of a cell, and the maximum (us)";
    let table = Table::new("machines", title, &fields, &rows).across("question");
    lines(&table, style).join("\n") + "\n"
}
