//! A sample of an ordinary thread: the kernel may end its sleep late by the timer slack, so that one interrupt ends
//! several sleeps.

use super::{Lead, in_order};
use crate::breakdown::frames::{FrameEvent, FrameMark, WindowWalk};
use crate::breakdown::roles::FunctionRole;
use crate::breakdown::spans::{Span, SpanKind};
use worstcase_contract::Nanos;
use worstcase_lab::execution::Execution;

/// The slack of ordinary threads (PR_SET_TIMERSLACK); threads of a real-time policy have none.
pub(crate) const SLACK: Nanos = Nanos(50_000);

const ENTRY: FrameEvent = FrameEvent::Enter(FunctionRole::InterruptEntry);

impl Lead {
    /// The lead of a sample that begins with the timer of an ordinary thread.
    pub(crate) fn with_slack(walk: &WindowWalk, execution: &Execution) -> Lead {
        let (due, sample) = (execution.due.0, execution.sample.0);
        let before = |at: u64| execution.latency.saturating_sub(execution.time_of(sample - at));
        let into_idle = |m: &&FrameMark| m.what == ENTRY && m.pid == 0;
        let idled = walk.marks_within(due, sample).iter().rfind(into_idle);
        let mut entries: Vec<u64> = woken_by(walk, due, sample).collect();
        // While the probe waits for its CPU, the CPU does not idle.
        entries.retain(|entry| idled.is_none_or(|idled| *entry >= idled.count));
        // At the end of the slack the hardware interrupts for the probe's timer; before that, for another timer.
        let at_the_end = entries.iter().find(|entry| before(**entry) >= SLACK);
        let Some(entry) = at_the_end.or(entries.last()).copied() else {
            return Lead {
                due,
                notes: vec!["no interrupt of a timer that came meanwhile woke the probe".into()],
                ..Lead::default()
            };
        };
        // A CPU that slept executed nothing meanwhile, so the instruction computed for the due time is not where it
        // was due.
        let told_from = match idled {
            Some(_) => entry,
            None => entry.min(due + (SLACK.0 >> execution.shift)),
        };
        let waited = before(told_from);
        let slack = Span {
            what: SpanKind::TimerSlack,
            ..Span::unexplained(Nanos(0), waited.min(SLACK), None)
        };
        let rest = Span::pending(waited - slack.length_ns);
        Lead {
            due: told_from,
            entry: Some(entry),
            spans: in_order(vec![slack, rest]),
            notes: Vec::new(),
        }
    }
}

/// The entries of the interrupts whose timers woke a thread.
fn woken_by(walk: &WindowWalk, from: u64, to: u64) -> impl Iterator<Item = u64> + '_ {
    let mut entered = None;
    walk.marks_within(from, to)
        .iter()
        .filter_map(move |mark| match mark.what {
            ENTRY => {
                entered = Some(mark.count);
                None
            }
            FrameEvent::Enter(FunctionRole::Wake) => entered.take(),
            _ => None,
        })
}
