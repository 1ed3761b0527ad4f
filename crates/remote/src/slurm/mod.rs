//! Cells by Slurm: arrays of tasks that measure into the cache, which all machines share.

mod chunks;
mod commands;
mod executor;
mod job;
pub mod node;
mod options;

pub use commands::{Batch, Queue, Slurm};
pub use executor::{How, OnStop, SlurmExecutor};
pub use job::Failure;
pub use options::{Interrupt, Options};
