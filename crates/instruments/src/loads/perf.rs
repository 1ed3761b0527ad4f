//! `perf`: a process has its context switches counted for a moment, again and again.
//!
//! What the kernel counts only when somebody asks is behind a branch that it rewrites for that, on every CPU.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::perf::SwitchCounter;

const COUNTERS: usize = 0;

/// Counters of events opened and closed.
pub const PERF: LoadCode = LoadCode {
    name: "perf",
    units: &["counters"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    if let Err(e) = SwitchCounter::open() {
        return Err(load.not_available(format!(
            "counting a process's own context switches is refused ({e}): run as root, or sysctl kernel.perf_event_paranoid=1"
        )));
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
