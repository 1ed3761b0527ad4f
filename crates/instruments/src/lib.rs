//! What runs on the machine that is measured, host or lab guest: probes and loads, and what they are made of.
//!
//! ```text
//! placement on several CPUs: which is the probe's, which are the load's; cpus: a list of them
//! schedule  which period is due when, and where the first one lies
//! bench     probes with parameters, and what those of other crates are made of
//! loads     disturb, count their work
//! record    what both give: samples, work
//! environment  what the machine says of itself; priorities of the kernel's own threads; processes: who is who
//! symbols   names of the running kernel's code
//! sys       one system interface a file
//! ```
//! This crate knows nothing of QEMU, study files or reports, and nothing of what only a controller reads: how probes and loads
//! are asked for, their titles and help texts are the contract's. Nor does it know the list of all probes and loads, which is in
//! `cell`: rare ones are crates of their own, made of the same parts (`io`, `wires`). Its bytes are part of every lab result.

pub mod bench;
pub mod cpus;
pub mod environment;
pub mod loads;
pub mod placement;
pub mod priorities;
pub mod processes;
pub mod record;
pub mod schedule;
pub mod symbols;
pub mod sys;

pub use schedule::Schedule;

/// Does what a child process of a load or a probe does that executes its own program again, and ends; returns in every other
/// process. Programs that run loads or probes call this first in `main`.
pub fn child_main() {
    loads::compile::child_main();
    bench::spawn::child_main();
}
