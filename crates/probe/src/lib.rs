//! What runs on the machine that is measured, host or lab guest: instruments (probes), loads, and the record they give.
//!
//! ```text
//! venue   where a cell runs; probe, loads: tables of which venue has what
//! spec    the text that asks for one cell                        controller  -> measured machine
//! placement on several CPUs: which is the probe's, which are the load's; cpus: a list of them
//! schedule which period is due when, and where the first one lies
//! probes  take samples            \
//! bench   other probes            |
//! loads   disturb, count their work } -> record   what was found   measured machine -> controller
//! mark    tells the QEMU plugin which instruction belongs to which sample (a no-op elsewhere)
//! trace   the plugin's event log: written by the plugin, read at the controller
//! census  the plugin's list of stretches in which a wake-up would have had to wait
//! window  the plugin's log of every block in a window, to explain a sample
//! priorities of the kernel's own threads
//! symbols names of the running kernel's code                       measured machine -> controller
//! ```
//! This crate knows nothing of QEMU, study files or reports.

pub mod bench;
pub mod census;
pub mod cpus;
pub mod ext4;
pub mod loads;
pub mod mark;
pub mod placement;
pub mod policy;
pub mod priorities;
pub mod prng;
pub mod probe;
pub mod probes;
pub mod processes;
pub mod record;
pub mod schedule;
pub mod spec;
pub mod symbols;
pub mod sys;
pub mod trace;
pub mod units;
pub mod venue;
pub mod window;

pub use probe::Probe;
pub use record::RawRecord;
pub use schedule::Schedule;
pub use spec::CellSpec;
pub use units::{Instructions, Nanos};
pub use venue::Venue;

/// Does what a child process of a load or a probe does that executes its own program again, and ends; returns in every other
/// process. Programs that run loads or probes call this first in `main`.
pub fn child_main() {
    loads::compile::child_main();
    bench::spawn::child_main();
}
