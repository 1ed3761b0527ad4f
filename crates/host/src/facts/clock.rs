//! The clock that time is read from, and what a reading costs.

use super::tree::FileTree;
use serde::Serialize;

/// The clock source.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClockSource {
    /// The one in use, e.g. tsc.
    pub current: Option<String>,
    /// All clock sources that there are.
    pub available: Vec<String>,
    /// What reading CLOCK_MONOTONIC costs (ns, the best of many batches).
    pub read_ns: Option<f64>,
}

const FOLDER: &str = "sys/devices/system/clocksource/clocksource0";

pub(super) fn read(tree: &FileTree, read_ns: Option<f64>) -> ClockSource {
    let available = tree
        .text(&format!("{FOLDER}/available_clocksource"))
        .unwrap_or_default();
    ClockSource {
        current: tree.text(&format!("{FOLDER}/current_clocksource")),
        available: available.split_ascii_whitespace().map(str::to_string).collect(),
        read_ns,
    }
}
