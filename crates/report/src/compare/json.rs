//! `worstcase compare --json`: times in ns; `docs/formats-output.md` has the fields.

use super::ShownComparison;
use super::table::of_cells;
use crate::table::json::rows;
use serde_json::{Value, json};
use worstcase_results::compare::Side;
use worstcase_results::compare::words::{Compared, LEVEL};

/// The form of the document.
pub const SCHEMA: &str = "worstcase-compare/5";

/// The document, indented, with a line end.
pub fn document(shown: &ShownComparison) -> String {
    let mut document = json!({
        "schema": SCHEMA,
        "a": side(shown.a),
        "b": side(shown.b),
        "level": LEVEL,
        "correction": "Benjamini-Hochberg",
        "tests": shown.comparison.tests,
        "cells": shown.comparison.cells.iter().map(cell).collect::<Vec<_>>(),
        "unmatched": shown.comparison.unmatched,
    });
    if !shown.comparison.across.is_empty() {
        document["across"] = json!(shown.comparison.across);
    }
    format!("{document:#}\n")
}

/// A cell, and the rows that the text has of it.
fn cell(cell: &Compared) -> Value {
    let mut value = json!(cell.pair);
    value["changes"] = rows(&of_cells(String::new(), [cell], |_| true));
    value
}

/// The description of a side.
pub fn side(side: &Side) -> Value {
    json!({ "title": side.title, "command": side.command, "subjects": side.subjects })
}
