//! `perf`: a process has its context switches counted for a moment, again and again.
//!
//! What the kernel counts only when somebody asks is behind a branch that it rewrites for that, on every CPU.
//!
//! `perf:N`: a group of counters made once, and switched on and off again and again. The kernel does so with all of a group at
//! once, interrupts off.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::perf::{SwitchCounter, SwitchGroup};
use std::io;

const COUNTERS: usize = 0;
const READS: usize = 0;

/// Counters of events opened and closed.
pub const PERF: LoadCode = LoadCode {
    name: "perf",
    units: &["counters"],
    body: Some(start),
};

/// A group of them switched on and off.
pub const PERF_GROUP: LoadCode = LoadCode {
    name: "perf",
    units: &["reads"],
    body: Some(start_group),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    if let Err(e) = SwitchCounter::open() {
        return Err(refused(load, &e));
    }
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        let failed = |e| format!("a counter: {e}");
        let mut pace = Pace::alone(rate);
        loop {
            pace.wait();
            let counter = SwitchCounter::open().map_err(failed)?;
            counter.read().map_err(failed)?;
            drop(counter);
            board.add(COUNTERS, 1);
        }
    })
}

fn start_group(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    if let Err(e) = SwitchCounter::open() {
        return Err(refused(load, &e));
    }
    let (rate, counters) = (load.request().rate(), load.request().number().unwrap_or(1));
    load.spawn(Ending::Anywhere, move |board| {
        let failed = |e| format!("a group of {counters} counters: {e}");
        let mut group = SwitchGroup::open(counters as usize).map_err(failed)?;
        let mut pace = Pace::alone(rate);
        loop {
            pace.wait();
            group.count().map_err(failed)?;
            board.add(READS, 1);
        }
    })
}

fn refused(load: &RunningPart, e: &io::Error) -> LoadError {
    load.not_available(format!(
        "counting a process's own context switches is refused ({e}): run as root, or sysctl kernel.perf_event_paranoid=1"
    ))
}
