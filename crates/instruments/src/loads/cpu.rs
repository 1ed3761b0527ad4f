//! `cpu`: integer and floating-point arithmetic, one process a CPU.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::affinity;
use std::hint::black_box;
use worstcase_logs::prng::SplitMix64;

/// Steps of a round: tens of microseconds.
const STEPS: u64 = 20_000;
const ROUNDS: usize = 0;

/// Arithmetic on every CPU.
pub const CPU: LoadCode = LoadCode {
    name: "cpu",
    units: &["rounds"],
    body: Some(start),
};

fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let workers = u64::from(load.request().number().unwrap_or_else(affinity::count));
    let rate = load.request().rate();
    for worker in 0..workers {
        load.spawn(Ending::Anywhere, move |board| {
            let mut pace = Pace::new(rate, worker, workers);
            let mut random = SplitMix64::new(seed.wrapping_add(worker << 32));
            let mut sum = 0.0;
            loop {
                pace.wait();
                for _ in 0..STEPS {
                    sum = (sum + random.next_u64() as f64).sqrt();
                }
                black_box(sum);
                board.add(ROUNDS, 1);
            }
        })?;
    }
    Ok(())
}
