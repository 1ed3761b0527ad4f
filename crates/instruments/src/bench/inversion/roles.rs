//! What low, chain, middle and high do.

use super::shared::Shared;
use crate::bench::rounds::Rounds;
use crate::bench::{Inversion, Marks, Protocol};
use crate::sys::clock;
use worstcase_logs::Nanos;

/// Owns the first mutex and makes everybody else ready.
pub(super) fn low(shared: &Shared) {
    while shared.wait_at(&shared.low) {
        let held = shared.take(0);
        for gate in &shared.chain {
            gate.open();
        }
        shared.round.set_ready(shared.is_contended());
        shared.high.open();
        shared.middle.open();
        shared.round.work_section();
        drop(held);
        shared.done();
    }
}

/// Owns mutex `number` (1 to depth - 1) while it waits for the one before.
pub(super) fn chain(shared: &Shared, number: usize) {
    while shared.wait_at(&shared.chain[number - 1]) {
        let own = shared.take(number);
        let before = shared.take(number - 1);
        drop(before);
        drop(own);
        shared.done();
    }
}

/// Needs no mutex.
pub(super) fn middle(shared: &Shared) {
    while shared.wait_at(&shared.middle) {
        shared.round.work_middle();
        shared.done();
    }
}

/// What high counted.
#[derive(Debug)]
pub(super) struct Tally {
    /// The samples.
    pub marks: Marks,
    /// Rounds in which it had to wait.
    pub contended: u32,
    /// Rounds in which middle began meanwhile.
    pub inverted: u32,
}

/// Begins the rounds and takes the samples.
pub(super) fn high(shared: &Shared, what: &Inversion, rounds: &Rounds, marks: Marks) -> Tally {
    let mut tally = Tally {
        marks,
        contended: 0,
        inverted: 0,
    };
    if !shared.wait_at(&shared.go_on) {
        return tally;
    }
    // Once without work: whatever is made or touched at the first use is there from now on.
    round(shared, Nanos(0), Nanos(0), |_| ());
    let mut next = rounds.next(0, clock::monotonic());
    let mut begun = false;
    while let Some(index) = next {
        if shared.stops_before(rounds.due(index)) {
            break;
        }
        if !begun {
            tally.marks.begin();
            begun = true;
        }
        let (sample, had_to_wait) = round(shared, what.section, what.middle, |ready_at| {
            let now = clock::monotonic();
            tally.marks.sample_at(index, now.saturating_sub(ready_at))
        });
        tally.contended += u32::from(had_to_wait);
        tally.inverted += u32::from(shared.round.was_inverted());
        shared.show(sample);
        shared.go_on.pass();
        next = rounds.next(index + 1, clock::monotonic());
    }
    if begun {
        tally.marks.end();
    }
    shared.finish();
    tally
}

/// One round. `sample` is called with the instant at which high was made ready, as soon as it owns the mutex. Also says
/// whether high had to wait.
#[inline(always)]
fn round<T>(shared: &Shared, section: Nanos, middle: Nanos, sample: impl FnOnce(Nanos) -> T) -> (T, bool) {
    // Low, middle, and one for each mutex but the first.
    shared.round.begin(section, middle, 1 + shared.locks.len() as u32);
    shared.low.open();
    shared.high.pass();
    let ready_at = shared.round.ready_at();
    let wanted = shared.locks.len() - 1;
    let finds_owned = shared.locks[wanted].is_owned();
    let held = shared.take(wanted);
    let taken = sample(ready_at);
    shared.round.serve();
    drop(held);
    shared.wait_for_all();
    // With a ceiling high gets the CPU only when the owner gives both away.
    let had_to_wait = shared.round.was_contended() && (finds_owned || shared.protocol == Protocol::Protect);
    (taken, had_to_wait)
}
