//! One measurement on several machines: a row each, its CPUs and seeds together.

use super::grid::{Grid, Group};
use super::terminal::{Style, WIDTH, distinct, shortened, width};
use worstcase_base::format::{grouped, micros, plain};
use worstcase_contract::Nanos;
use worstcase_results::record::Record;

/// What a machine measured.
pub struct Measured {
    /// Its name, as the user gave it.
    pub machine: String,
    /// Its records.
    pub records: Vec<Record>,
}

/// The table: for each probe and load the samples, the periods that were missed or lost, the largest median of a cell, and
/// the maximum.
pub fn table(machines: &[Measured], style: Style) -> String {
    let records = || machines.iter().flat_map(|m| &m.records);
    let kinds = distinct(records().map(|r| (r.cell.probe.clone(), r.cell.load.clone())));
    let group = |(probe, load): &(String, String)| Group {
        title: shortened(&plain(&format!("{probe}, {load}"))),
        cells: machines.iter().map(|machine| row(machine, probe, load)).collect(),
    };
    let label = |machine: &Measured| {
        let release = machine.records.first().map(|r| r.subject.kernel.release.clone());
        plain(&format!(
            "{} ({})",
            machine.machine,
            release.unwrap_or_else(|| "no kernel".into())
        ))
    };
    let grid = Grid {
        heading: "machine".into(),
        labels: machines.iter().map(label).collect(),
        columns: ["samples", "missed", "lost", "median", "max"]
            .map(String::from)
            .to_vec(),
        groups: kinds.iter().map(group).collect(),
    };
    let heading = "machines: CPUs and seeds together, the worst median of a cell, and the maximum (us)";
    let mut lines = vec![style.bold(heading), String::new()];
    lines.extend(grid.render(width(WIDTH)));
    lines.join("\n") + "\n"
}

fn row(machine: &Measured, probe: &str, load: &str) -> Vec<String> {
    let of: Vec<&Record> = machine
        .records
        .iter()
        .filter(|r| r.cell.probe == probe && r.cell.load == load)
        .collect();
    let summary = |r: &Record| match r.cell.probe_name() {
        "jitter" => r.summary.jitter.clone(),
        _ => r.summary.latency.clone(),
    };
    let largest = |value: &dyn Fn(&Record) -> Option<u64>| {
        let values = of.iter().filter_map(|r| value(r));
        values.max().map_or_else(|| "-".into(), |ns| micros(Nanos(ns)))
    };
    let sum = |value: &dyn Fn(&Record) -> u64| grouped(of.iter().map(|r| value(r)).sum());
    match of.is_empty() {
        true => vec!["-".to_string(); 5],
        false => vec![
            sum(&|r| r.accounting.rows()),
            sum(&|r| r.accounting.periods().map_or(0, |p| p.missed)),
            sum(&|r| r.accounting.lost()),
            largest(&|r| summary(r)?.median_ns),
            largest(&|r| Some(summary(r)?.max_ns)),
        ],
    }
}
