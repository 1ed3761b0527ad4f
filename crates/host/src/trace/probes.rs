//! Probes in the functions by which one CPU interrupts another (kprobes): for kernels whose tracepoints do not tell who sent.

use super::mark_points::MarkRecord;
use super::marks::EntryMark;
use super::perf::{Counter, CounterRequest, CounterSource};
use super::points::TracePoint;
use std::ffi::CString;
use std::fs;

/// What the arguments of a function tell.
#[derive(Clone, Copy, Debug)]
pub enum Function {
    /// `__smp_call_single_queue(cpu, node)`: something is queued for a CPU; the node begins it.
    CallsOne,
    /// `smp_call_function_many_cond(mask, function, ...)`.
    CallsMany,
    /// `native_smp_send_reschedule(cpu)`.
    Sends,
}

const CALLS: [(&str, Function); 2] = [
    ("__smp_call_single_queue", Function::CallsOne),
    ("smp_call_function_many_cond", Function::CallsMany),
];
const SENDS: [(&str, Function); 1] = [("native_smp_send_reschedule", Function::Sends)];

impl Function {
    pub fn mark(self, [first, second]: [u64; 2]) -> EntryMark {
        match self {
            Function::CallsOne => EntryMark::Calls {
                cpu: first as u32,
                call: second,
                function: 0,
            },
            Function::CallsMany => EntryMark::CallsMany { function: second },
            Function::Sends => EntryMark::Sends { cpu: first as u32 },
        }
    }
}

/// Of who calls functions on other CPUs; none where this kernel has not all of these functions, or allows no probes.
pub fn calls() -> Vec<TracePoint<MarkRecord>> {
    points(&CALLS)
}

/// Of who sends reschedule interrupts.
pub fn sends() -> Vec<TracePoint<MarkRecord>> {
    points(&SENDS)
}

fn points(functions: &[(&str, Function)]) -> Vec<TracePoint<MarkRecord>> {
    let kind = fs::read_to_string("/sys/bus/event_source/devices/kprobe/type").unwrap_or_default();
    let Ok(kind) = kind.trim().parse() else {
        return Vec::new();
    };
    let all: Option<Vec<_>> = functions
        .iter()
        .map(|(name, function)| point(kind, name, *function))
        .collect();
    all.unwrap_or_default()
}

/// The probe, if it can be opened: the kernel refuses it where it has no such function, or a policy forbids it.
fn point(kind: u32, name: &str, function: Function) -> Option<TracePoint<MarkRecord>> {
    let source = CounterSource::Function {
        kind,
        name: CString::new(name).ok()?,
    };
    let request = CounterRequest {
        source: &source,
        cpu: 0,
        chain: true,
        wake_at: 1,
    };
    Counter::open(request).ok()?;
    Some(TracePoint {
        name: name.into(),
        source,
        filter: String::new(),
        chain: true,
        decode: MarkRecord::Function(function),
    })
}
