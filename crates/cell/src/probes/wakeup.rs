//! `wakeup`: sleep until an absolute due time, read the clock, and again.
//!
//! sample = instant after the return of clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME) - due time. The method
//! is that of cyclictest; unlike it, a wake-up that is late by whole periods leaves these counted as missed.

use super::recorder::Recorder;
use worstcase_instruments::sys::clock;
use worstcase_logs::Nanos;

/// Takes all samples of the recorder's schedule.
pub(super) fn measure(recorder: &mut Recorder) {
    recorder.begin();
    while let Some(due) = recorder.next_due() {
        clock::sleep_until(due);
        let now = clock::monotonic();
        recorder.take(now);
        recorder.advance(recorder.overrun(now));
    }
    recorder.end();
}

/// The shortest of `turns` turns of the loop with a due time in the past: nothing to wait for.
pub(super) fn empty_sample(recorder: &mut Recorder, turns: usize) -> Nanos {
    let mut shortest = Nanos(u64::MAX);
    let mut before = clock::monotonic();
    for _ in 0..turns {
        recorder.restart(Nanos(1));
        clock::sleep_until(Nanos(1));
        let now = clock::monotonic();
        recorder.take(now);
        recorder.advance(0);
        shortest = shortest.min(now - before);
        before = now;
    }
    shortest
}
