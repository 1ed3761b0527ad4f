//! What the threads share: mutexes, gates at which each waits for its cue, and what happened in the round.

use super::limits;
use super::lock::{Held, Lock};
use super::priorities::Priorities;
use super::round::Round;
use crate::bench::{BenchError, Inversion, Protocol};
use crate::record::Sample;
use crate::sys::gate::Gate;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use worstcase_logs::Nanos;

/// Shared by all threads.
#[derive(Debug)]
pub(super) struct Shared {
    /// The first is low's, the last is the one that high waits for.
    pub(crate) locks: Vec<Lock>,
    /// What all of them do against inversion.
    pub protocol: Protocol,
    /// Low waits here for its cue.
    pub low: Gate,
    /// The chain, each at its own.
    pub chain: Vec<Gate>,
    /// Middle.
    pub middle: Gate,
    /// High.
    pub high: Gate,
    /// High waits here until everybody else is done with the round.
    done: Gate,
    /// High waits here for the observer.
    pub(crate) go_on: Gate,
    /// The observer waits here.
    pub observer: Gate,
    /// The current round.
    pub round: Round,
    /// The sample of the last round.
    index: AtomicU32,
    latency: AtomicU64,
    /// High sleeps here until a round is due.
    stop: Gate,
    /// No round is to begin.
    stopped: AtomicBool,
    /// No round will begin.
    over: AtomicBool,
    failure: Mutex<Option<BenchError>>,
}

impl Shared {
    /// Nobody is there yet.
    pub fn new(what: &Inversion, priorities: &Priorities) -> Result<Shared, BenchError> {
        let lock = |_| limits::make_mutex(what.protocol, priorities).map(Lock::new);
        Ok(Shared {
            locks: (0..what.depth).map(lock).collect::<Result<_, BenchError>>()?,
            protocol: what.protocol,
            low: Gate::default(),
            chain: (1..what.depth).map(|_| Gate::default()).collect(),
            middle: Gate::default(),
            high: Gate::default(),
            done: Gate::default(),
            go_on: Gate::default(),
            observer: Gate::default(),
            round: Round::default(),
            index: AtomicU32::new(0),
            latency: AtomicU64::new(0),
            stop: Gate::default(),
            stopped: AtomicBool::new(false),
            over: AtomicBool::new(false),
            failure: Mutex::new(None),
        })
    }

    /// Waits for the next round; false when there is none.
    #[inline(always)]
    pub(crate) fn wait_at(&self, gate: &Gate) -> bool {
        gate.pass();
        !self.over.load(Ordering::Acquire)
    }

    /// Waits until the calling thread owns a mutex; nothing if that fails.
    #[inline(always)]
    pub fn take(&self, mutex: usize) -> Option<Held<'_>> {
        let taken = self.locks[mutex].take();
        taken
            .map_err(|e| self.fail(BenchError::system("cannot lock a mutex")(e)))
            .ok()
    }

    /// Somebody other than high is done with the round.
    pub fn done(&self) {
        if self.round.leave() {
            self.done.open();
        }
    }

    /// High: waits until everybody else is done with the round.
    pub(crate) fn wait_for_all(&self) {
        self.done.pass();
    }

    /// Whether high, if it were made ready now, would have to wait: low owns the first mutex, and every thread of the
    /// chain owns its own (with ceilings none of them can get so far).
    #[inline(always)]
    pub(crate) fn is_contended(&self) -> bool {
        let wanted = match self.protocol {
            Protocol::Protect => 1,
            Protocol::Inherit | Protocol::None => self.locks.len(),
        };
        self.locks[..wanted].iter().all(Lock::is_owned)
    }

    /// High: the sample of the round is given to the observer, who answers at the gate `go_on`.
    pub fn show(&self, sample: Sample) {
        self.index.store(sample.index, Ordering::Relaxed);
        self.latency.store(sample.latency.0, Ordering::Relaxed);
        self.observer.open();
    }

    /// The observer: the sample of the last round.
    pub fn shown(&self) -> Sample {
        Sample {
            index: self.index.load(Ordering::Relaxed),
            latency: Nanos(self.latency.load(Ordering::Relaxed)),
        }
    }

    /// No round begins from now on.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.stop.open();
    }

    /// High: sleeps until `due`; true if no round is to begin.
    pub(crate) fn stops_before(&self, due: Nanos) -> bool {
        self.stop.pass_before(due);
        self.stopped.load(Ordering::Acquire)
    }

    /// High: there is no further round.
    pub fn finish(&self) {
        self.over.store(true, Ordering::Release);
        self.observer.open();
    }

    /// Whether there is no further round.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Everybody who waits for a cue ends.
    pub(crate) fn end_all(&self) {
        self.over.store(true, Ordering::Release);
        for gate in [&self.low, &self.middle, &self.go_on].into_iter().chain(&self.chain) {
            gate.open();
        }
    }

    /// Something went wrong: the first one counts.
    pub fn fail(&self, error: BenchError) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        self.stopped.store(true, Ordering::Release);
    }

    /// What went wrong.
    pub fn failure(&self) -> Option<BenchError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
