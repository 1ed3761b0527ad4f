//! The numbers: a table for each probe and quantity, a row for each subject and load.

use super::part::Labels;
use crate::duration;
use crate::record::SubjectId;
use crate::report::View;
use crate::report::format::{grouped, micros, range};
use crate::report::terminal::{distinct, looked, units};
use crate::stats::{Ensemble, ensembles};
use serde::Serialize;

/// A probe's quantity.
#[derive(Debug, Serialize)]
pub struct Table {
    probe: String,
    title: &'static str,
    unit: String,
    /// On how much the figures rest.
    rests: String,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    subject: SubjectId,
    label: String,
    load: String,
    median: String,
    p99: String,
    max: String,
    /// Lowest to highest maximum of a seed.
    of_seeds: String,
    seeds: usize,
    samples: String,
    looked: String,
    missed: String,
}

/// All of a run.
pub fn tables(view: &View, labels: &Labels) -> Vec<Table> {
    let mut tables = Vec::new();
    for probe in distinct(view.records.iter().map(|r| r.cell.probe.as_str())) {
        for quantity in view.quantities_of(probe) {
            let mut all = ensembles(view.records, *quantity);
            all.retain(|e| e.probe == probe);
            if all.is_empty() {
                continue;
            }
            let of_probe = view.records.iter().filter(|r| r.cell.probe == probe);
            tables.push(Table {
                probe: probe.to_string(),
                title: quantity.title_of(probe),
                unit: units(of_probe.map(|r| &r.subject)).join(", "),
                rests: looked(&all),
                rows: all.iter().map(|e| row(labels, e)).collect(),
            });
        }
    }
    tables
}

fn row(labels: &Labels, e: &Ensemble) -> Row {
    Row {
        subject: e.subject.clone(),
        label: labels.get(&e.subject),
        load: e.load.clone(),
        median: micros(e.median()),
        p99: e.p99().map_or_else(String::new, micros),
        max: micros(e.max()),
        of_seeds: match e.seeds.len() {
            1 => String::new(),
            _ => range(e.least_max(), e.max(), micros),
        },
        seeds: e.seeds.len(),
        samples: grouped(e.taken()),
        looked: duration::about(e.looked()),
        missed: grouped(e.missed()),
    }
}
