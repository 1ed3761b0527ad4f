//! Loads: what disturbs the machine while a probe measures.
//!
//! ```text
//! spec     LoadSpec: a load as users name it ("apps:30"), and the table of all loads
//! running  RunningLoad: forked workers in a process group of their own, their counters, how to stop and undo
//! error    LoadEnvironment (where it runs), LoadError
//! board    the page that workers and probe share: counters, and room for one error message
//! <name>   one file a load: what it makes before the workers start, and what a worker does for ever
//! ```
//! A load's workers are forked from the measuring process (no exec, so the lab needs one binary only) and run
//! at SCHED_OTHER, nice 0. What a load counts is its proof of work; what it made, [`RunningLoad::stop`] undoes.
//!
//! Nothing here may depend on chance: no random hash state, no wall-clock decisions, no addresses; the seed
//! drives every access pattern, so that a lab cell repeats to the instruction.

mod apps;
mod blockread;
pub(crate) mod board;
mod cmd;
mod command_line;
pub mod compile;
mod error;
mod find;
mod fork;
mod null_block;
mod process_tree;
mod procread;
mod running;
mod shm;
mod sockets;
mod spec;

pub use error::{LoadEnvironment, LoadError, Venue};
pub use running::RunningLoad;
pub use spec::{LOADS, LoadInfo, LoadKind, LoadSpec};
