//! How long boots, cells and replays take on this machine: as long as earlier ones did, which the cache keeps for each machine;
//! before there are any, as a short calculation says.
//!
//! It is an estimate for people. No result depends on it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use worstcase_base::cache::Cache;
use worstcase_base::{machine, output};
use worstcase_contract::{CellSpec, Nanos};

/// The area of the cache.
const AREA: &str = "speed";

/// Weight of an observation when the next one comes: some tens count.
const FADES: f64 = 0.97;

/// CPU time of [`calculate`] on the machine on which [`USUAL`] was measured, in seconds.
const CALCULATED: f64 = 0.006;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimedWork {
    /// A boot, to its snapshot.
    Boot,
    /// A cell whose length is known.
    Cell,
    /// A cell of a benchmark, which takes as long as its work.
    Bench,
    /// A replay for a census.
    Census,
}

impl TimedWork {
    /// What a cell is.
    pub fn of(spec: &CellSpec) -> TimedWork {
        match spec.probe.is_periodic() {
            true => TimedWork::Cell,
            false => TimedWork::Bench,
        }
    }
}

/// Measured on one machine: seconds for each, and for each virtual second of it.
const USUAL: [(TimedWork, f64, f64); 4] = [
    (TimedWork::Boot, 6.0, 0.0),
    (TimedWork::Cell, 0.5, 2.0),
    (TimedWork::Bench, 2.0, 0.0),
    (TimedWork::Census, 4.0, 6.0),
];

/// A straight line through what was observed, the last most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ObservedLine {
    count: f64,
    length: f64,
    length_squared: f64,
    time: f64,
    product: f64,
}

impl ObservedLine {
    fn add(&mut self, length: f64, time: f64) {
        let sums = [
            (&mut self.count, 1.0),
            (&mut self.length, length),
            (&mut self.length_squared, length * length),
            (&mut self.time, time),
            (&mut self.product, length * time),
        ];
        for (sum, one) in sums {
            *sum = *sum * FADES + one;
        }
    }

    /// The time for this length; `usual` is the slope where the observations have one length only. Far beyond them it is the least:
    /// short cells under heavy loads beside long ones of idle machines say that length costs nothing.
    fn at(&self, length: f64, usual: f64) -> Option<f64> {
        if self.count < 1.0 {
            return None;
        }
        let (mean_length, mean_time) = (self.length / self.count, self.time / self.count);
        let spread = self.length_squared / self.count - mean_length * mean_length;
        let slope = match spread > 1e-3 * mean_length * mean_length {
            true => ((self.product / self.count - mean_length * mean_time) / spread).max(0.0),
            false => usual,
        };
        let edge = mean_length + 2.0 * spread.max(0.0).sqrt();
        let (within, beyond) = (length.min(edge), (length - edge).max(0.0));
        let least = usual.min(0.5 * mean_time / mean_length.max(f64::MIN_POSITIVE));
        let near = mean_time + slope * (within - mean_length);
        // A short cell never takes less than none.
        Some(near.max(0.1 * mean_time) + slope.max(least) * beyond)
    }
}

/// This machine's speed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabSpeed {
    seen: BTreeMap<TimedWork, ObservedLine>,
    /// How much slower than usual this machine calculates.
    #[serde(skip)]
    slower: f64,
}

impl LabSpeed {
    /// As far as the cache knows, else as a calculation of some hundredths of a second says.
    pub fn of(cache: &Cache) -> LabSpeed {
        let kept = LabSpeed::kept(cache);
        let is_known = USUAL.iter().all(|(what, ..)| kept.seen.contains_key(what));
        match is_known {
            true => LabSpeed { slower: 1.0, ..kept },
            false => LabSpeed {
                seen: kept.seen,
                ..LabSpeed::unseen()
            },
        }
    }

    /// As a calculation says.
    pub fn unseen() -> LabSpeed {
        LabSpeed {
            seen: BTreeMap::new(),
            slower: calculate().as_secs_f64() / CALCULATED,
        }
    }

