//! `shootdown`: what unmapping memory takes while other CPUs have it in use, which they must be told by interrupts.
//!
//! The caller maps some pages, writes to each, and reads the clock before and after it unmaps them. Meanwhile other threads
//! of its process compute, each on a CPU of its own: so these CPUs have its address space in use.

use super::limits;
use super::rights::{self, Locked};
use super::rounds::Rounds;
use super::{BenchError, BenchResult, Instrumented, Marks, Observer, Request, ShootdownDetails};
use crate::sys::clock;
use crate::sys::memory::{Mapping, page_size};
use crate::sys::sched::Policy;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};
use worstcase_logs::Nanos;

/// Memory that is unmapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shootdown {
    /// Threads that compute on other CPUs meanwhile.
    pub threads: u8,
    /// Pages of 4 KiB.
    pub pages: u32,
}

impl Shootdown {
    /// Pages unless somebody asks for others: as many as a large stack frame or a small buffer has.
    pub const PAGES: u32 = 16;

    /// One on each CPU of the lab's largest machine, beside the one that unmaps.
    pub const MOST_THREADS: u8 = 15;
}

impl fmt::Display for Shootdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shootdown:{}", self.threads)?;
        match self.pages {
            Shootdown::PAGES => Ok(()),
            pages => write!(f, "+pages{pages}"),
        }
    }
}

/// So long the caller waits at most until every other thread is seen running.
const PATIENCE: Nanos = Nanos::from_micros(100);

impl Instrumented for Shootdown {
    type Details = ShootdownDetails;

    fn has_helpers(&self) -> bool {
        true
    }

    fn check(&self, request: &Request<'_>) -> Result<(), BenchError> {
        check(self, request)
    }

    fn measure(
        &self,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BenchResult<ShootdownDetails>, BenchError> {
        measure(self, request, observer)
    }
}

/// Refuses what this machine cannot do.
fn check(what: &Shootdown, request: &Request<'_>) -> Result<(), BenchError> {
    let (needed, present) = (1 + usize::from(what.threads), request.cpus.len().max(1));
    if needed > present {
        return Err(BenchError::Limit(format!(
            "{what} needs {needed} CPUs, one to measure on and one for each thread, and has {present}: give it as many (lab: --cpus {needed}; host: --cpus with {needed} of them), or ask for fewer threads"
        )));
    }
    let demands = limits::tasks(what.threads.into()).into_iter();
    limits::meet(what, demands.chain([limits::memory(length(what) as u64)]))?;
    rights::take_policy(request.priority).map(drop)
}

/// Takes the samples.
fn measure(
    what: &Shootdown,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<ShootdownDetails>, BenchError> {
    check(what, request)?;
    let cpu = rights::first_cpu(request)?;
    let others = request.cpus.iter().skip(1).take(what.threads.into());
    let busy = others.map(|cpu| Busy::start(*cpu)).collect::<Result<Vec<_>, _>>()?;
    let _cpu = rights::take_cpu(cpu, request.priority)?;
    let mut warnings = Vec::new();
    // What is mapped later is not locked by this.
    let _memory = Locked::take(&mut warnings);
    let mut marks = Marks::new(request.repetitions);
    let mut all_ran = 0;
    // Once without a sample: whatever is made or touched at the first use is there from now on.
    unmap(what, &busy)?;
    let rounds = Rounds::of(request);
    let mut next = rounds.next(0, clock::monotonic());
    marks.begin();
    while let Some(index) = next {
        if super::ends_before(rounds.due(index), observer) {
            break;
        }
        let round = unmap(what, &busy)?;
        let sample = marks.sample_at(index, round.time);
        all_ran += u32::from(round.all_ran);
        observer.sample(sample);
        next = rounds.next(index + 1, clock::monotonic());
    }
    marks.end();
    Ok(taken(what, &marks, all_ran, warnings))
}

fn taken(what: &Shootdown, marks: &Marks, all_ran: u32, mut warnings: Vec<String>) -> BenchResult<ShootdownDetails> {
    let samples = marks.samples();
    let rounds = samples.len() as u32;
    if all_ran < rounds {
        warnings.push(format!(
            "in {} of {rounds} rounds not every other thread was seen running: their CPUs need not have been told of the unmapping",
            rounds - all_ran
        ));
    }
    BenchResult {
        samples,
        details: ShootdownDetails {
            threads: what.threads.into(),
            pages: what.pages,
            all_ran,
        },
        warnings,
    }
}

fn length(what: &Shootdown) -> usize {
    what.pages as usize * page_size()
}

/// One round.
struct Round {
    /// Of the unmapping.
    time: Nanos,
    /// Every other thread was seen running right before.
    all_ran: bool,
}

/// Maps, writes to every page, and unmaps.
///
/// The mapping is made of pages of the smallest size, so that there are as many as asked for. It is not locked, though its
/// caller may have locked all memory to come: unlocking would be part of the unmapping.
#[inline(always)]
fn unmap(what: &Shootdown, busy: &[Busy]) -> Result<Round, BenchError> {
    let seen: [u64; Shootdown::MOST_THREADS as usize] = std::array::from_fn(|at| busy.get(at).map_or(0, Busy::turns));
    let pages = Mapping::private(length(what)).map_err(BenchError::system("cannot map memory"))?;
    pages.use_small_pages();
    pages.unlock();
    (0..pages.len()).step_by(page_size()).for_each(|at| pages.write(at, 1));
    let all_ran = have_moved(busy, &seen, clock::monotonic() + PATIENCE);
    let before = clock::monotonic();
    drop(pages);
    let time = clock::monotonic().saturating_sub(before);
    Ok(Round { time, all_ran })
}

/// Whether every thread has made a turn since it was `seen`, at the latest at `end`.
fn have_moved(busy: &[Busy], seen: &[u64], end: Nanos) -> bool {
    let all = || busy.iter().zip(seen).all(|(thread, seen)| thread.turns() != *seen);
    while !all() {
        if clock::monotonic() > end {
            return false;
        }
        std::hint::spin_loop();
    }
    true
}

/// What a thread that computes shares with the caller; in cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Turns {
    made: AtomicU64,
    stop: AtomicBool,
}

/// A thread that computes on a CPU of its own until it is dropped.
#[derive(Debug)]
struct Busy {
    turns: Arc<Turns>,
    thread: Option<JoinHandle<()>>,
}

impl Busy {
    /// Starts one on `cpu`, and waits until it is there.
    fn start(cpu: u32) -> Result<Busy, BenchError> {
        let turns = Arc::new(Turns::default());
        let own = Arc::clone(&turns);
        let (tell, told) = mpsc::sync_channel(1);
        let thread = Builder::new()
            .name("worstcase-busy".into())
            .stack_size(rights::STACK)
            .spawn(move || {
                let ready = become_busy(cpu);
                let is_ready = ready.is_ok();
                // The caller waits for it.
                let _ = tell.send(ready);
                if is_ready {
                    compute(&own);
                }
            })
            .map_err(rights::no_thread)?;
        let busy = Busy {
            turns,
            thread: Some(thread),
        };
        let gone = |_| BenchError::Books("a thread on another CPU has panicked".into());
        told.recv().map_err(gone)??;
        Ok(busy)
    }

