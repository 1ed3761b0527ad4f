//! A breakdown as JSON, schema `worstcase-breakdown/2`; times in ns.

use worstcase_analysis::breakdown::spans::Breakdown;

/// One breakdown.
pub fn breakdown(breakdown: &Breakdown) -> String {
    let mut text = serde_json::to_string_pretty(breakdown).expect("a breakdown is plain data");
    text.push('\n');
    text
}

/// Several, as a list.
pub fn breakdowns(breakdowns: &[&Breakdown]) -> String {
    let mut text = serde_json::to_string_pretty(breakdowns).expect("a breakdown is plain data");
    text.push('\n');
    text
}
