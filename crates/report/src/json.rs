//! `worstcase show --json`: ensembles and verdicts for programs. Times in ns; `docs/formats-output.md` has the fields.

use super::probes::PROBES;
use super::table::json::rows;
use super::{ReportView, claims, demands, ensembles, next, noise, probes, program, ranking, scheduled};
use serde_json::json;
use worstcase_results::claims::judged;

/// The form of the document.
pub const SCHEMA: &str = "worstcase-show/10";

/// The document, indented, with a line end.
pub fn run(view: &ReportView) -> String {
    let verdicts = view.verdicts.as_ref().map(|(criterion, verdicts)| {
        json!({
            "limit_ns": criterion.limit,
            "percentile": criterion.percentile,
            "min_seeds": criterion.min_seeds,
            "min_samples": criterion.min_samples,
            "min_time_ns": criterion.min_time,
            "subjects": verdicts,
        })
    });
    let mut document = json!({
        "schema": SCHEMA,
        "title": view.plan.title,
        "command": view.command(),
        "tool_version": view.plan.tool_version,
        "cells_planned": view.plan.cells.len(),
        "cells_measured": view.records.len(),
        "ensembles": rows(&ensembles::all(view)),
        "noise": rows(&noise::all(view.records)),
        "schedulers": scheduled::table(view.records).map(|table| rows(&table)),
        "verdict": verdicts,
        "ranking": ranking::table(view).map(|table| rows(&table)),
        "demands": demands::json(view),
        "entered": view.explanations.entered,
        "next": next::shown(&next::next(view, &[])),
        "question": view.plan.question,
        "claims": claims::json(&judged(view.plan, view.records), &view.explanations.claims),
    });
    let followed = program::json(view.records);
    if !followed.is_empty() {
        document["followed"] = followed.into();
    }
    for (key, _) in PROBES {
        document[key] = json!([]);
    }
    for table in probes::tables(view).iter().filter(|table| !table.is_view) {
        document[table.key] = rows(table);
    }
    format!("{document:#}\n")
}
