//! One run: from nothing to nothing.
//!
//! ```text
//! children start -> each reports ready -> clock, start signal -> messages -> all have ended, are reaped -> clock
//! ```

use super::Plan;
use super::crew::Crew;
use super::latency::Histogram;
use super::shared::{BYTES, EARLY, MOVES, RECEIVED, SENT, Shared, USED};
use crate::bench::{BenchError, HackbenchRun, Marks, Observer};
use crate::record::Sample;
use crate::sys::usage::Usage;
use crate::sys::{clock, signal};
use std::io::{PipeReader, Read, Write};
use std::os::fd::AsFd;
use worstcase_logs::Nanos;

/// How often the parent looks whether a child failed, and asks whether an end is wanted.
const LOOK: Nanos = Nanos::from_millis(100);

/// What a run gave.
pub(super) struct Ran {
    pub(super) sample: Sample,
    pub(super) run: HackbenchRun,
    /// Messages that were received before they were sent.
    pub(super) early: u64,
}

/// Does one run; nothing if an end was wanted.
pub(super) fn run(
    plan: &Plan,
    marks: &mut Marks,
    histogram: &mut Histogram,
    observer: &mut dyn Observer,
) -> Result<Option<Ran>, BenchError> {
    let (mut shared, mut seen, mut signal) = Shared::new(plan)?;
    let mut crew = Crew::default(); // after the shared: it is dropped before
    if plan.what.threads {
        crew.fork_threads(&mut shared)?;
    } else if !crew.fork(&shared, &mut || observer.wants_end())? {
        return Ok(None);
    }
    shared.alive = None; // the children's copies are left: when the last one ends, `seen` is at its end
    if !all_ready(&shared, &mut crew, &mut seen, observer)? {
        return Ok(None);
    }

    let start = clock::monotonic();
    signal
        .write_all(b"!")
        .map_err(BenchError::system("giving the start signal"))?;
    while !signal::readable_within(seen.as_fd(), LOOK).map_err(BenchError::system("waiting for the end"))? {
        crew.look(&shared.board)?;
        if observer.wants_end() {
            return Ok(None);
        }
    }
    if !plan.what.threads {
        crew.join(&shared.board)?; // as a process ends when it is reaped, a thread when it is joined
    }
    let end = clock::monotonic();
    let sample = marks.sample(end - start);

    let used = crew.join(&shared.board)?;
    balance(&shared)?;
    if let Some(seats) = shared.seats() {
        histogram.add(seats.half_words());
    }
    let used = if plan.what.threads {
        used_by_threads(&shared)
    } else {
        used
    };
    Ok(Some(Ran {
        sample,
        run: HackbenchRun {
            total: sample.latency,
            cpu: used.cpu,
            voluntary: used.voluntary,
            involuntary: used.involuntary,
            moves: Some(shared.board.count(MOVES)),
        },
        early: shared.board.count(EARLY),
    }))
}

/// Waits until everybody is ready; `false` if an end was wanted.
fn all_ready(
    shared: &Shared<'_>,
    crew: &mut Crew,
    seen: &mut PipeReader,
    observer: &mut dyn Observer,
) -> Result<bool, BenchError> {
    let doing = BenchError::system("waiting for senders and receivers to be ready");
    while !signal::readable_within(seen.as_fd(), LOOK).map_err(&doing)? {
        crew.look(&shared.board)?;
        if observer.wants_end() {
            return Ok(false);
        }
    }
    match seen.read(&mut [0]).map_err(&doing)? {
        0 => {
            crew.join(&shared.board)?;
            Err(BenchError::Books(
                "senders and receivers ended before they were ready".into(),
            ))
        }
        _ => Ok(true),
    }
}

fn used_by_threads(shared: &Shared<'_>) -> Usage {
    let [cpu, voluntary, involuntary] = USED.map(|place| shared.board.count(place));
    Usage {
        cpu: Nanos(cpu),
        voluntary,
        involuntary,
        ..Usage::default()
    }
}

/// Every message that was to be sent was sent, and came, with every byte.
fn balance(shared: &Shared<'_>) -> Result<(), BenchError> {
    let what = &shared.plan.what;
    let count = |place| shared.board.count(place);
    let (wanted, bytes) = (what.all_messages(), what.all_messages() * u64::from(what.size));
    if (count(SENT), count(RECEIVED), count(BYTES)) == (wanted, wanted, bytes) {
        return Ok(());
    }
    Err(BenchError::Books(format!(
        "of {wanted} messages {} were sent and {} received, with {} of {bytes} bytes",
        count(SENT),
        count(RECEIVED),
        count(BYTES)
    )))
}
