//! How much longer a system call takes while its thread is followed.

use rustix::process::getppid;
use rustix::thread::gettid;
use std::hint::black_box;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::{affinity, clock};

/// Calls that are timed together.
const CALLS: u64 = 500;
/// The least of so many: all that disturbs makes it more.
const ROUNDS: usize = 5;

/// The difference of a short call with its two events and without; none where it cannot be measured. `record` has the calls of
/// the thread with this id recorded, until its result is dropped.
pub(super) fn cost_of_a_call<R, E>(record: impl FnOnce(u32) -> Result<R, E>) -> Option<Nanos> {
    let allowed = affinity::current().ok()?;
    affinity::set(&[*allowed.last()?]).ok()?;
    let without = calls();
    let recorded = record(gettid().as_raw_nonzero().get() as u32);
    let with = recorded.as_ref().ok().map(|_| calls());
    drop(recorded);
    affinity::set(&allowed).ok()?;
    Some(Nanos(with?.saturating_sub(without) / CALLS))
}

/// The least time of some calls.
fn calls() -> u64 {
    let round = |_| {
        let began = clock::monotonic();
        for _ in 0..CALLS {
            black_box(getppid());
        }
        (clock::monotonic() - began).0
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}
