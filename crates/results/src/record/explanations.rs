//! What was explained when a run's study had ended: kept beside its plan, so that it is told wherever the run is.

use super::CellId;
use crate::claims::causes::ClaimCause;
use serde::{Deserialize, Serialize};

/// The file.
pub(super) const FILE: &str = "explanations.json";
/// Its form.
pub const SCHEMA: &str = "worstcase-explanations/1";

/// All of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunExplanations {
    /// Why claims of its study do not hold.
    pub claims: Vec<ClaimCause>,
    /// What entered CPUs of a thread that never sleeps, each subject's last parameters.
    pub entered: Vec<EnteredCell>,
}

/// Of a run of which nothing was explained.
pub static NOTHING_EXPLAINED: RunExplanations = RunExplanations {
    claims: Vec::new(),
    entered: Vec::new(),
};

/// What entered the CPU of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnteredCell {
    /// The cell.
    pub cell: CellId,
    /// The boot parameters of its machine, beside the lab's own.
    pub append: String,
    /// Its load.
    pub load: String,
    /// Gaps in a second of observation.
    pub gaps_a_second: f64,
    /// Each cause, the one that took most time first.
    pub causes: Vec<EntryCause>,
}

/// A cause, and who sent it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryCause {
    /// The thread or interrupt that came.
    pub cause: String,
    /// The sender on another CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_by: Option<String>,
    /// Times in a second of observation.
    pub a_second: f64,
}

/// The file's contents.
#[derive(Serialize, Deserialize)]
pub(super) struct ExplanationsFile {
    pub(super) schema: String,
    #[serde(flatten)]
    pub(super) all: RunExplanations,
}
