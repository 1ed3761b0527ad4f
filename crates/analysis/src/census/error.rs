//! Why there is no census.

use super::join::SampleContradiction;
use worstcase_base::ExitKind;
use worstcase_base::cache::CacheError;
use worstcase_kernels::debuginfo::DebugInfoError;
use worstcase_lab::LabError;
use worstcase_plan::{NO_CENSUS_OF_ORDINARY, no_census_without_timer};
use worstcase_results::record::{CellId, RunError};

/// Why there is no census.
#[derive(Debug, thiserror::Error)]
pub enum CensusError {
    /// No timer is due.
    #[error("{cell}: {}", no_census_without_timer("this probe"))]
    NoTimer {
        /// The cell.
        cell: CellId,
    },
    /// What it waits for is no section.
    #[error("{cell}: {NO_CENSUS_OF_ORDINARY}")]
    Ordinary {
        /// The cell.
        cell: CellId,
    },
    /// A CPU that the machine has not.
    #[error("{cell}: --cpu {cpu}: its machine has CPUs 0 to {last}")]
    NoCpu {
        /// The cell.
        cell: CellId,
        /// What was asked for.
        cpu: u32,
        /// The last one.
        last: u32,
    },
    /// Nothing to compare with.
    #[error("--diff {asked}: {reason}")]
    NoOther {
        /// What was asked for.
        asked: String,
        /// Why it is not one cell, and what would be.
        reason: String,
    },
    /// A census that does not fit its samples.
    #[error("{cell}: the census contradicts the samples: {source}; please report it")]
    Contradiction {
        /// The cell.
        cell: CellId,
        /// In which way.
        source: SampleContradiction,
    },
    /// Replaying failed.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// Lines of source code cannot be read.
    #[error(transparent)]
    DebugInfo(#[from] DebugInfoError),
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<CacheError> for CensusError {
    fn from(error: CacheError) -> CensusError {
        LabError::from(error).into()
    }
}

impl CensusError {
    /// What a script needs to know of it.
    pub fn exit(&self) -> ExitKind {
        match self {
            CensusError::NoOther { .. }
            | CensusError::NoTimer { .. }
            | CensusError::Ordinary { .. }
            | CensusError::NoCpu { .. } => ExitKind::Usage,
            CensusError::Contradiction { .. } => ExitKind::Measured,
            CensusError::Lab(e) => e.exit(),
            CensusError::DebugInfo(e) => e.exit(),
            CensusError::Run(e) => e.exit(),
        }
    }
}
