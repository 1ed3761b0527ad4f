//! Probes whose sample is not the lateness of a timer: what a context switch or a process costs, how long message passing takes, how
//! long a lock's owner makes a more urgent thread wait, what a wake-up on another CPU or the end of a mapping that other
//! CPUs know takes.
//!
//! ```text
//! spelling   how parameters are written in a probe's name
//! details    what a probe tells beside its samples; part of the record
//! marks      the places of the samples, so that the lab's plugin knows them
//! switch     a ring of processes that pass a token
//! hackbench  groups of senders and receivers
//! pick       so many tasks that can run, and a choice among them
//! spawn      making a process, as lmbench does
//! inversion  priority inversion on a mutex, with and without inheritance
//! remote     waking a thread on another CPU
//! epoll      waking a thread that waits with epoll, on the same CPU or another
//! shootdown  unmapping memory that other CPUs have in use
//!
//! waking  rounds in which one thread wakes another    way   what it wakes it by    wire  a pulse's
//! link    a place for one token    rounds  which round begins when    rights  CPU, policy, locked memory
//! ```
//! Those of crates of their own (`io`, `wires`) are made of the same parts; `cell` has the list of all.
//!
//! Each is an [`Instrumented`], with `check`, which refuses what this machine cannot do before anything is started, and
//! `measure`. Whoever calls them has started the load, and stops it.

mod details;
pub mod epoll;
pub mod hackbench;
pub mod inversion;
mod limits;
mod link;
mod marks;
pub mod pick;
pub mod remote;
pub mod rights;
mod rounds;
pub mod shootdown;
pub mod spawn;
pub mod spelling;
pub mod switch;
#[cfg(test)]
mod testing;
mod waking;
mod way;
mod wire;

pub use details::{
    HackbenchDetails, HackbenchRun, InversionDetails, PickDetails, RemoteDetails, SendTimes, ShootdownDetails,
    SpawnDetails, SwitchAgain, SwitchDetails, SwitchRepetition,
};
pub use epoll::EpollWait;
pub use hackbench::{Hackbench, Transport};
pub use inversion::{Inversion, Protocol};
pub use marks::Marks;
pub use pick::Pick;
pub use remote::Remote;
pub use shootdown::Shootdown;
pub use spawn::{Spawn, Step};
pub use switch::{Placement, Switch, Via};
pub use waking::{check_rounds, play_on_wire};
pub use wire::Wire;

use crate::record::Sample;
use crate::sys::clock;
use std::fmt;
use std::path::Path;
use worstcase_logs::Nanos;

/// What every one of these probes is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// How many samples to take.
    pub repetitions: u32,
    /// Nothing is measured before this instant of CLOCK_MONOTONIC.
    pub start: Nanos,
    /// `inversion`, `remote`, `shootdown`: distance of two rounds.
    pub period: Nanos,
    /// The same: SCHED_FIFO priority of the most urgent thread.
    pub priority: u8,
    /// Member `i` of a ring runs on `cpus[i % len]` alone; `inversion`, `remote` and `shootdown` measure on the first, and
    /// each thread that these two have on other CPUs has one of the rest; everything else may run on all of them. Empty:
    /// wherever the kernel likes.
    pub cpus: &'a [u32],
    /// Access patterns, sizes and orders come from it.
    pub seed: u64,
    /// Where files are made; whoever asks removes it.
    pub folder: Option<&'a Path>,
    /// Somebody else tells what the device below these files does meanwhile, so the probe does not have to look.
    pub is_watched: bool,
}

/// Who looks on.
pub trait Observer {
    /// What had to be made ready is, and measuring begins.
    fn begins(&mut self) {}
    /// A sample was taken. Called between samples, never while one is taken.
    fn sample(&mut self, sample: Sample);
    /// Whether to end early. Asked between samples, and several times a second while one takes long.
    fn wants_end(&mut self) -> bool;
}

/// How often one who looks on is asked while a round is waited for.
const LOOK: Nanos = Nanos::from_millis(100);

/// Sleeps until a round is due; true if who looks on wants an end before.
fn ends_before(due: Nanos, observer: &mut dyn Observer) -> bool {
    while !observer.wants_end() {
        let look = clock::monotonic() + LOOK;
        clock::sleep_until(look.min(due));
        if due <= look {
            return false;
        }
    }
    true
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchResult<D> {
    /// The samples, in order; fewer than asked for if somebody wanted an end.
    pub samples: Vec<Sample>,
    /// What else is known.
    pub details: D,
    /// What was missing and may have changed the result.
    pub warnings: Vec<String>,
}

impl<D> BenchResult<D> {
    /// The same with its details as those of one of several probes.
    pub fn map<E>(self, among: impl FnOnce(D) -> E) -> BenchResult<E> {
        BenchResult {
            samples: self.samples,
            details: among(self.details),
            warnings: self.warnings,
        }
    }
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// This machine cannot do what was asked: says what, where the limit is, and the remedy.
    #[error("{0}")]
    Limit(String),
    /// A right or a part of the kernel is missing: says which, and the remedy.
    #[error("{0}")]
    Missing(String),
    /// A system call failed.
    #[error("{doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Something is not as it must be: the result would be wrong.
    #[error("the books do not balance: {0}")]
    Books(String),
}

impl BenchError {
    /// For `map_err`.
    pub fn system(doing: &'static str) -> impl Fn(std::io::Error) -> BenchError {
        move |source| BenchError::System { doing, source }
    }
}

/// What a probe with parameters does; its text is its one true spelling.
pub trait Instrumented: fmt::Display {
    /// What it tells beside its samples.
    type Details;

    /// Whether it is at work on all CPUs itself.
    fn is_spread(&self) -> bool {
        false
    }

    /// Whether it has threads on other CPUs than the one that it measures on.
    fn has_helpers(&self) -> bool {
        false
    }

    /// Refuses what this machine cannot do. Nothing is started for it.
    fn check(&self, request: &Request<'_>) -> Result<(), BenchError>;

    /// Takes the samples.
    fn measure(
        &self,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BenchResult<Self::Details>, BenchError>;
}
