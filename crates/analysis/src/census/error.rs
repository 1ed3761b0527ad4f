//! Why there is no census.

use super::join::SampleContradiction;
use worstcase_base::cache::CacheError;
use worstcase_kernels::debuginfo::DebugInfoError;
use worstcase_lab::LabError;
use worstcase_plan::{NO_CENSUS_OF_ORDINARY, no_census_without_timer};
use worstcase_results::record::{CellId, RunError};

worstcase_base::errors! {
    /// Why there is no census.
    #[derive(Debug, thiserror::Error)]
    pub enum CensusTakeError {
        /// No timer is due.
        #[error("{cell}: {}", no_census_without_timer("this probe"))]
        NoTimer {
            /// The cell.
            cell: CellId,
        } => Usage,
        /// What it waits for is no section.
        #[error("{cell}: {NO_CENSUS_OF_ORDINARY}")]
        Ordinary {
            /// The cell.
            cell: CellId,
        } => Usage,
        /// A CPU that the machine has not.
        #[error("{cell}: --cpu {cpu}: its machine has CPUs 0 to {last}")]
        NoCpu {
            /// The cell.
            cell: CellId,
            /// What was asked for.
            cpu: u32,
            /// The last one.
            last: u32,
        } => Usage,
        /// Nothing to compare with.
        #[error("--diff {asked}: {reason}")]
        NoOther {
            /// What was asked for.
            asked: String,
            /// Why it is not one cell, and what would be.
            reason: String,
        } => Usage,
        /// A census that does not fit its samples.
        #[error("{cell}: the census contradicts the samples: {source}; please report it")]
        Contradiction {
            /// The cell.
            cell: CellId,
            /// In which way.
            source: SampleContradiction,
        } => Measured,
        /// Replaying failed.
        #[error(transparent)]
        Lab(#[from] LabError) => within,
        /// Lines of source code cannot be read.
        #[error(transparent)]
        DebugInfo(#[from] DebugInfoError) => within,
        /// The run cannot be read.
        #[error(transparent)]
        Run(#[from] RunError) => within,
    }
}

impl From<CacheError> for CensusTakeError {
    fn from(error: CacheError) -> CensusTakeError {
        LabError::from(error).into()
    }
}
