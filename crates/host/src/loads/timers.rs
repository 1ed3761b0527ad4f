//! `timers`: many processes that sleep for about a millisecond, again and again: timer interrupts and wake-ups.

use super::LoadError;
use super::crew::{Crew, set_timer_slack};
use super::place::cpus;
use worstcase_probe::Nanos;
use worstcase_probe::prng::SplitMix64;
use worstcase_probe::sys::clock;

const SECOND: u64 = 1_000_000_000;
const WORKERS_A_CPU: u64 = 16;
/// Expiries a second of one process.
const USUAL_RATE: u64 = 1000;
const EXPIRIES: usize = 0;

pub(super) fn start(crew: &mut Crew, workers: Option<u32>, rate: Option<u32>, seed: u64) -> Result<(), LoadError> {
    let workers = workers.map_or_else(|| WORKERS_A_CPU * cpus(), u64::from);
    let rate = rate.map_or(USUAL_RATE * workers, u64::from);
    let mean = SECOND * workers / rate;
    for worker in 0..workers {
        crew.spawn(move |tally| {
            // The kernel must not end several sleeps by one interrupt.
            set_timer_slack(1)?;
            let mut random = SplitMix64::new(seed.wrapping_add(worker << 32));
            let mut due = clock::monotonic().0;
            loop {
                // Half to one and a half of the mean: no two processes stay in step.
                due = (due + mean / 2 + random.below(mean.max(1))).max(clock::monotonic().0);
                clock::sleep_until(Nanos(due));
                tally.add(EXPIRIES, 1);
            }
        })?;
    }
    Ok(())
}
