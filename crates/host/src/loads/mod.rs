//! Loads of the host: those of the lab, and those that need a real machine.
//!
//! ```text
//! table    HOST_LOADS: the loads that only the host has          spec     HostLoad: what a user types
//! running  RunningHostLoad: started loads, their work and rates   place    LoadPlace: where they work
//! crew     forked workers of one load, their counters             pace     so many operations a second
//! cgroup   a control group of their own                           mark     how their processes are known again
//! folder   their work folder, which nobody else can change        rights   whom they run as when root starts them
//! clean    Traces: what is left after kill -9, and its removal    segments shared memory that was left
//! <name>   one file a load (rated: loads of the lab at a rate)
//! ```
//! All of them are ordinary processes: SCHED_OTHER, nice 0. They inherit the CPU affinity of the caller.

pub mod cgroup;
mod clean;
mod cpu;
mod crew;
mod desktop;
mod disk;
mod folder;
mod mark;
mod memory;
mod pace;
mod place;
mod proc;
mod rated;
mod rights;
mod running;
mod segments;
mod source;
mod spec;
mod start;
mod table;
mod timers;
mod tree;
mod walk;

pub use clean::{CleanError, Traces, clean};
pub use place::LoadPlace;
pub use running::{Rate, RunningHostLoad};
pub use spec::{HostLoad, MAX_RATE, Part};
pub use table::{HOST_LOADS, HostLoadInfo, HostLoadKind, usages};
pub use worstcase_probe::loads::LoadError;
