//! A breakdown for the terminal: the sentence, a timeline with bars, and for the spans that matter their functions.

use crate::style::{Style, cut, wrapped};
use worstcase_analysis::breakdown::is_entry_of_all;
use worstcase_analysis::breakdown::lines::SourceLine;
use worstcase_analysis::breakdown::spans::{
    AtDue, Breakdown, CodePlace, ExplainedSample, FunctionShare, LineShare, LockWait, OtherCpu, Span, SpanKind,
};
use worstcase_analysis::breakdown::stacks::{FrameKind, StackFrame};
use worstcase_base::format::{counted, micros, micros_exact, plain};
use worstcase_contract::Nanos;

/// Longest bar.
const BAR: u64 = 24;
/// The column at which the details of a span begin.
const INDENT: usize = 27;
/// Frames of a chain that are shown at its begin and at its end.
const ENDS: (usize, usize) = (3, 7);
/// Spans that are shown in short.
const SHORT: usize = 12;
/// Spans with at least this part of the latency, in per cent, are told in detail.
const DETAIL: u64 = 8;

/// The whole breakdown.
pub fn breakdown(breakdown: &Breakdown, style: Style) -> String {
    told(breakdown, style, usize::MAX)
}

/// The same with the longest spans alone, and what the others took together: for a first screen.
pub(crate) fn in_short(breakdown: &Breakdown, style: Style) -> String {
    told(breakdown, style, SHORT)
}

/// The sample and its latency, of which `what` says what it is.
pub(super) fn heading(sample: &ExplainedSample, what: &str, style: Style) -> String {
    let late = micros(sample.latency_ns);
    style.bold(&plain(&format!(
        "{}, sample {}: {late} us{what}",
        sample.cell, sample.index
    )))
}

/// What the latency of a sample is, behind it.
pub(super) fn lateness(sample: &ExplainedSample) -> &'static str {
    if sample.since.is_lateness() { " late" } else { "" }
}

fn told(breakdown: &Breakdown, style: Style, most: usize) -> String {
    let sample = breakdown.sample();
    let mut out = vec![
        heading(sample, lateness(sample), style),
        format!("times are {}", plain(&sample.unit)),
        String::new(),
    ];
    out.extend(wrapped("", &breakdown.cause().sentence));
    out.extend(wrapped("What would help: ", &breakdown.cause().remedy));
    out.push(String::new());
    let at_due = breakdown.at_due();
    let due = plain(&due(at_due));
    let moment = sample.since.moment();
    match at_due.chain.is_empty() {
        true => out.push(format!("When {moment}: {due}")),
        false => out.extend(chained(&format!("When {moment}: {due}: "), 24, &at_due.chain)),
    }
    out.push(String::new());
    out.push(format!(
        "{:>11} {:>11}  {:<width$}  span",
        "from",
        "takes",
        "",
        width = BAR as usize
    ));
    let spans = breakdown.spans();
    let mut lengths: Vec<Nanos> = spans.iter().map(|span| span.length_ns).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    let least = lengths.get(most).copied();
    let (shown, others): (Vec<&Span>, Vec<&Span>) = spans
        .iter()
        .partition(|span| least.is_none_or(|least| span.length_ns > least));
    for span in shown {
        out.extend(lines(span, sample.latency_ns));
    }
    if !others.is_empty() {
        let all = Nanos(others.iter().map(|span| span.length_ns.0).sum());
        let (count, width) = (others.len(), BAR as usize);
        out.push(format!(
            "{:>11} {:>11}  {:<width$}  {}",
            "",
            micros_exact(all),
            "",
            counted(count as u64, "shorter span")
        ));
    }
    out.push(format!("{:>11} {:>11}", "sum", micros_exact(sample.latency_ns)));
    out.extend(notes(breakdown));
    out.push(String::new());
    out.join("\n")
}

/// What a reader must know of it.
pub(super) fn notes(breakdown: &Breakdown) -> impl Iterator<Item = String> {
    breakdown.notes().iter().flat_map(|note| wrapped("Note: ", note))
}

