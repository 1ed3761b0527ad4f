//! Loads: what disturbs the machine while a probe measures, in both venues.
//!
//! ```text
//! kind     the names of all loads; list: the row of each; code: what a row has: a name, what is counted, what starts it
//! order    LoadOrder: one load with its parameters; modules: what kernel modules are loaded with
//! running  RunningLoad: loads that run: their work, how to stop them
//! part     RunningPart: one of them: forked workers in a process group of their own, how to undo what it made
//! worker   what every worker is
//! surroundings  what a load finds; environment: LoadEnvironment: what a venue gives to its loads, and bodies of its own
//! error    LoadError
//! board    the page that workers and probe share: counters, and room for one error message
//! pace     so many operations a second
//! <name>   one file a load, its body: what it makes before the workers start, and what a worker does for ever
//! ```
//! A load's workers are forked from the measuring process (no exec, so the lab needs one binary only) and run
//! at SCHED_OTHER, nice 0. What a load counts is its proof of work; what it made, [`RunningLoad::stop`] undoes.
//!
//! Nothing here may depend on chance: no random hash state, no wall-clock decisions, no addresses; the seed
//! drives every access pattern, so that a lab cell repeats to the instruction. A pace is kept on CLOCK_MONOTONIC,
//! which in the lab is virtual time.

mod apps;
mod blockread;
pub(crate) mod board;
mod bpf;
mod brought;
mod cgroup;
mod cmd;
mod code;
pub mod compile;
mod cpu;
mod draw;
mod environment;
mod error;
mod find;
mod fork;
mod interrupts;
mod kind;
mod list;
mod membarrier;
mod modules;
mod munmap;
mod null_block;
mod order;
mod pace;
mod part;
mod perf;
mod proc;
mod process_tree;
mod procread;
mod rcu;
mod receive;
mod running;
mod settings;
mod shm;
mod sockets;
mod surroundings;
mod timerfd;
mod timers;
mod worker;
mod writeback;

pub use board::Board;
pub use code::{Body, LoadCode};
pub use environment::LoadEnvironment;
pub use error::LoadError;
pub use kind::LoadKind;
pub use modules::ModuleInfo;
pub use null_block::devices;
pub use order::LoadOrder;
pub use pace::Pace;
pub use part::{Ending, RunningPart};
pub use running::{RunningLoad, SET_UP};
pub use surroundings::{BeginPart, BegunPart, Surroundings};
