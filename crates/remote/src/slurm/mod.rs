//! Cells by Slurm: arrays of tasks that measure into the cache, which all machines share.

mod array;
mod chunks;
mod commands;
mod executor;
mod job;
pub mod node;
mod options;
pub mod shares;

pub use array::{OnStop, SlurmUse};
pub use commands::{Batch, Slurm, SlurmQueue};
pub use executor::{SlurmExecutor, SlurmRunOptions};
pub(crate) use job::CellFailure;
pub use options::{InterruptChoice, SlurmOptions};
