//! How much longer a system call takes while its thread is followed.

use super::Purpose;
use super::points::points;
use super::tracefs::Tracefs;
use super::tracer::Tracer;
use rustix::process::getppid;
use rustix::thread::gettid;
use std::hint::black_box;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::{affinity, clock};

/// Calls that are timed together.
const CALLS: u64 = 500;
/// The least of so many: all that disturbs makes it more.
const ROUNDS: usize = 5;
/// Bytes of the ring: two events of some hundred bytes a call.
const RING: usize = 1 << 20;

/// The difference of a short call with its two events and without; none where it cannot be measured.
pub(crate) fn cost_of_a_call() -> Option<Nanos> {
    let allowed = affinity::current().ok()?;
    let cpu = *allowed.last()?;
    affinity::set(&[cpu]).ok()?;
    let cost = measured(cpu);
    affinity::set(&allowed).ok()?;
    cost
}

fn measured(cpu: u32) -> Option<Nanos> {
    let purpose = Purpose::Follow {
        tids: vec![gettid().as_raw_nonzero().get() as u32],
    };
    let mut points = points(&Tracefs::of_threads().ok()?, &purpose).ok()?;
    points.retain(|point| point.name.starts_with("raw_syscalls/"));
    let without = calls();
    let tracer = Tracer::of_points(&[(cpu, &points[..])], RING).ok()?;
    let with = calls();
    drop(tracer);
    Some(Nanos(with.saturating_sub(without) / CALLS))
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
