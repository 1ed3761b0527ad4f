//! `cpu`: integer and floating-point arithmetic, one process a CPU.

use super::LoadError;
use super::crew::Crew;
use super::pace::Pace;
use super::place::cpus;
use std::hint::black_box;
use worstcase_probe::prng::SplitMix64;

/// Steps of a round: tens of microseconds.
const STEPS: u64 = 20_000;
const ROUNDS: usize = 0;

pub(super) fn start(crew: &mut Crew, workers: Option<u32>, rate: Option<u32>, seed: u64) -> Result<(), LoadError> {
    let workers = workers.map_or_else(cpus, u64::from);
    for worker in 0..workers {
        crew.spawn(move |tally| {
            let mut pace = Pace::new(rate, worker, workers);
            let mut random = SplitMix64::new(seed.wrapping_add(worker << 32));
            let mut sum = 0.0;
            loop {
                pace.wait();
                for _ in 0..STEPS {
                    sum = (sum + random.next_u64() as f64).sqrt();
                }
                black_box(sum);
                tally.add(ROUNDS, 1);
            }
        })?;
    }
    Ok(())
}
