//! `timers`: many processes that sleep for about a millisecond, again and again: timer interrupts and wake-ups.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{Draws, LoadError};
use crate::sys::{affinity, clock};
use worstcase_logs::Nanos;

const SECOND: u64 = 1_000_000_000;
const WORKERS_A_CPU: u32 = 16;
/// Expiries a second of one process.
const USUAL_RATE: u64 = 1000;
const EXPIRIES: usize = 0;

/// Many processes that sleep for short times.
pub const TIMERS: LoadCode = LoadCode {
    name: "timers",
    units: &["expiries"],
    body: Some(start),
};

fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let workers = u64::from(
        load.request()
            .number()
            .unwrap_or_else(|| WORKERS_A_CPU * affinity::count()),
    );
    let rate = load.request().rate().map_or(USUAL_RATE * workers, u64::from);
    let mean = SECOND * workers / rate;
    for worker in 0..workers {
        load.spawn(Ending::Anywhere, move |board| {
            // The kernel must not end several sleeps by one interrupt.
            clock::set_timer_slack(Nanos(1)).map_err(|e| format!("setting the timer slack: {e}"))?;
            let mut random = Draws::new(board, seed.wrapping_add(worker << 32));
            let mut due = clock::monotonic().0;
            loop {
                // Half to one and a half of the mean: no two processes stay in step.
                due = (due + mean / 2 + random.below(mean.max(1))).max(clock::monotonic().0);
                clock::sleep_until(Nanos(due));
                board.add(EXPIRIES, 1);
            }
        })?;
    }
    Ok(())
}
