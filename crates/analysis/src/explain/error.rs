//! Why nothing can be told of a sample.

use super::choice::{SampleChoice, TypedPercentage};
use crate::breakdown::spans::BreakdownError;
use worstcase_base::cache::CacheError;
use worstcase_kernels::debuginfo::DebugInfoError;
use worstcase_lab::LabError;
use worstcase_results::record::{CellId, RunError};

worstcase_base::errors! {
    /// Why nothing can be told.
    #[derive(Debug, thiserror::Error)]
    pub enum ExplainError {
        /// The cell has no such sample.
        #[error("{cell} has no sample {asked}; it has {there}")]
        NoSample {
            /// The cell.
            cell: CellId,
            /// The sample that was asked for.
            asked: SampleChoice,
            /// Those it has.
            there: String,
        } => Usage,
        /// A percentile of too few samples.
        #[error(
            "{cell} has {samples} samples, of which none is later than p{share}: that is the latest one, --sample worst"
        )]
        TooFew {
            /// The cell.
            cell: CellId,
            /// The percentile that was asked for.
            share: TypedPercentage,
            /// Its samples.
            samples: usize,
        } => Usage,
        /// This machine's, without recordings.
        #[error("{cell} has no recordings to explain: {why}")]
        NoRecordings {
            /// The cell.
            cell: CellId,
            /// Why.
            why: String,
        } => Usage,
        /// Nothing tells what its paths consist of.
        #[error("{cell}: what its paths consist of (--costs, --on-machine) cannot be told: {why}")]
        NoCosts {
            /// The cell.
            cell: CellId,
            /// Why.
            why: &'static str,
        } => Usage,
        /// Another tool's.
        #[error(
            "{cell} was measured by {tool}, which keeps no trace of its samples; measure with worstcase host run --captures 10"
        )]
        Foreign {
            /// The cell.
            cell: CellId,
            /// The tool.
            tool: String,
        } => Usage,
        /// This machine's, and another sample.
        #[error("{cell}: sample {index} was not recorded; the latest are, with these numbers: {recorded}")]
        NotRecorded {
            /// The cell.
            cell: CellId,
            /// The sample.
            index: u64,
            /// The samples that are recorded.
            recorded: String,
        } => Usage,
        /// Two cells that have nothing in common.
        #[error("--compare lays cells of one load and one probe side by side: {left} and {right} differ in that")]
        Incomparable {
            /// The one cell.
            left: CellId,
            /// The other.
            right: CellId,
        } => Usage,
        /// The cell measures a cost, so no sample is late.
        #[error(
            "{cell}: what a switch, message passing or a process costs is no latency with a worst sample to explain; remote, shootdown and irq are explained in the lab only: explain cells of other probes"
        )]
        NoLatency {
            /// The cell.
            cell: CellId,
        } => Usage,
        /// The window does not fit.
        #[error("{cell}, sample {index}: {source}")]
        Breakdown {
            /// The cell.
            cell: CellId,
            /// The sample.
            index: u32,
            /// Why.
            source: BreakdownError,
        } => Measured,
        /// Replaying failed.
        #[error(transparent)]
        Lab(#[from] LabError) => within,
        /// Lines of source code cannot be had.
        #[error(transparent)]
        DebugInfo(#[from] DebugInfoError) => within,
        /// The run cannot be read.
        #[error(transparent)]
        Run(#[from] RunError) => within,
    }
}

impl From<CacheError> for ExplainError {
    fn from(error: CacheError) -> ExplainError {
        LabError::from(error).into()
    }
}
