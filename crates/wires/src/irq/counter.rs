//! By a counter: a timer of the HPET interrupts at a count that is known; the process that waits for it reads the counter.
//!
//! ```text
//! due    the comparator's count: read once, then a period more for each interrupt
//! process (the probe's CPU)   waits for the timer's interrupt; reads the counter; now = clock
//! ```
//! sample = (counter - due) x tick

use super::wires::PATIENCE;
use crate::sys::hpet::Hpet;
use std::io;
use worstcase_instruments::bench::rights::{self, Locked};
use worstcase_instruments::bench::{BenchError, BenchResult, Marks, Observer, RemoteDetails, Request, SendTimes};
use worstcase_instruments::sys::{clock, memory, usage};
use worstcase_logs::Nanos;

/// As often as the kernel lets root.
const MOST_HZ: u64 = 100_000;

/// How often a second a timer ticks whose ticks are so far apart, if that is a whole number.
fn hz(period: Nanos) -> Result<u32, BenchError> {
    let nearest = (1_000_000_000 + period.0 / 2) / period.0.max(1);
    let nearest = nearest.clamp(1, MOST_HZ);
    match 1_000_000_000 / nearest == period.0 {
        true => Ok(nearest as u32),
        false => Err(BenchError::Limit(format!(
            "the HPET interrupts a whole number of times a second, so not every {period}: take --interval {}us",
            (1_000_000_000 / nearest) as f64 / 1_000.0
        ))),
    }
}

/// Refuses what this machine cannot do.
pub fn check(request: &Request<'_>) -> Result<(), BenchError> {
    hz(request.period)?;
    rights::take_policy(request.priority).map(drop)
}

/// Takes the samples.
pub fn measure(request: &Request<'_>, observer: &mut dyn Observer) -> Result<BenchResult<RemoteDetails>, BenchError> {
    let hz = hz(request.period)?;
    let cpu = rights::first_cpu(request)?;
    let _cpu = rights::take_cpu(cpu, request.priority)?;
    let mut warnings = Vec::new();
    let _memory = Locked::take(&mut warnings);
    let mut marks = Marks::new(request.repetitions);
    let mut reads = Vec::with_capacity(request.repetitions as usize);
    memory::prefault(reads.spare_capacity_mut());
    clock::sleep_until(request.start);
    let failed = || BenchError::system("cannot measure by the HPET");
    let timer = Hpet::start(hz).map_err(failed())?;
    let mut ticks = Ticks::of(timer).map_err(failed())?;
    let (mut index, mut awake) = (0, 0);
    marks.begin();
    while index < request.repetitions && !observer.wants_end() {
        let slept = usage::own_thread().voluntary;
        let late = ticks.wait().map_err(failed())?;
        awake += u32::from(usage::own_thread().voluntary == slept);
        let sample = marks.sample_at(index, late);
        observer.sample(sample);
        let before = clock::monotonic();
        ticks.timer.count();
        reads.push(clock::monotonic().saturating_sub(before));
        index += ticks.pass().map_err(failed())?;
    }
    marks.end();
    Ok(BenchResult {
        samples: marks.samples(),
        details: RemoteDetails {
            send: SendTimes::of(reads),
            awake,
            seen: None,
        },
        warnings,
    })
}

/// The timer, and the count at which the interrupt was due that nobody has passed.
struct Ticks {
    timer: Hpet,
    due: u32,
}

impl Ticks {
    /// The first interrupt is nobody's sample: whatever is made or touched at the first use is there from now on.
    fn of(mut timer: Hpet) -> io::Result<Ticks> {
        await_interrupt(&timer)?;
        timer.interrupts()?;
        let due = timer.next();
        Ok(Ticks { timer, due })
    }

    /// Waits for the next interrupt; how late it is.
    #[inline(always)]
    fn wait(&mut self) -> io::Result<Nanos> {
        await_interrupt(&self.timer)?;
        // The sample's instant for who looks on from outside: right before the counter's.
        std::hint::black_box(clock::monotonic());
        let late = self.timer.count().wrapping_sub(self.due);
        Ok(self.timer.time_of(late))
    }

    /// Goes on behind the interrupts that came so far; how many they were.
    fn pass(&mut self) -> io::Result<u32> {
        let interrupts = self.timer.interrupts()?;
        self.due = self.due.wrapping_add(interrupts.wrapping_mul(self.timer.period()));
        Ok(interrupts)
    }
}

#[inline(always)]
fn await_interrupt(timer: &Hpet) -> io::Result<()> {
    match timer.wait(PATIENCE)? {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "no interrupt of the HPET within {}",
            PATIENCE
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_of_interrupts_a_second_is_possible() {
        assert_eq!(hz(Nanos::from_micros(250)).unwrap(), 4_000);
        assert_eq!(hz(Nanos(488_281)).unwrap(), 2_048);
        let error = hz(Nanos::from_micros(251)).unwrap_err().to_string();
        assert!(error.ends_with("take --interval 251.004us"), "{error}");
        assert!(hz(Nanos(100)).is_err());
    }
}
