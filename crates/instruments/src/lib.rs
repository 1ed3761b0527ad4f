//! What runs on the machine that is measured, host or lab guest: probes, loads, and the record they give.
//!
//! ```text
//! order     which cell is measured: typed parameters, no grammar      controller -> measured machine
//! placement on several CPUs: which is the probe's, which are the load's; cpus: a list of them
//! schedule  which period is due when, and where the first one lies
//! probes    take samples            \
//! bench     other probes            |
//! loads     disturb, count their work } -> record   what was found   measured machine -> controller
//! priorities of the kernel's own threads
//! symbols   names of the running kernel's code                        measured machine -> controller
//! sys       one system interface a file
//! ```
//! This crate knows nothing of QEMU, study files or reports, and nothing of what only a controller reads: how probes and loads
//! are asked for, their titles and help texts are the contract's. Its bytes are part of every lab result.

pub mod bench;
pub mod cpus;
pub mod ext4;
pub mod loads;
pub mod order;
pub mod placement;
pub mod priorities;
pub mod probes;
pub mod processes;
mod raw_record;
pub mod record;
pub mod schedule;
pub mod symbols;
pub mod sys;

pub use raw_record::{RawRecord, RecordError};
pub use schedule::Schedule;

/// Does what a child process of a load or a probe does that executes its own program again, and ends; returns in every other
/// process. Programs that run loads or probes call this first in `main`.
pub fn child_main() {
    loads::compile::child_main();
    bench::spawn::child_main();
}