/// The thread that ran at first, and its system call.
pub fn due(at_due: &AtDue) -> String {
    at_due.task.within(at_due.system_call.as_deref())
}

fn lines(span: &Span, latency: Nanos) -> Vec<String> {
    let part = |whole: u64| span.length_ns.0 * whole / latency.0.max(1);
    let bar = match part(BAR) {
        0 if span.length_ns.0 > 0 => "▏".to_string(),
        n => "█".repeat(n as usize),
    };
    let head = format!(
        "{:>11} {:>11}  {bar:<width$}  ",
        micros_exact(span.start_ns),
        micros_exact(span.length_ns),
        width = BAR as usize
    );
    let mut out = vec![cut(&format!("{head}{}", plain(&describe(span))))];
    let indent = " ".repeat(INDENT);
    for (what, place) in places(&span.what) {
        out.extend(wrapped(&format!("{indent}{what} "), &shown(place)));
    }
    let senders = span.sender.iter().map(|sender| ("sent by", sender));
    let waited_for = span.waited_for.iter().map(|other| ("it waited; meanwhile", other));
    for (what, other) in senders.chain(waited_for) {
        out.extend(elsewhere(INDENT, what, other));
    }
    if part(100) >= DETAIL {
        if !span.chain.is_empty() {
            out.extend(chained(&format!("{indent}in "), INDENT + 3, &span.chain));
        }
        out.extend(shares(INDENT, span.length_ns, &span.functions, &span.lines));
    }
    out
}

/// The code that another CPU ran.
pub fn elsewhere(indent: usize, what: &str, other: &OtherCpu) -> Vec<String> {
    let lead = format!("{:indent$}{what} CPU {}, {}: ", "", other.cpu, plain(&other.thread()));
    let mut lines = chained(&lead, indent + 3, &other.chain);
    if let Some(most) = &other.most {
        let (function, time) = (plain(&most.function), micros(most.total_ns));
        lines.push(cut(&format!("{:indent$}   most of it in {function} ({time} us)", "")));
    }
    lines
}

/// The functions, and the lines of source code, that took most of a stretch of this length.
pub fn shares(indent: usize, length: Nanos, functions: &[FunctionShare], lines: &[LineShare]) -> Vec<String> {
    let part = |time: Nanos| {
        let percent = time.0 * 100 / length.0.max(1);
        format!("{:indent$}{percent:>3} % {:>8} us  ", "", micros(time))
    };
    let function = |share: &FunctionShare| {
        let by = share.caller.as_ref().map_or(String::new(), |c| format!(" < {c}"));
        cut(&plain(&format!("{}{}{by}", part(share.self_ns), share.function)))
    };
    let line = |share: &LineShare| {
        let lead = format!("{}at {} ", part(share.self_ns), plain(&share.function));
        wrapped(&lead, &share.source.whole())
    };
    let functions = functions.iter().map(function);
    functions.chain(lines.iter().flat_map(line)).collect()
}

/// The event of a span, with the details of its kind.
pub fn describe(span: &Span) -> String {
    let title = span.what.name().title;
    let task = span.task.within(None);
    let what = match &span.what {
        SpanKind::OtherTimer { function } => format!("{title}: {function}"),
        SpanKind::OtherIrq { entry } if !is_entry_of_all(entry) => format!("{title}: {entry}"),
        SpanKind::OtherThread { task, .. } => format!("{title}: {}", task.within(None)),
        SpanKind::Waits { what, waker, .. } => {
            let until = waker
                .as_ref()
                .map(|waker| format!(", until {} ended that", waker.task.named()));
            format!("{title}{}{}", what.words(), until.unwrap_or_default())
        }
        SpanKind::NoReschedulePoint => format!("{title}: {}", span.task.within(span.system_call.as_deref())),
        SpanKind::PreemptOff { .. } | SpanKind::IrqsOff { .. } | SpanKind::RunsOn | SpanKind::SpinsFor { .. } => {
            format!("{title}: {task}")
        }
        _ => title.to_string(),
    };
    match span.cpu {
        Some(cpu) => format!("{what}, on CPU {cpu}"),
        None => what,
    }
}

