//! A window as a trace that opens in ui.perfetto.dev: the JSON Trace Event format.
//!
//! Tracks: the breakdown's spans, the CPU's mode (user, kernel, interrupt, soft interrupt), the interrupt flag, and a track for
//! each thread with its functions as nested slices. Timestamps are virtual time from the due time on, in us with
//! three digits, as the format wants it; negative times are before the due time.

use serde_json::{Value, json};
use worstcase_analysis::breakdown::build::Explanation;
use worstcase_analysis::breakdown::frames::{StackInterval, WindowWalk};
use worstcase_analysis::breakdown::lines::SourceLines;
use worstcase_analysis::breakdown::spans::{KernelTask, Span};
use worstcase_analysis::breakdown::stacks::{FrameKind, StackId};

/// Process numbers group the tracks.
const BREAKDOWN: u32 = 1;
const CPU: u32 = 2;
const THREADS: u32 = 3;

/// The whole window, with the lines of source code that `lines` knows.
pub fn trace(explanation: &Explanation, lines: &dyn SourceLines) -> String {
    let mut events = headings(explanation);
    events.extend(explanation.breakdown.spans().iter().map(|span| {
        slice(
            BREAKDOWN,
            1,
            span.what.name().title,
            span.start_ns.0 as i64,
            span.length_ns.0,
            about(span),
        )
    }));
    let runs = |of: &dyn Fn(&StackInterval) -> Option<&'static str>| joined(&explanation.walk.intervals, of);
    for (track, name) in [
        (1, mode as fn(&Explanation, &StackInterval) -> Option<&'static str>),
        (2, flag),
    ] {
        for (start, end, title) in runs(&|i| name(explanation, i)) {
            events.push(slice(
                CPU,
                track,
                title,
                ns(explanation, start),
                (end - start) << explanation.shift,
                json!({}),
            ));
        }
    }
    let window = SlicedWindow {
        walk: &explanation.walk,
        lines,
        at: &|count| Some(ns(explanation, count)),
    };
    for task in &explanation.tasks {
        events.extend(window.functions(task.pid));
    }
    let sample = explanation.breakdown.sample();
    let out = json!({
        "displayTimeUnit": "ns",
        "otherData": {
            "cell": explanation.breakdown.sample().cell,
            "clock": format!("virtual time ({}); 0 is when {}", sample.unit, sample.since.moment()),
        },
        "traceEvents": events,
    });
    out.to_string()
}

fn about(span: &Span) -> Value {
    let mut about = json!({"task": span.task.comm, "what": span.what});
    if !span.lines.is_empty() {
        let lines = span.lines.iter().map(|l| (&l.function, l.source.whole(), l.self_ns));
        let line = |(function, line, self_ns)| json!({"function": function, "line": line, "self_ns": self_ns});
        about["lines"] = lines.map(line).collect();
    }
    about
}

fn ns(explanation: &Explanation, count: u64) -> i64 {
    let after = (count as i64 - explanation.points.due as i64) << explanation.shift;
    explanation.began.0 as i64 + after
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

fn headings(explanation: &Explanation) -> Vec<Value> {
    let mut out = vec![
        name("process_name", BREAKDOWN, 0, "breakdown"),
        name("thread_name", BREAKDOWN, 1, "spans"),
        name("process_name", CPU, 0, "CPU"),
        name("thread_name", CPU, 1, "mode"),
        name("thread_name", CPU, 2, "interrupts"),
    ];
    out.extend(thread_names(&explanation.tasks));
    out
}

/// Track 0 names the process, so the idle task has another number.
fn track(pid: u32) -> u32 {
    if pid == 0 { u32::MAX >> 1 } else { pid }
}

fn mode(explanation: &Explanation, interval: &StackInterval) -> Option<&'static str> {
    let stacks = &explanation.walk.stacks;
    let is = |kind| stacks.find_kind(interval.stack, kind).is_some();
    Some(match () {
        () if stacks.frame(interval.stack).kind == FrameKind::User => "user",
        () if is(FrameKind::SoftIrq) => "soft interrupt",
        () if is(FrameKind::Interrupt) => "interrupt",
        () if is(FrameKind::Exception) => "exception",
        () => "kernel",
    })
}

fn flag(_: &Explanation, interval: &StackInterval) -> Option<&'static str> {
    (interval.irqs == Some(false)).then_some("off")
}

/// Runs of intervals with equal names.
fn joined<'n>(
    intervals: &[StackInterval],
    name: &dyn Fn(&StackInterval) -> Option<&'n str>,
) -> Vec<(u64, u64, &'n str)> {
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

/// A frame whose end has not come yet.
struct OpenFrame {
    id: StackId,
    start: u64,
    called_at: Option<u64>,
}

/// A window whose functions become slices.
pub(crate) struct SlicedWindow<'a> {
    pub(crate) walk: &'a WindowWalk,
    pub(crate) lines: &'a dyn SourceLines,
    /// The instant, in ns, at which so many instructions were completed.
    pub(crate) at: &'a dyn Fn(u64) -> Option<i64>,
}

impl SlicedWindow<'_> {
    /// A thread's frames as slices: each from its first to its last instruction, closed while the thread does not run.
    pub(crate) fn functions(&self, pid: u32) -> Vec<Value> {
        let stacks = &self.walk.stacks;
        let mut events = Vec::new();
        let mut open: Vec<OpenFrame> = Vec::new();
        let mut end = 0;
        for interval in self.walk.intervals.iter().filter(|i| i.pid == pid) {
            if interval.start != end {
                self.close(&mut open, 0, end, pid, &mut events);
            }
            let sites = self.walk.sites.called_at(interval.site);
            let mut chain: Vec<(StackId, Option<u64>)> = stacks.upwards(interval.stack).zip(sites).collect();
            chain.reverse();
            let same = open.iter().zip(&chain).take_while(|(a, b)| a.id == b.0).count();
            self.close(&mut open, same, interval.start, pid, &mut events);
            open.extend(chain[same..].iter().map(|(id, called_at)| OpenFrame {
                id: *id,
                start: interval.start,
                called_at: *called_at,
            }));
            end = interval.end;
        }
        self.close(&mut open, 0, end, pid, &mut events);
        events
    }

    fn close(&self, open: &mut Vec<OpenFrame>, keep: usize, end: u64, pid: u32, events: &mut Vec<Value>) {
        for OpenFrame { id, start, called_at } in open.drain(keep..).rev() {
            let (Some(begun), Some(ended)) = ((self.at)(start), (self.at)(end)) else {
                continue;
            };
            let frame = self.walk.stacks.frame(id);
            let mut args = json!({"kind": frame.kind, "module": frame.module, "instructions": end - start});
            if let Some(source) = called_at.and_then(|address| self.lines.source(address)) {
                args["called_at"] = source.whole().into();
            }
            let length = u64::try_from(ended - begun).unwrap_or_default();
            events.push(slice(THREADS, track(pid), &frame.function, begun, length, args));
        }
    }
}

/// The names of the tracks with the functions of these threads.
pub(crate) fn thread_names(tasks: &[KernelTask]) -> Vec<Value> {
    let mut names = vec![name("process_name", THREADS, 0, "threads")];
    let tracks = tasks
        .iter()
        .map(|task| name("thread_name", THREADS, track(task.pid), &task.named()));
    names.extend(tracks);
    names
}

fn name(what: &str, process: u32, track: u32, name: &str) -> Value {
    json!({"ph": "M", "pid": process, "tid": track, "name": what, "args": {"name": name}})
}
