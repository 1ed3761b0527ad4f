//! Loads: what disturbs the machine while a probe measures, in both venues.
//!
//! ```text
//! code     LoadCode: a name, what is counted, what starts it
//! request  LoadRequest: the parameters of one load; modules: what kernel modules are loaded with
//! running  RunningLoad: loads that run: their work, how to stop them
//! part     RunningPart: one of them: forked workers in a process group of their own, how to undo what it made
//! worker   what every worker is
//! surroundings  what a load finds, and what it starts with
//! error    LoadError
//! board    the page that workers and probe share: counters, and room for one error message
//! draws    what a load draws at random while it works
//! pace     so many operations a second
//! <name>   one file a load, its body: what it makes before the workers start, and what a worker does for ever
//! ```
//! A load's workers are forked from the measuring process (no exec, so the lab needs one binary only) and run
//! at SCHED_OTHER, nice 0. What a load counts is its proof of work; what it made, [`RunningLoad::stop`] undoes.
//!
//! Nothing here may depend on chance: no random hash state, no wall-clock decisions, no addresses; the seed
//! drives every access pattern, so that a lab cell repeats to the instruction. A pace is kept on CLOCK_MONOTONIC,
//! which in the lab is virtual time.

pub(crate) mod board;
pub mod bpf;
pub mod brought;
pub mod cgroup;
pub mod cmd;
mod code;
pub mod compile;
pub mod cpu;
pub mod draw;
mod draws;
mod error;
pub mod eventfd;
pub mod exec;
pub mod find;
pub mod fork;
pub mod membarrier;
pub mod memfd;
mod modules;
pub mod mprotect;
pub mod munmap;
mod pace;
mod part;
pub mod perf;
pub mod pipes;
pub mod proc;
mod process_tree;
pub mod procread;
pub mod rcu;
pub mod receive;
mod request;
pub mod rtc;
mod running;
pub mod seccomp;
pub mod settings;
pub mod shm;
pub mod sockets;
mod surroundings;
pub mod timerfd;
pub mod timers;
pub mod unmap;
mod worker;

pub use board::Board;
pub use code::{Body, LoadCode};
pub use draws::Draws;
pub use error::LoadError;
pub use modules::ModuleInfo;
pub use pace::Pace;
pub use part::{Ending, RunningPart, UnitReading, unique_name};
pub use request::LoadRequest;
pub use running::{PlannedLoad, RunningLoad, SET_UP};
pub use surroundings::{BegunPart, Surroundings};
