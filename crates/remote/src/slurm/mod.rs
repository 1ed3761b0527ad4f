//! Cells by Slurm: arrays of tasks that measure into the cache, which all machines share.

mod array;
mod chunks;
mod commands;
mod executor;
mod job;
pub mod node;
mod options;
pub mod shares;

pub use array::{How, OnStop};
pub use commands::{Batch, Queue, Slurm};
pub use executor::{Means, SlurmExecutor};
pub use job::Failure;
pub use options::{Interrupt, Options};
