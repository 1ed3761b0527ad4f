//! Rounds in which one thread wakes another: of `remote`, `epoll`, and what comes through a wire.
//!
//! ```text
//! sleeper (the probe's CPU)   says that it is about to wait; waits; now = clock; sample = now - before
//! waker   (another CPU)       has heard that; sleeps until the round is due; before = clock; wakes; after = clock
//! ```
//! The caller is the waker: it begins the rounds and tells who looks on. The sleeper does nothing but wait, read the clock and
//! mark its sample.

use super::rights::{self, Locked};
use super::rounds::Rounds;
use super::way::Way;
use super::wire::Wire;
use super::{BenchError, BenchResult, Marks, Observer, RemoteDetails, Request, SendTimes};
use crate::record::Sample;
use crate::sys::gate::Gate;
use crate::sys::{clock, memory, usage};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use worstcase_logs::Nanos;

/// So long before a round is due the sleeper must have said that it is about to wait. By then it waits, unless something keeps
/// it, which its count of switches tells.
const SETTLE: Nanos = Nanos::from_micros(50);
/// Settling, and as much again for the wake-up and the way back.
const LEAST_PERIOD: Nanos = Nanos::from_micros(100);

/// Refuses one CPU to a probe whose two threads are on two.
pub(super) fn check_cpus(what: &dyn fmt::Display, request: &Request<'_>) -> Result<(), BenchError> {
    match request.cpus.len() {
        0 | 1 => Err(BenchError::Limit(format!(
            "{what} wakes a thread on another CPU, and there is one CPU only: give it two (lab: --cpus 2; host: --cpus 0,1)"
        ))),
        _ => Ok(()),
    }
}

/// Refuses rounds that no thread can play.
pub fn check_rounds(what: &str, request: &Request<'_>) -> Result<(), BenchError> {
    if request.period < LEAST_PERIOD {
        return Err(BenchError::Limit(format!(
            "a period of {} is too short for {what}, whose thread has to fall asleep again: --interval {}us at least",
            request.period,
            LEAST_PERIOD.0 / 1_000
        )));
    }
    rights::take_policy(request.priority).map(drop)
}

