//! Priority inversion on a mutex: how long the most urgent thread waits for one that its least urgent peer owns.
//!
//! ```text
//! priorities  who runs at which priority      limits   what is refused
//! shared      what the threads share          lock     a mutex that says whether it is owned
//! roles       what each thread does           round    what happened in the current round
//! threads     starting the threads, seeing them end
//! ```
//! All threads are pinned to one CPU under SCHED_FIFO. A round: low takes the first mutex; every thread of the chain takes the next
//! one and blocks on the one before; low reads the clock and makes high ready, which blocks on the last one; low makes middle
//! ready, works, and unlocks. The sample is the time from low's clock read until high owns the last mutex.

mod limits;
mod lock;
mod parameters;
mod priorities;
mod roles;
mod round;
mod shared;
mod threads;

pub use parameters::{Inversion, Protocol};

use super::rights::{self, Locked};
use super::rounds::Rounds;
use super::{BenchError, BenchResult, Instrumented, InversionDetails, Marks, Observer, Request};
use crate::sys::clock;
use priorities::Priorities;
use roles::Tally;
use shared::Shared;
use std::sync::Arc;
use threads::Threads;
use worstcase_logs::Nanos;

/// How often one who looks on is asked while a round takes long.
const LOOK: Nanos = Nanos::from_millis(100);
/// How long a round may take beside its work once it is to be the last.
const PATIENCE: Nanos = Nanos::from_millis(10_000);

impl Instrumented for Inversion {
    type Details = InversionDetails;

    fn check(&self, request: &Request<'_>) -> Result<(), BenchError> {
        check(self, request)
    }

    fn measure(
        &self,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BenchResult<InversionDetails>, BenchError> {
        measure(self, request, observer)
    }
}

/// Refuses what this machine cannot do.
fn check(what: &Inversion, request: &Request<'_>) -> Result<(), BenchError> {
    limits::check(what, request)
}

/// Plays the rounds. The calling thread only looks on; the rounds wait for it between one and the next.
fn measure(
    what: &Inversion,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<InversionDetails>, BenchError> {
    let priorities = Priorities::new(what.depth, request.priority)?;
    let cpu = rights::first_cpu(request)?;
    let rounds = Rounds::of(request);
    let _policy = rights::take_policy(Priorities::OBSERVER)?;
    let shared = Arc::new(Shared::new(what, &priorities)?);
    let marks = Marks::new(request.repetitions);
    let threads = Threads::start(Arc::clone(&shared), what, &priorities, cpu, rounds, marks)?;
    let mut warnings = Vec::new();
    let _memory = Locked::take(&mut warnings);

    shared.go_on.open();
    if !look_on(&shared, what.section + what.middle + PATIENCE, observer) {
        threads.abandon();
        return Err(BenchError::Books(format!(
            "a round does not end, its threads still wait for a mutex with '{}'; they end with this process",
            what.protocol.word()
        )));
    }
    let tally = threads.end()?;
    match shared.failure() {
        Some(error) => Err(error),
        None => Ok(taken(what, &tally, warnings)),
    }
}

/// Hands every sample on, until the last round is over; false if it takes longer than `patience` once an end is wanted.
fn look_on(shared: &Shared, patience: Nanos, observer: &mut dyn Observer) -> bool {
    let mut give_up: Option<Nanos> = None;
    loop {
        let round_ended = shared.observer.pass_before(clock::monotonic() + LOOK);
        if shared.is_over() {
            return true;
        }
        if round_ended {
            observer.sample(shared.shown());
        }
        if give_up.is_none() && observer.wants_end() {
            shared.stop();
            give_up = Some(clock::monotonic() + patience);
        }
        if round_ended {
            shared.go_on.open();
        } else if give_up.is_some_and(|end| clock::monotonic() > end) {
            return false;
        }
    }
}

fn taken(what: &Inversion, tally: &Tally, mut warnings: Vec<String>) -> BenchResult<InversionDetails> {
    let samples = tally.marks.samples();
    let rounds = samples.len() as u32;
    if tally.contended < rounds {
        warnings.push(format!(
            "in {} of {rounds} rounds the mutex was free when the most urgent thread came: these samples hold no wait for its owner",
            rounds - tally.contended
        ));
    }
    if what.protocol == Protocol::None && tally.inverted < rounds {
        warnings.push(format!(
            "the scenario did not come about in {} of {rounds} rounds: nothing is done against inversion, and there was none",
            rounds - tally.inverted
        ));
    }
    BenchResult {
        samples,
        details: InversionDetails {
            section: what.section,
            middle: what.middle,
            contended: tally.contended,
            inverted: tally.inverted,
        },
        warnings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Sample;

    /// Wants an end at the third question.
    struct Third(u32);

    impl Observer for Third {
        fn sample(&mut self, _sample: Sample) {
            unreachable!("there is none");
        }

        fn wants_end(&mut self) -> bool {
            self.0 += 1;
            self.0 >= 3
        }
    }

    #[test]
    fn a_round_that_does_not_end_is_given_up() {
        let what = Inversion {
            depth: 1,
            protocol: Protocol::None,
            section: Nanos(1_000),
            middle: Nanos(1_000),
        };
        // Nobody plays.
        let shared = Shared::new(&what, &Priorities::new(1, 98).unwrap()).unwrap();
        let mut third = Third(0);
        assert!(!look_on(&shared, Nanos(1), &mut third));
        assert_eq!(third.0, 3);
        assert!(shared.stops_before(Nanos(u64::MAX / 2)));
    }

    #[test]
    fn what_did_not_come_about_is_a_warning() {
        let mut what: Inversion = crate::bench::testing::named("inversion:1+none");
        let mut marks = Marks::new(3);
        for _ in 0..3 {
            marks.sample(Nanos(1));
        }
        let mut tally = Tally {
            marks,
            contended: 3,
            inverted: 3,
        };
        assert_eq!(taken(&what, &tally, Vec::new()).warnings, Vec::<String>::new());
        (tally.contended, tally.inverted) = (2, 0);
        let warnings = taken(&what, &tally, Vec::new()).warnings;
        assert!(
            warnings[0].contains("in 1 of 3 rounds the mutex was free"),
            "{warnings:?}"
        );
        assert!(
            warnings[1].contains("did not come about in 3 of 3 rounds"),
            "{warnings:?}"
        );
        what.protocol = Protocol::Inherit;
        assert_eq!(taken(&what, &tally, Vec::new()).warnings.len(), 1);
    }
}
