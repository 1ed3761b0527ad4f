//! Probes in the functions by which one CPU interrupts another (kprobes), for kernels whose tracepoints do not report the
//! sender.

use super::events::TracedChange;
use super::perf::{Counter, CounterRequest, CounterSource};
use super::points::{Decode, TracePoint};
use std::ffi::CString;
use std::fs;

/// A kernel function, and the change that its first two arguments describe.
type ProbedFunction = (&'static str, fn([u64; 2]) -> TracedChange);

const CALLS: [ProbedFunction; 2] = [
    // (cpu, node): the node begins a call that is queued for a CPU.
    ("__smp_call_single_queue", |[cpu, call]| TracedChange::Calls {
        cpu: cpu as u32,
        call,
        function: 0,
    }),
    // (mask, function, ...)
    ("smp_call_function_many_cond", |[_, function]| TracedChange::CallsMany {
        function,
    }),
];
const RESCHEDULE: &str = match cfg!(target_arch = "x86_64") {
    true => "native_smp_send_reschedule",
    false => "smp_send_reschedule",
};
const SENDS: [ProbedFunction; 1] = [(RESCHEDULE, |[cpu, _]| TracedChange::Sends { cpu: cpu as u32 })];

/// Probes for calls of functions on other CPUs; none where this kernel lacks one of the functions, or allows no probes.
pub fn calls() -> Vec<TracePoint> {
    points(&CALLS)
}

/// Probes for senders of reschedule interrupts.
pub fn sends() -> Vec<TracePoint> {
    points(&SENDS)
}

fn points(functions: &[ProbedFunction]) -> Vec<TracePoint> {
    let kind = fs::read_to_string("/sys/bus/event_source/devices/kprobe/type").unwrap_or_default();
    let Ok(kind) = kind.trim().parse() else {
        return Vec::new();
    };
    let all: Option<Vec<_>> = functions.iter().map(|function| point(kind, *function)).collect();
    all.unwrap_or_default()
}

/// The probe, if it can be opened: the kernel refuses it where it has no such function, or a policy forbids it.
fn point(kind: u32, (name, tells): ProbedFunction) -> Option<TracePoint> {
    let source = CounterSource::Function {
        kind,
        name: CString::new(name).ok()?,
    };
    let request = CounterRequest {
        source: &source,
        cpu: 0,
        thread: None,
        chain: true,
        wake_at: 1,
    };
    Counter::open(request).ok()?;
    Some(TracePoint {
        name: name.into(),
        source,
        filter: String::new(),
        chain: true,
        threads: Vec::new(),
        decode: Decode::Function(tells),
    })
}
