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
        /// The cell has no timer.
        #[error("{cell}: {}", no_census_without_timer("this probe"))]
        NoTimer {
            /// The cell.
            cell: CellId,
        } => Usage,
        /// The probe waits for something that is no section.
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
            /// The CPU that was asked for.
            cpu: u32,
            /// The last one.
            last: u32,
        } => Usage,
        /// There is no cell to compare with.
        #[error("--diff {asked}: {reason}")]
        NoOther {
            /// The name that was asked for.
            asked: String,
            /// Why this is not one cell, and what would be one.
            reason: String,
        } => Usage,
        /// A census that does not fit its samples.
        #[error("{cell}: the census contradicts the samples: {source}; please report it")]
        Contradiction {
            /// The cell.
            cell: CellId,
            /// How the sample contradicts the census.
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
