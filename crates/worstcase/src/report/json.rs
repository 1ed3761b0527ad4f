//! `worstcase show --json`: ensembles and verdicts for programs. Times in ns; `docs/formats.md` has the fields.

use super::View;
use crate::record::{Quantity, Record};
use crate::stats::{Ensemble, ensembles};
use serde_json::{Value, json};

/// The form of the document.
pub const SCHEMA: &str = "worstcase-show/1";

/// The document, indented, with a line end.
pub fn run(view: &View) -> String {
    let quantities: &[Quantity] = match view.quantities {
        [] => &Quantity::ALL,
        chosen => chosen,
    };
    let all: Vec<Value> = quantities
        .iter()
        .flat_map(|q| ensembles(view.records, *q))
        .map(|e| ensemble(&e, view.records))
        .collect();
    let verdicts = view.verdicts.as_ref().map(|(criterion, verdicts)| {
        json!({
            "limit_ns": criterion.limit,
            "min_seeds": criterion.min_seeds,
            "min_samples": criterion.min_samples,
            "min_time_ns": criterion.min_time,
            "subjects": verdicts,
        })
    });
    let document = json!({
        "schema": SCHEMA,
        "title": view.plan.title,
        "command": view.plan.command,
        "tool_version": view.plan.tool_version,
        "cells_planned": view.plan.cells.len(),
        "cells_measured": view.records.len(),
        "ensembles": all,
        "verdict": verdicts,
        "published": view.plan.published,
    });
    format!("{document:#}\n")
}

fn ensemble(e: &Ensemble, records: &[Record]) -> Value {
    let subject = records.iter().map(|r| &r.subject).find(|s| s.id() == e.subject);
    let worst = e.worst();
    let seeds: Vec<Value> = e
        .seeds
        .iter()
        .map(|s| {
            json!({
                "seed": s.seed,
                "taken": s.taken,
                "missed": s.missed,
                "median_ns": s.median,
                "p99_ns": s.p99,
                "max_ns": s.max,
                "max_index": s.max_index,
            })
        })
        .collect();
    json!({
        "subject": e.subject,
        "kernel": subject.map(|s| &s.kernel),
        "preempt": subject.map(|s| &s.preempt),
        "machine": subject.map(|s| &s.machine),
        "time_unit": subject.map(|s| s.time_unit().replacen("us", "ns", 1)),
        "load": e.load,
        "probe": e.probe,
        "quantity": e.quantity,
        "taken": e.taken(),
        "missed": e.missed(),
        "looked_ns": e.looked(),
        "median_ns": e.median(),
        "p99_ns": e.p99(),
        "max_ns": e.max(),
        "max_seed": worst.seed,
        "max_index": worst.max_index,
        "max_of_seeds": {
            "lowest_ns": e.least_max(),
            "median_ns": e.median_max(),
            "highest_ns": e.max(),
            "median_interval": e.median_max_interval(),
        },
        "seeds": seeds,
    })
}
