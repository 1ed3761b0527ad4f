//! What the trace beside a measurement costs: how much later it makes an ordinary wake-up.

use super::rights::take_cpu;
use crate::spec::HostSpec;
use crate::trace::{Purpose, Tracer};
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;

/// Wake-ups of a block.
const WAKEUPS: usize = 60;
/// Blocks with the trace, and as many without: in turns, so that a machine that changes changes both.
const BLOCKS: usize = 3;
/// Distance of two wake-ups.
const DISTANCE: Nanos = Nanos(500_000);

/// The median latency of a wake-up with the trace less that without it, on the first of the CPUs, under the load; nothing if a
/// trace is not kept, or cannot be.
pub(super) fn measured(spec: &HostSpec) -> Option<Nanos> {
    if spec.captures == 0 {
        return None;
    }
    let cpu = *spec.cpus.first()?;
    // A thread of its own: its policy and its place end with it.
    let cost = std::thread::scope(|scope| scope.spawn(|| on_cpu(spec, cpu)).join());
    cost.ok().flatten()
}

fn on_cpu(spec: &HostSpec, cpu: u32) -> Option<Nanos> {
    take_cpu(spec, cpu, &mut Vec::new()).ok()?;
    let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
    let purpose = Purpose::Recorder { tids: vec![tid] };
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..BLOCKS {
        without.extend(latencies());
        let _tracer = Tracer::open(&[cpu], &purpose).ok()?;
        with.extend(latencies());
    }
    Some(median(with).saturating_sub(median(without)))
}

fn latencies() -> Vec<Nanos> {
    let begin = clock::monotonic() + DISTANCE;
    let late = |nth: usize| {
        let due = begin + Nanos(DISTANCE.0 * nth as u64);
        clock::sleep_until(due);
        clock::monotonic().saturating_sub(due)
    };
    (0..WAKEUPS).map(late).collect()
}

fn median(mut values: Vec<Nanos>) -> Nanos {
    values.sort_unstable();
    values[values.len() / 2]
}
