//! The breakdown of a sample of the machine in front of you, from its recording: what the kernel's tracepoints tell.
//!
//! ```text
//! names      the running kernel's symbols        chain      the code that the timer interrupt interrupted
//! points     interrupt, wake-up, switch          classify   the kind of each stretch
//! kernel     what is left of the measured one    opened     how an instruction was reached: behind sti, popf?
//! late       interrupts off, or the CPU stopped  words      the cause in one sentence
//! remedies   what helps on a guest, below it
//! ```
//!
//! Coarser than the lab's: no tracepoint tells when interrupts or preemption are off, or that the CPU is stopped. A note says
//! what is only inferred, and from what; time that no tracepoint explains is unexplained.

mod chain;
mod classify;
mod kernel;
mod late;
mod names;
mod opened;
mod points;
mod remedies;
#[cfg(test)]
mod tests;
mod threads;
mod words;

pub use kernel::MeasuredKernel;
pub use late::RunStops;
pub use names::{NamesError, running_kernel};

use super::cause::{Cause, CauseParts, Mechanism, cause_in_words};
use super::lead::SLACK;
use super::spans::{AtDue, Breakdown, BreakdownError, ExplainedSample, Peer, Since, Span, SpanKind};
use classify::HostClassifier;
use late::{ArrivalPlace, LateArrival};
use points::HostMilestones;
use threads::{task, threads};
use words::ToldFrom;
use worstcase_contract::Nanos;
use worstcase_host::trace::timeline::{TimeStretch, Timeline};
use worstcase_host::trace::{EventSnapshot, LatenessParts, TracedChange};

/// What is known about a sample besides its recording.
#[derive(Clone, Debug, Default)]
pub struct HostSurroundings {
    /// The duration of an ordinary sample: the cell's minimum.
    pub floor: Nanos,
    /// The parts of an ordinary sample: beyond them something else takes the time.
    pub(crate) ordinary: LatenessParts,
    /// The same load on other subjects, if there are.
    pub peers: Vec<Peer>,
    /// What the run tells of stops of its CPUs.
    pub(crate) stops: RunStops,
}

/// Adds what a cell's recordings tell of stops.
pub(crate) fn add_stops(
    stops: &mut RunStops,
    snapshots: &[EventSnapshot],
    ordinary: &LatenessParts,
    kernel: &MeasuredKernel,
) {
    for snapshot in snapshots {
        let points = HostMilestones::find(snapshot, &kernel.symbols);
        stops.add(LateArrival::find(snapshot, &points, ordinary, kernel).as_ref());
    }
}

/// Makes the breakdown of a recording; `sample.latency_ns` must be the recording's.
pub fn tell(
    snapshot: &EventSnapshot,
    kernel: &MeasuredKernel,
    sample: ExplainedSample,
    around: &HostSurroundings,
) -> Result<Breakdown, BreakdownError> {
    let ask = snapshot.ask;
    let stretches = stretches(snapshot);
    let points = HostMilestones::find(snapshot, &kernel.symbols);
    let late = LateArrival::find(snapshot, &points, &around.ordinary, kernel);
    let reason = late.as_ref().map(|late| late.reason(&around.stops));
    let classifier = HostClassifier {
        snapshot,
        symbols: &kernel.symbols,
        late: reason,
        points: &points,
        ordinary: &around.ordinary,
        preempts: sample.is_of_preempting_kernel(),
    };
    let mut spans = Vec::new();
    let mut at = ask.due;
    for stretch in &stretches {
        if stretch.start > at {
            push(&mut spans, unexplained(ask.due, at, stretch.start));
        }
        for span in classifier.spans(stretch) {
            push(&mut spans, span);
        }
        at = stretch.end;
    }
    if at < ask.now {
        push(&mut spans, unexplained(ask.due, at, ask.now));
    }
    if sample.since == Since::DueWithSlack {
        let entered = points.entered.map_or(SLACK, |entered| entered.saturating_sub(ask.due));
        spans = slack_first(spans, entered.min(SLACK).min(sample.latency_ns));
    }
    let threads = threads(snapshot);
    let from = ToldFrom {
        late: late.as_ref(),
        run: &around.stops,
        threads: &threads,
    };
    let words = |cause: &CauseParts<'_>| words::words(cause, &from);
    let cause = cause_in_words(&sample, &spans, around.floor, &around.peers, &words);
    let cause = below_the_kernel(cause, &sample, &spans, &from);
    let at_due = stretches
        .first()
        .filter(|s| s.start == ask.due)
        .map(|s| task(&s.thread));
    let at_due = AtDue {
        chain: match (&points.stood_at, &at_due) {
            (Some(interrupted), Some(task)) if interrupted.tid == task.pid => interrupted.chain.clone(),
            _ => Vec::new(),
        },
        task: at_due.unwrap_or_default(),
        system_call: None,
    };
    let notes = notes(snapshot, &spans, &from);
    Breakdown::new(sample, at_due, cause, spans, notes)
}

