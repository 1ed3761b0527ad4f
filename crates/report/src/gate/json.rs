//! `worstcase gate --json`: times in ns; `docs/formats-output.md` has the fields.

use super::ShownGate;
use super::table::of_cells;
use crate::compare::json::side;
use crate::table::json::rows;
use serde_json::json;
use worstcase_results::compare::judged::LEVEL;

/// The form of the document.
pub const SCHEMA: &str = "worstcase-gate/7";

/// The document, indented, with a line end.
pub fn document(shown: &ShownGate) -> String {
    let criterion = shown.criterion.as_ref();
    let document = json!({
        "schema": SCHEMA,
        "outcome": shown.outcome,
        "reasons": shown.gate.reasons,
        "baseline": side(shown.baseline),
        "run": side(shown.run),
        "limits": shown.gate.limits,
        "level": LEVEL,
        "correction": "Holm",
        "tests": shown.gate.tests,
        "cells": rows(&of_cells(&shown.gate.cells, shown.gate.limits)),
        "new": shown.gate.new,
        "verdict": criterion.map(|(c, verdicts, _)| json!({ "limit_ns": c.limit, "percentile": c.percentile, "subjects": verdicts })),
    });
    format!("{document:#}\n")
}
