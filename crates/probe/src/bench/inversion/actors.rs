//! What low, chain, middle and high do.

use super::rounds::Rounds;
use super::stage::Stage;
use crate::bench::{Inversion, Marks, Protocol};
use crate::sys::clock;
use crate::units::Nanos;

/// Owns the first mutex and makes everybody else ready.
pub(super) fn low(stage: &Stage) {
    while stage.wait_at(&stage.low) {
        let held = stage.locks[0].take(stage);
        for gate in &stage.chain {
            gate.open();
        }
        stage.round.set_ready(stage.is_contended());
        stage.high.open();
        stage.middle.open();
        stage.round.work_section();
        drop(held);
        stage.done();
    }
}

/// Owns mutex `number` (1 to depth - 1) while it waits for the one before.
pub(super) fn chain(stage: &Stage, number: usize) {
    while stage.wait_at(&stage.chain[number - 1]) {
        let own = stage.locks[number].take(stage);
        let before = stage.locks[number - 1].take(stage);
        drop(before);
        drop(own);
        stage.done();
    }
}

/// Needs no mutex.
pub(super) fn middle(stage: &Stage) {
    while stage.wait_at(&stage.middle) {
        stage.round.work_middle();
        stage.done();
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
pub(super) fn high(stage: &Stage, what: &Inversion, rounds: &Rounds, marks: Marks) -> Tally {
    let mut tally = Tally {
        marks,
        contended: 0,
        inverted: 0,
    };
    if !stage.wait_at(&stage.go_on) {
        return tally;
    }
    // Once without work: whatever is made or touched at the first use is there from now on.
    round(stage, Nanos(0), Nanos(0), |_| ());
    let mut next = rounds.next(0, clock::monotonic());
    let mut begun = false;
    while let Some(index) = next {
        if stage.stops_before(rounds.due(index)) {
            break;
        }
        if !begun {
            tally.marks.begin();
            begun = true;
        }
        let (sample, had_to_wait) = round(stage, what.section, what.middle, |ready_at| {
            let now = clock::monotonic();
            tally.marks.sample_at(index, now.saturating_sub(ready_at))
        });
        tally.contended += u32::from(had_to_wait);
        tally.inverted += u32::from(stage.round.was_inverted());
        stage.show(sample);
        stage.go_on.pass();
        next = rounds.next(index + 1, clock::monotonic());
    }
    if begun {
        tally.marks.end();
    }
    stage.finish();
    tally
}

/// One round. `sample` is called with the instant at which high was made ready, as soon as it owns the mutex. Also says
/// whether high had to wait.
#[inline(always)]
fn round<T>(stage: &Stage, section: Nanos, middle: Nanos, sample: impl FnOnce(Nanos) -> T) -> (T, bool) {
    // Low, middle, and one for each mutex but the first.
    stage.round.begin(section, middle, 1 + stage.locks.len() as u32);
    stage.low.open();
    stage.high.pass();
    let ready_at = stage.round.ready_at();
    let wanted = &stage.locks[stage.locks.len() - 1];
    let finds_owned = wanted.is_owned();
    let held = wanted.take(stage);
    let taken = sample(ready_at);
    stage.round.serve();
    drop(held);
    stage.wait_for_all();
    // With a ceiling high gets the CPU only when the owner gives both away.
    let had_to_wait = stage.round.was_contended() && (finds_owned || stage.protocol == Protocol::Protect);
    (taken, had_to_wait)
}