/// The places where something was switched off and on, or for which the span waits.
pub fn places(kind: &SpanKind) -> Vec<(&'static str, &CodePlace)> {
    let both = match kind {
        SpanKind::OtherThread {
            wait: Some(LockWait { at, inherits: true }),
            ..
        } => return vec![("boosted by the probe, which waits in", at)],
        SpanKind::OtherThread {
            wait: Some(LockWait { at, .. }),
            ..
        } => return vec![("the probe waits in", at)],
        SpanKind::OtherThread {
            server: Some(server), ..
        } => return vec![("let in by the fair server, in", server)],
        SpanKind::Waits { at, waker, .. } => {
            let ended = waker.iter().map(|waker| ("ended in", &waker.at));
            return [("waits in", at)].into_iter().chain(ended).collect();
        }
        SpanKind::SpinsFor { at } => return vec![("waits in", at)],
        SpanKind::IrqsOff { off, on, .. } => [("off in", off), ("on in", on)],
        SpanKind::PreemptOff {
            lock: None,
            off,
            released,
            ..
        } => [("off in", off), ("ended in", released)],
        SpanKind::PreemptOff { lock, released, .. } => [("lock of", lock), ("ended in", released)],
        _ => return Vec::new(),
    };
    both.into_iter()
        .filter_map(|(what, p)| p.as_ref().map(|p| (what, p)))
        .collect()
}

/// A place in one line.
pub fn shown(place: &CodePlace) -> String {
    let by = place.caller.as_ref().map_or(String::new(), |c| format!(" < {c}"));
    let at = place.offset_ns.map_or("before the window".to_string(), |ns| {
        let sign = if ns < 0 { "-" } else { "+" };
        format!("at {sign}{} us", micros(Nanos(ns.unsigned_abs())))
    });
    let line = place.source.as_ref().map_or(String::new(), |s| format!(" ({s})"));
    format!("{}{line}{by}, {at}", place.function)
}

/// A call chain: in one line, wrapped; or a line for each frame behind `indent`, if the source is known.
pub(crate) fn chained(lead: &str, indent: usize, frames: &[StackFrame]) -> Vec<String> {
    if frames.iter().all(|f| f.source.is_none()) {
        let (first, rest) = lead.split_at(lead.len().min(indent));
        return wrapped(first, &format!("{rest}{}", chain(frames)));
    }
    let width = frames.iter().map(|f| name(f).chars().count()).max().unwrap_or(0);
    let frame = |f: &StackFrame| (name(f), f.source.as_ref().map_or(String::new(), SourceLine::whole));
    let left_out = |n: usize| (format!("({n} more)"), String::new());
    let shown = shortened(frames.iter().map(frame).collect(), left_out);
    let mut lines = Vec::new();
    for (number, (name, line)) in shown.iter().enumerate() {
        let lead = match number {
            0 => lead.to_string(),
            _ => format!("{}> ", " ".repeat(indent)),
        };
        match line.is_empty() {
            true => lines.push(cut(&plain(&format!("{lead}{name}")))),
            false => lines.extend(wrapped(&plain(&format!("{lead}{name:<width$}  ")), line)),
        }
    }
    lines
}

/// A call chain in one line, outermost first.
pub fn chain(frames: &[StackFrame]) -> String {
    let left_out = |n: usize| format!("({n} more)");
    plain(&shortened(frames.iter().map(name).collect(), left_out).join(" > "))
}

fn name(frame: &StackFrame) -> String {
    match frame.kind {
        FrameKind::Interrupt | FrameKind::Exception => format!("[{}]", frame.function),
        FrameKind::TailCall => format!("~{}", frame.function),
        _ => frame.function.clone(),
    }
}

/// Leaves out the middle of a long chain; `left_out` stands there, and gives the number of frames.
fn shortened<T>(mut frames: Vec<T>, left_out: impl Fn(usize) -> T) -> Vec<T> {
    let (first, last) = ENDS;
    if frames.len() > first + last + 1 {
        let middle = first..frames.len() - last;
        frames.splice(middle.clone(), [left_out(middle.len())]);
    }
    frames
}