    #[inline(always)]
    fn turns(&self) -> u64 {
        self.turns.made.load(Ordering::Relaxed)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.turns.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic has said so itself.
            let _ = thread.join();
        }
    }
}

/// An ordinary thread on its CPU.
fn become_busy(cpu: u32) -> Result<(), BenchError> {
    rights::pin(cpu)?;
    Policy::OTHER
        .apply()
        .map_err(BenchError::system("cannot take SCHED_OTHER"))
}

fn compute(turns: &Turns) {
    let mut made = 0;
    while !turns.stop.load(Ordering::Relaxed) {
        made += 1;
        turns.made.store(made, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::affinity;

    fn shootdown(text: &str) -> Shootdown {
        crate::bench::testing::named(text)
    }

    #[test]
    fn a_thread_needs_a_cpu_of_its_own() {
        let with = |cpus| Request {
            repetitions: 1,
            start: Nanos(0),
            period: Nanos::from_millis(1),
            priority: 98,
            cpus,
            ..Request::default()
        };
        for (cpus, present) in [(&[][..], 1), (&[0], 1), (&[1, 0], 2)] {
            let error = check(&shootdown("shootdown:2"), &with(cpus)).unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "shootdown:2 needs 3 CPUs, one to measure on and one for each thread, and has {present}: give it as many (lab: --cpus 3; host: --cpus with 3 of them), or ask for fewer threads"
                )
            );
        }
    }

    #[test]
    fn a_busy_thread_is_seen_and_one_that_stands_still_is_not() {
        let cpu = affinity::current().unwrap()[0];
        let busy = [Busy::start(cpu).unwrap()];
        let long = || clock::monotonic() + Nanos::from_millis(60_000);
        assert!(have_moved(&busy, &[0], long()));
        busy[0].turns.stop.store(true, Ordering::Relaxed);
        while !busy[0].thread.as_ref().unwrap().is_finished() {
            std::thread::yield_now();
        }
        assert!(!have_moved(&busy, &[busy[0].turns()], clock::monotonic()));
        assert!(have_moved(&[], &[], clock::monotonic()));
    }

    #[test]
    fn a_thread_that_cannot_be_says_why() {
        let error = Busy::start(1_000_000).unwrap_err().to_string();
        assert!(error.starts_with("cannot run on CPU 1000000"), "{error}");
    }

    #[test]
    fn a_round_without_all_threads_is_a_warning() {
        let what = shootdown("shootdown:1");
        let mut marks = Marks::new(2);
        marks.sample(Nanos(9));
        marks.sample(Nanos(7));
        assert_eq!(taken(&what, &marks, 2, Vec::new()).warnings, Vec::<String>::new());
        let result = taken(&what, &marks, 1, Vec::new());
        assert!(
            result.warnings[0].starts_with("in 1 of 2 rounds"),
            "{:?}",
            result.warnings
        );
        assert_eq!(
            result.details,
            ShootdownDetails {
                threads: 1,
                pages: 16,
                all_ran: 1
            }
        );
    }
}