/// The stretches that the sample's CPU ran from due time to sample.
fn stretches(snapshot: &EventSnapshot) -> Vec<TimeStretch> {
    let ask = snapshot.ask;
    let mut timeline = Timeline::default();
    let mut found = Vec::new();
    for event in snapshot.events.iter().filter(|e| e.cpu == ask.cpu) {
        timeline.feed(&event.event(), |stretch| found.push(stretch));
    }
    found.extend(timeline.end(ask.now, ask.tid));
    let clipped = found.into_iter().map(|s| TimeStretch {
        start: s.start.max(ask.due),
        end: s.end.min(ask.now),
        ..s
    });
    clipped.filter(|s| s.start < s.end).collect()
}

/// Adds a span, or makes the last one longer if both are of the same kind and thread.
fn push(spans: &mut Vec<Span>, span: Span) {
    if span.length_ns == Nanos(0) {
        return;
    }
    // The path's spans need no chains.
    let is_same = |last: &Span| last.what == span.what && last.task == span.task;
    let is_one = |last: &Span| is_same(last) && (span.what.name().is_path || last.chain == span.chain);
    match spans.last_mut() {
        Some(last) if is_one(last) => last.length_ns = last.length_ns + span.length_ns,
        _ => spans.push(span),
    }
}

/// Until then no thread was late: the timer of an ordinary thread has a slack.
fn slack_first(spans: Vec<Span>, until: Nanos) -> Vec<Span> {
    let slack = Span {
        what: SpanKind::TimerSlack,
        ..Span::unexplained(Nanos(0), until, None)
    };
    let later = spans.into_iter().filter_map(|span| {
        let end = span.start_ns + span.length_ns;
        let start_ns = span.start_ns.max(until);
        let length_ns = end.saturating_sub(start_ns);
        (length_ns > Nanos(0)).then_some(Span {
            start_ns,
            length_ns,
            ..span
        })
    });
    std::iter::once(slack)
        .chain(later)
        .filter(|s| s.length_ns > Nanos(0))
        .collect()
}

fn unexplained(due: Nanos, from: Nanos, to: Nanos) -> Span {
    Span::unexplained(from - due, to - from, None)
}

/// A cause that the kernel's own words do not tell: what stops a CPU is below the kernel.
fn below_the_kernel(cause: Cause, sample: &ExplainedSample, spans: &[Span], from: &ToldFrom<'_>) -> Cause {
    let of_it = spans.iter().filter(|s| Mechanism::of(&s.what) == cause.mechanism);
    let Some(longest) = of_it.max_by_key(|s| s.length_ns) else {
        return cause;
    };
    let is_guest = from.run.is_guest == Some(true);
    let may_be_a_stop = words::may_be_a_stop(longest, cause.length_ns, from.run);
    match (cause.mechanism, from.late) {
        (Mechanism::InterruptsOff, _) => cause,
        (Mechanism::Unexplained, Some(late)) if late.covers(longest) => {
            let is_idle = late.place == ArrivalPlace::Idle;
            let remedy = remedies::of_late_interrupt(late.reason(from.run), is_idle, from.run);
            Cause {
                remedy: remedy.map_or(cause.remedy, str::to_string),
                ..cause
            }
        }
        (Mechanism::Unexplained, _) => cause,
        (Mechanism::WakeUpPath, _) if may_be_a_stop => Cause {
            sentence: words::stop_within_the_way(longest.what.name().title, longest.length_ns, sample.latency_ns),
            remedy: match is_guest {
                true => remedies::GUEST.to_string(),
                false => cause.remedy,
            },
            ..cause
        },
        _ if may_be_a_stop && is_guest => Cause {
            remedy: format!("{}; then: {}", remedies::GUEST, cause.remedy),
            ..cause
        },
        _ => cause,
    }
}

fn notes(snapshot: &EventSnapshot, spans: &[Span], from: &ToldFrom<'_>) -> Vec<String> {
    let ask = snapshot.ask;
    let mut notes = Vec::new();
    let is_lost = |what| matches!(what, TracedChange::Lost { since, .. } if since <= ask.now);
    if snapshot.events.iter().any(|e| e.at >= ask.due && is_lost(e.what)) {
        notes.push("events were lost: the trace's ring was full".to_string());
    }
    let guesses = |s: &Span| matches!(s.what, SpanKind::PreemptOff { .. } | SpanKind::NoReschedulePoint);
    if spans.iter().any(guesses) {
        notes.push(
            "what kept the CPU after the wake-up is inferred: the chain is that of the timer interrupt".to_string(),
        );
    }
    let is_long = |s: &Span| s.length_ns.0 * 2 >= snapshot.latency().0;
    match from.late {
        Some(late) if spans.iter().any(|s| is_long(s) && late.covers(s)) => notes.push(late.rests_on(from.run)),
        _ if spans.iter().any(|s| is_long(s) && from.run.may_be_in(s)) => {
            notes.push(format!("the CPU may have been stopped meanwhile: {}", from.run.words()));
        }
        _ => {}
    }
    notes
}
