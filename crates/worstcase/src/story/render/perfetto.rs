//! A window as a trace that opens in ui.perfetto.dev: the JSON Trace Event format.
//!
//! Tracks: the story's spans, the CPU's mode (user, kernel, interrupt, soft interrupt), the interrupt flag, and a track for
//! each thread with its functions as nested slices. Timestamps are virtual time from the due time on, in us with
//! three digits, as the format wants it; negative times are before the due time.

use crate::story::build::Told;
use crate::story::frames::Interval;
use crate::story::stacks::{FrameKind, StackId};
use serde_json::{Value, json};

/// Process numbers group the tracks.
const STORY: u32 = 1;
const CPU: u32 = 2;
const THREADS: u32 = 3;

/// The whole window.
pub fn trace(told: &Told) -> String {
    let mut events = headings(told);
    events.extend(told.story.spans().iter().map(|span| {
        slice(
            STORY,
            1,
            span.what.name().title,
            span.start_ns.0 as i64,
            span.length_ns.0,
            json!({"task": span.task.comm, "what": span.what}),
        )
    }));
    let runs = |of: &dyn Fn(&Interval) -> Option<&'static str>| joined(&told.walk.intervals, of);
    for (track, name) in [(1, mode as fn(&Told, &Interval) -> Option<&'static str>), (2, flag)] {
        for (start, end, title) in runs(&|i| name(told, i)) {
            events.push(slice(
                CPU,
                track,
                title,
                ns(told, start),
                (end - start) << told.shift,
                json!({}),
            ));
        }
    }
    for task in &told.tasks {
        events.extend(functions(told, task.pid));
    }
    let out = json!({
        "displayTimeUnit": "ns",
        "otherData": {
            "cell": told.story.sample().cell,
            "clock": format!("virtual time ({}); 0 is when the timer was due", told.story.sample().unit),
        },
        "traceEvents": events,
    });
    out.to_string()
}

fn ns(told: &Told, count: u64) -> i64 {
    (count as i64 - told.points.due as i64) << told.shift
}

/// The format's unit is the microsecond; fractions keep the nanoseconds.
fn micros(ns: i64) -> f64 {
    ns as f64 / 1e3
}

fn slice(process: u32, track: u32, name: &str, start: i64, length: u64, args: Value) -> Value {
    json!({
        "ph": "X", "pid": process, "tid": track, "name": name,
        "ts": micros(start), "dur": micros(length as i64), "args": args,
    })
}

fn headings(told: &Told) -> Vec<Value> {
    let name = |what: &str, process: u32, track: u32, name: &str| json!({"ph": "M", "pid": process, "tid": track, "name": what, "args": {"name": name}});
    let mut out = vec![
        name("process_name", STORY, 0, "story"),
        name("thread_name", STORY, 1, "spans"),
        name("process_name", CPU, 0, "CPU"),
        name("thread_name", CPU, 1, "mode"),
        name("thread_name", CPU, 2, "interrupts"),
        name("process_name", THREADS, 0, "threads"),
    ];
    for task in &told.tasks {
        let label = format!("{} ({})", task.comm, task.pid);
        out.push(name("thread_name", THREADS, track(task.pid), &label));
    }
    out
}

/// Track 0 names the process, so the idle task has another number.
fn track(pid: u32) -> u32 {
    if pid == 0 { u32::MAX >> 1 } else { pid }
}

fn mode(told: &Told, interval: &Interval) -> Option<&'static str> {
    let stacks = &told.walk.stacks;
    let is = |kind| stacks.find_kind(interval.stack, kind).is_some();
    Some(match () {
        () if stacks.frame(interval.stack).kind == FrameKind::User => "user",
        () if is(FrameKind::SoftIrq) => "soft interrupt",
        () if is(FrameKind::Interrupt) => "interrupt",
        () if is(FrameKind::Exception) => "exception",
        () => "kernel",
    })
}

fn flag(_: &Told, interval: &Interval) -> Option<&'static str> {
    (interval.irqs == Some(false)).then_some("off")
}

/// Runs of intervals with equal names.
fn joined<'n>(intervals: &[Interval], name: &dyn Fn(&Interval) -> Option<&'n str>) -> Vec<(u64, u64, &'n str)> {
    let mut out: Vec<(u64, u64, &str)> = Vec::new();
    for interval in intervals {
        let Some(name) = name(interval) else { continue };
        match out.last_mut() {
            Some((_, end, last)) if *last == name && *end == interval.start => *end = interval.end,
            _ => out.push((interval.start, interval.end, name)),
        }
    }
    out
}

/// A thread's frames as slices: each from its first to its last instruction, closed while the thread does not run.
fn functions(told: &Told, pid: u32) -> Vec<Value> {
    let stacks = &told.walk.stacks;
    let mut events = Vec::new();
    let mut open: Vec<(StackId, u64)> = Vec::new();
    let mut end = 0;
    let mut close = |open: &mut Vec<(StackId, u64)>, keep: usize, end: u64| {
        for (id, start) in open.drain(keep..).rev() {
            let frame = stacks.frame(id);
            let args = json!({"kind": frame.kind, "module": frame.module, "instructions": end - start});
            let (start, length) = (ns(told, start), (end - start) << told.shift);
            events.push(slice(THREADS, track(pid), &frame.function, start, length, args));
        }
    };
    for interval in told.walk.intervals.iter().filter(|i| i.pid == pid) {
        if interval.start != end {
            close(&mut open, 0, end);
        }
        let mut chain: Vec<StackId> = stacks.upwards(interval.stack).collect();
        chain.reverse();
        let same = open.iter().zip(&chain).take_while(|((a, _), b)| a == *b).count();
        close(&mut open, same, interval.start);
        open.extend(chain[same..].iter().map(|id| (*id, interval.start)));
        end = interval.end;
    }
    close(&mut open, 0, end);
    events
}