    fn kept(cache: &Cache) -> LabSpeed {
        // What cannot be read is not known.
        let bytes = worstcase_base::files::read(&place(cache)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Seconds that one takes; `length` is its virtual time.
    pub fn seconds(&self, what: TimedWork, length: Nanos) -> f64 {
        let length = length.0 as f64 / 1e9;
        let usual = USUAL.iter().find(|(usual, ..)| *usual == what);
        let (_, each, rate) = usual.expect("each has a row");
        let seen = self
            .seen
            .get(&what)
            .and_then(|line| line.at(length, rate * self.slower));
        seen.unwrap_or((each + rate * length) * self.slower)
    }

    /// Seconds for a cell.
    pub fn of_cell(&self, spec: &CellSpec) -> f64 {
        self.seconds(TimedWork::of(spec), length(spec))
    }

    fn took(&mut self, what: TimedWork, length: Nanos, time: Duration) {
        let line = self.seen.entry(what).or_default();
        line.add(length.0 as f64 / 1e9, time.as_secs_f64());
    }
}

/// The virtual time that a cell takes; without its work, where that has no length of its own.
pub fn length(spec: &CellSpec) -> Nanos {
    Nanos(spec.warmup.0 + spec.period.0 * u64::from(spec.periods))
}

fn place(cache: &Cache) -> PathBuf {
    cache.path(AREA, &format!("{}.json", machine::name()))
}

/// Does the work, and keeps how long it took if it succeeded. Commands that keep at the same time lose an observation.
pub(crate) fn timed<T, E>(
    cache: &Cache,
    what: TimedWork,
    length: Nanos,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    static KEEPING: Mutex<()> = Mutex::new(());
    let begin = Instant::now();
    let done = work()?;
    let time = begin.elapsed();
    let _keeping = KEEPING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut speed = LabSpeed::kept(cache);
    speed.took(what, length, time);
    let bytes = serde_json::to_vec(&speed).expect("plain values are serialised");
    // Without it the next estimate is worse.
    let _ = cache.area(AREA).map(|_| output::write(&place(cache), &bytes));
    Ok(done)
}

/// The CPU time of a fixed calculation.
fn calculate() -> Duration {
    let begin = cpu_time();
    let mut state = 1_u64;
    for _ in 0..4_000_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
    }
    std::hint::black_box(state);
    cpu_time().saturating_sub(begin)
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_anything_was_seen_the_calculation_decides() {
        let speed = |slower| LabSpeed {
            slower,
            ..LabSpeed::default()
        };
        let boot = |speed: LabSpeed| speed.seconds(TimedWork::Boot, Nanos(0));
        assert_eq!(boot(speed(2.0)), 2.0 * boot(speed(1.0)));
    }

    #[test]
    fn what_was_seen_decides_and_the_last_most() {
        let mut speed = LabSpeed {
            slower: 50.0,
            ..LabSpeed::default()
        };
        for length in [1, 2, 3, 4] {
            let time = Duration::from_secs(3 + 2 * length);
            speed.took(TimedWork::Cell, Nanos::from_millis(1_000 * length), time);
        }
        let at = |speed: &LabSpeed, seconds: u64| speed.seconds(TimedWork::Cell, Nanos::from_millis(1_000 * seconds));
        assert!((at(&speed, 10) - 23.0).abs() < 1e-6, "{}", at(&speed, 10));
        for _ in 0..500 {
            speed.took(TimedWork::Boot, Nanos(0), Duration::from_secs(10));
        }
        for _ in 0..100 {
            speed.took(TimedWork::Boot, Nanos(0), Duration::from_secs(20));
        }
        assert!(speed.seconds(TimedWork::Boot, Nanos(0)) > 19.0);
    }

    #[test]
    fn a_long_cell_takes_time_also_if_the_short_ones_had_heavier_loads() {
        let mut speed = LabSpeed {
            slower: 1.0,
            ..LabSpeed::default()
        };
        for _ in 0..20 {
            speed.took(TimedWork::Cell, Nanos::from_millis(300), Duration::from_secs(4));
            speed.took(TimedWork::Cell, Nanos::from_millis(1_000), Duration::from_secs(2));
        }
        let minute = speed.seconds(TimedWork::Cell, Nanos::from_millis(60_000));
        assert!((100.0..300.0).contains(&minute), "{minute}");
        assert!(speed.seconds(TimedWork::Cell, Nanos::from_millis(500)) < 5.0);
    }

    #[test]
    fn it_is_kept_in_the_cache() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        timed(&cache, TimedWork::Boot, Nanos(0), || Ok::<_, ()>(())).unwrap();
        timed(&cache, TimedWork::Boot, Nanos(0), || Err::<(), _>(())).unwrap_err();
        assert_eq!(LabSpeed::kept(&cache).seen[&TimedWork::Boot].count, 1.0);
    }
}