/// Plays rounds of pulses on a wire: from the second CPU to a thread on the first one.
pub fn play_on_wire(
    wire: Box<dyn Wire>,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<RemoteDetails>, BenchError> {
    play(Way::Wire(wire), request, request.priority, observer)
}

/// Plays rounds in which this wakes a thread on the first CPU, from the second if there is one; `waker` is the priority of who wakes.
pub(super) fn play(
    way: Way,
    request: &Request<'_>,
    waker: u8,
    observer: &mut dyn Observer,
) -> Result<BenchResult<RemoteDetails>, BenchError> {
    let cpu = request.cpus[0];
    let other = request.cpus.get(1).copied().unwrap_or(cpu);
    let shared = Shared::new(way);
    let sleeper = Sleeper::start(shared, cpu, request.priority, Marks::new(request.repetitions))?;
    let _cpu = rights::take_cpu(other, waker)?;
    let mut warnings = Vec::new();
    let _memory = Locked::take(&mut warnings);
    let mut sends = Vec::with_capacity(request.repetitions as usize);
    memory::prefault(sends.spare_capacity_mut());
    sleeper.shared.wake(&Rounds::of(request), &mut sends, observer)?;
    Ok(taken(&sleeper.end()?, sends, warnings))
}

fn taken(tally: &Tally, sends: Vec<Nanos>, mut warnings: Vec<String>) -> BenchResult<RemoteDetails> {
    let samples = tally.marks.samples();
    if tally.awake > 0 {
        warnings.push(format!(
            "in {} of {} rounds the thread did not sleep when it was woken: these samples hold no whole wake-up",
            tally.awake,
            samples.len()
        ));
    }
    BenchResult {
        samples,
        details: RemoteDetails {
            send: SendTimes::of(sends),
            awake: tally.awake,
            seen: SendTimes::of(tally.seen.clone()),
        },
        warnings,
    }
}

/// What the two threads share.
#[derive(Debug)]
struct Shared {
    way: Way,
    /// The waker passes when the sleeper is about to wait, or gone.
    about_to_wait: Gate,
    /// The sleeper has ended.
    gone: AtomicBool,
    /// No round follows.
    over: AtomicBool,
    /// The round, and the waker's clock before it wakes.
    index: AtomicU32,
    before: AtomicU64,
    /// The round's sample.
    latency: AtomicU64,
}

impl Shared {
    fn new(way: Way) -> Shared {
        Shared {
            way,
            about_to_wait: Gate::default(),
            gone: AtomicBool::new(false),
            over: AtomicBool::new(false),
            index: AtomicU32::new(0),
            before: AtomicU64::new(0),
            latency: AtomicU64::new(0),
        }
    }

    /// The waker: begins every round, and notes how long each waking took. Ends early where the sleeper is gone, which tells
    /// why itself.
    fn wake(&self, rounds: &Rounds, sends: &mut Vec<Nanos>, observer: &mut dyn Observer) -> Result<(), BenchError> {
        if !self.sleeper_waits() {
            return Ok(());
        }
        // Once without a sample: whatever is made or touched at the first use is there from now on.
        self.wake_once()?;
        if !self.sleeper_waits() {
            return Ok(());
        }
        let mut next = rounds.next(0, clock::monotonic() + SETTLE);
        while let Some(index) = next {
            if super::ends_before(rounds.due(index), observer) {
                break;
            }
            self.index.store(index, Ordering::Relaxed);
            sends.push(self.wake_once()?);
            if !self.sleeper_waits() {
                break;
            }
            observer.sample(Sample {
                index,
                latency: Nanos(self.latency.load(Ordering::Relaxed)),
            });
            next = rounds.next(index + 1, clock::monotonic() + SETTLE);
        }
        Ok(())
    }

    #[inline(always)]
    fn wake_once(&self) -> Result<Nanos, BenchError> {
        self.prepare()?;
        let before = clock::monotonic();
        self.before.store(before.0, Ordering::Release);
        self.send()?;
        Ok(clock::monotonic().saturating_sub(before))
    }

    #[inline(always)]
    fn prepare(&self) -> Result<(), BenchError> {
        let failed = BenchError::system("cannot prepare a pulse");
        self.way.prepare().map_err(failed)
    }

    #[inline(always)]
    fn send(&self) -> Result<(), BenchError> {
        self.way
            .send()
            .map_err(BenchError::system("cannot wake the thread on the other CPU"))
    }

    /// The sleeper: whether it was woken to end.
    #[inline(always)]
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// The waker: waits until the sleeper is about to wait; false if it is gone.
    fn sleeper_waits(&self) -> bool {
        self.about_to_wait.pass();
        !self.gone.load(Ordering::Acquire)
    }

    /// The sleeper: says that it is about to wait, and waits until the waker has woken it another time than the one before;
    /// the instants of that. An interrupt may come without a pulse.
    #[inline(always)]
    fn sleep(&self, last: Nanos) -> Result<Woken, BenchError> {
        let failed = || BenchError::system("cannot wait for the thread on the other CPU");
        self.way.forget().map_err(failed())?;
        self.about_to_wait.open();
        loop {
            let seen = self.way.receive().map_err(failed())?;
            let now = clock::monotonic();
            let before = Nanos(self.before.load(Ordering::Acquire));
            if before != last || self.is_over() {
                return Ok(Woken { before, seen, now });
            }
            self.way.forget().map_err(failed())?;
        }
    }
}

/// The instants of one waking.
struct Woken {
    /// The waker's clock before it.
    before: Nanos,
    /// When the kernel saw the pulse, where it tells.
    seen: Option<Nanos>,
    /// The sleeper's clock after it.
    now: Nanos,
}

/// Tells the waker when the sleeper ends, however it does.
struct Leaving<'a>(&'a Shared);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.gone.store(true, Ordering::Release);
        self.0.about_to_wait.open();
    }
}

