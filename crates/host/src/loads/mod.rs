//! Loads on this machine: those of [`worstcase_contract::loads`], with the bodies of those that only a host has.
//!
//! ```text
//! running  RunningHostLoad: started loads in a control group      place    LoadPlace: where they work
//! cgroup   a control group of their own                           mark     how their processes are known again
//! folder   their work folder, which nobody else can change        rights   whom they run as when root starts them
//! clean    Traces: what is left after kill -9, and its removal    segments shared memory that was left
//! disk, memory, desktop   the bodies (tree: a user's tree to build, source: a generated one, walk: a walk through files)
//! ```
//! All of them are ordinary processes: SCHED_OTHER, nice 0. They inherit the CPU affinity of the caller.

pub mod cgroup;
mod clean;
mod desktop;
mod disk;
mod folder;
mod mark;
mod memory;
mod place;
mod rights;
mod running;
mod segments;
mod source;
mod tree;
mod walk;

pub use clean::{CleanError, Traces, clean};
pub use place::LoadPlace;
pub use running::RunningHostLoad;

use worstcase_cell::loads::LoadKind;
use worstcase_instruments::loads::Body;

/// The bodies of the loads that only a host has.
pub(crate) const BODIES: &[(LoadKind, Body)] = &[
    (LoadKind::Build, desktop::start_build),
    (LoadKind::Memory, memory::start),
    (LoadKind::Disk, disk::start),
    (LoadKind::Desktop, desktop::start),
];
