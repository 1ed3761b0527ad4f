//! Censuses as JSON; times in ns. The rows of the text come from the same columns.

use super::{several, terminal};
use crate::table::json::rows;
use serde_json::{Value, json};
use worstcase_analysis::census::diff::SectionDifference;
use worstcase_analysis::census::ensemble::CensusEnsemble;
use worstcase_analysis::census::findings::Findings;

/// The form of the document.
const SCHEMA: &str = "worstcase-census/4";

/// One cell.
pub fn cell(findings: &Findings) -> String {
    text(&of_cell(findings))
}

/// Two cells side by side.
pub fn diff(before: &Findings, after: &Findings, differences: &[SectionDifference]) -> String {
    let all: Vec<&SectionDifference> = differences.iter().collect();
    text(&json!({
        "schema": SCHEMA,
        "before": of_cell(before),
        "after": of_cell(after),
        "differences": rows(&several::changes(&all)),
    }))
}

/// Every subject, load and probe over its seeds.
pub fn ensembles(all: &[CensusEnsemble]) -> String {
    let one = |ensemble: &CensusEnsemble| {
        let mut value = json!(ensemble);
        value["seeds"] = rows(&several::seeds(ensemble));
        value["union"] = rows(&several::owners(ensemble, usize::MAX));
        value
    };
    let all: Vec<Value> = all.iter().map(one).collect();
    text(&json!({ "schema": SCHEMA, "ensembles": all }))
}

fn of_cell(findings: &Findings) -> Value {
    let mut value = json!(findings);
    value["schema"] = json!(SCHEMA);
    value["kinds"] = rows(&terminal::kinds(findings));
    value["tail"]["rows"] = rows(&terminal::tail_rows(&findings.tail));
    value
}

fn text(value: &Value) -> String {
    format!("{value:#}\n")
}
