//! `worstcase compare --json`: times in ns; `docs/formats-output.md` has the fields.

use super::ShownComparison;
use serde_json::{Value, json};
use worstcase_results::compare::Side;
use worstcase_results::compare::words::LEVEL;

/// The form of the document.
pub const SCHEMA: &str = "worstcase-compare/2";

/// The document, indented, with a line end.
pub fn document(shown: &ShownComparison) -> String {
    let document = json!({
        "schema": SCHEMA,
        "a": side(shown.a),
        "b": side(shown.b),
        "level": LEVEL,
        "correction": "Benjamini-Hochberg",
        "tests": shown.comparison.tests,
        "cells": shown.comparison.cells,
        "unmatched": shown.comparison.unmatched,
    });
    format!("{document:#}\n")
}

/// What a side is of.
pub fn side(side: &Side) -> Value {
    json!({ "title": side.title, "command": side.command, "subjects": side.subjects })
}
