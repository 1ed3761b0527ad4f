//! `worstcase history --json`: times in ns; `docs/formats-output.md` has the fields.

use serde_json::json;
use worstcase_results::history::{History, LEVEL};

/// The form of the document.
pub const SCHEMA: &str = "worstcase-history/1";

/// The document, indented, with a line end.
pub fn document(history: &History) -> String {
    let document = json!({
        "schema": SCHEMA,
        "level": LEVEL,
        "correction": "Holm",
        "tests": history.tests,
        "is_worse": history.is_worse(),
        "skipped": history.skipped,
        "lines": history.lines,
    });
    format!("{document:#}\n")
}