/// What the sleeper counted.
#[derive(Debug)]
struct Tally {
    /// The samples.
    marks: Marks,
    /// Rounds in which it did not sleep when it was woken.
    awake: u32,
    /// From the pulse until the kernel saw it, where it tells.
    seen: Vec<Nanos>,
}

/// The sleeper's life.
fn sleep(shared: &Shared, cpu: u32, priority: u8, marks: Marks) -> Result<Tally, BenchError> {
    let _leaving = Leaving(shared);
    rights::become_one(cpu, priority)?;
    let mut seen = Vec::with_capacity(marks.room());
    memory::prefault(seen.spare_capacity_mut());
    let mut tally = Tally { marks, awake: 0, seen };
    let mut last = shared.sleep(Nanos(0))?.before;
    tally.marks.begin();
    while !shared.is_over() {
        let slept = usage::own_thread().voluntary;
        let Woken { before, seen, now } = shared.sleep(last)?;
        if shared.is_over() {
            break;
        }
        last = before;
        let index = shared.index.load(Ordering::Relaxed);
        let sample = tally.marks.sample_at(index, now.saturating_sub(before));
        shared.latency.store(sample.latency.0, Ordering::Relaxed);
        tally.seen.extend(seen.map(|seen| seen.saturating_sub(before)));
        tally.awake += u32::from(usage::own_thread().voluntary == slept);
    }
    tally.marks.end();
    Ok(tally)
}

/// The thread that is woken; it ends when this is dropped.
#[derive(Debug)]
struct Sleeper {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<Tally, BenchError>>>,
}

impl Sleeper {
    fn start(shared: Shared, cpu: u32, priority: u8, marks: Marks) -> Result<Sleeper, BenchError> {
        let shared = Arc::new(shared);
        let own = Arc::clone(&shared);
        let thread = Builder::new()
            .name("worstcase-woken".into())
            .stack_size(rights::STACK)
            .spawn(move || sleep(&own, cpu, priority, marks))
            .map_err(rights::no_thread)?;
        Ok(Sleeper {
            shared,
            thread: Some(thread),
        })
    }

    fn end(mut self) -> Result<Tally, BenchError> {
        self.finish()
    }

    fn finish(&mut self) -> Result<Tally, BenchError> {
        let gone = || BenchError::Books("the thread that is woken has panicked".into());
        let thread = self.thread.take().ok_or_else(gone)?;
        self.shared.over.store(true, Ordering::Release);
        self.shared.prepare()?;
        self.shared.send()?;
        thread.join().map_err(|_| gone())?
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // Whatever made it end early has been told.
            let _ = self.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Via;

    /// The token that lets it end also wakes one that has not come so far.
    #[test]
    fn a_sleeper_that_cannot_be_says_why_and_ends() {
        let shared = Shared::new(Way::new(Via::Futex).unwrap());
        let sleeper = Sleeper::start(shared, 1_000_000, 1, Marks::new(1)).unwrap();
        assert!(!sleeper.shared.sleeper_waits());
        let error = sleeper.end().unwrap_err().to_string();
        assert!(error.starts_with("cannot run on CPU 1000000"), "{error}");
    }

    #[test]
    fn a_round_without_sleep_is_a_warning() {
        let mut tally = Tally {
            marks: Marks::new(2),
            awake: 0,
            seen: Vec::new(),
        };
        tally.marks.sample(Nanos(9));
        tally.marks.sample(Nanos(7));
        let sends = || vec![Nanos(4), Nanos(2)];
        let result = taken(&tally, sends(), Vec::new());
        assert_eq!(result.warnings, Vec::<String>::new());
        tally.awake = 1;
        let result = taken(&tally, sends(), Vec::new());
        assert!(
            result.warnings[0].starts_with("in 1 of 2 rounds"),
            "{:?}",
            result.warnings
        );
        let details = result.details;
        let send = details.send.unwrap();
        assert_eq!((send.min, send.median, send.max), (Nanos(2), Nanos(2), Nanos(4)));
    }
}
