//! `worstcase history --json`: times in ns; `docs/formats-output.md` has the fields.

use super::table::of_line;
use crate::table::json::rows;
use serde_json::{Value, json};
use worstcase_results::history::{History, HistoryLine, LEVEL};

/// The form of the document.
pub(crate) const SCHEMA: &str = "worstcase-history/3";

/// The document, indented, with a line end.
pub fn document(history: &History) -> String {
    let document = json!({
        "schema": SCHEMA,
        "level": LEVEL,
        "correction": "Holm",
        "tests": history.tests,
        "is_worse": history.is_worse(),
        "skipped": history.skipped,
        "lines": history.lines.iter().map(line).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

/// A line with all its points, which are also the rows of the text and of the CSV.
fn line(line: &HistoryLine) -> Value {
    let all: Vec<usize> = (0..line.points.len()).collect();
    json!({
        "key": line.key,
        "points": rows(&of_line(line, &all)),
        "series": line.series,
        "notes": line.notes,
    })
}
