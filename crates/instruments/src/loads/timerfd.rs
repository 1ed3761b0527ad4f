//! `timerfd`: processes with a thousand timers each; all expire at the same moment, every 10 ms.
//!
//! One interrupt calls the function of every timer that has expired, with interrupts off all the while: a thousand timers
//! of an ordinary user's are an interrupt a thousand functions long.

use super::LoadError;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use crate::sys::clock;
use crate::sys::rlimit::Resource;
use crate::sys::timerfd::TimerFd;
use worstcase_logs::Nanos;

/// Timers of a process: each is an open file, of which a process usually may have 1024.
const TIMERS: u64 = 1_000;
const PERIOD: Nanos = Nanos::from_millis(10);
const EXPIRIES: usize = 0;

/// Thousands of timers that expire in one interrupt.
pub const TIMERFD: LoadCode = LoadCode {
    name: "timerfd",
    units: &["expiries"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let files = load.limit_of_files(TIMERS)?;
    let workers = u64::from(load.request().number().unwrap_or(1));
    // The same for all processes, and far enough away that all of them are ready.
    let second = 1_000_000_000;
    let first = Nanos((clock::monotonic().0 / second + 1) * second);
    load.await_workers(workers);
    for _ in 0..workers {
        load.spawn(Ending::Anywhere, move |board| {
            let failed = |e| format!("a timer: {e}");
            let _raised = Resource::Files.raise(files).map_err(failed)?;
            let timers: Vec<TimerFd> = (0..TIMERS)
                .map(|_| TimerFd::periodic(first, PERIOD))
                .collect::<Result<_, _>>()
                .map_err(failed)?;
            board.set_up();
            let mut due = first;
            loop {
                clock::sleep_until(due);
                due = due + PERIOD;
                for timer in &timers {
                    // A timer that was not read since it expired waits for that, with its periods counted.
                    board.add(EXPIRIES, timer.expired().map_err(failed)?);
                }
            }
        })?;
    }
    Ok(())
}
