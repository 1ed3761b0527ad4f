//! `membarrier`: barriers that one process has others execute.
//!
//! By itself it asks for one in every process that has registered for such barriers (global expedited): that is itself
//! alone. With `membarrier:own` a thread of the probe's process asks for one in every thread of it (private expedited).

use super::board::Board;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::membarrier::{self, Among};

const BARRIERS: usize = 0;

/// Memory barriers on other CPUs.
pub const MEMBARRIER: LoadCode = LoadCode {
    name: "membarrier",
    units: &["barriers"],
    body: Some(start),
};

/// The same by a thread of the probe's process.
pub const MEMBARRIER_OWN: LoadCode = LoadCode {
    name: "membarrier",
    units: &["barriers"],
    body: Some(start_own),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        ask(board, rate, Among::RegisteredProcesses)
    })
}

fn start_own(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    load.own_thread(move |board| ask(board, rate, Among::OwnThreads));
    Ok(())
}

fn ask(board: &Board, rate: Option<u32>, among: Among) -> Result<(), String> {
    let failed = |e| format!("membarrier: {e}");
    let mut pace = Pace::alone(rate);
    membarrier::register(among).map_err(failed)?;
    while !board.end_is_asked_for() {
        pace.wait();
        membarrier::barrier(among).map_err(failed)?;
        board.add(BARRIERS, 1);
    }
    Ok(())
}
