//! A sample whose time begins on another CPU: what happened there and on the way, until this CPU was interrupted.
//!
//! Each CPU counts its own instructions, and none while it sleeps. So the sample's time has three parts: what the other CPU
//! executed until it sent its interrupt, the way, and what this CPU executed from that interrupt's entry on. The way is the rest
//! of the latency.

mod sender;
mod slack;

use super::frames::{FrameEvent, WindowWalk};
use super::roles::{self, FunctionRole};
use super::sources::Sources;
use super::spans::{Since, Span};
use sender::InterruptSender;
pub(super) use slack::SLACK;
use worstcase_contract::Nanos;
use worstcase_lab::execution::{Execution, Symbols, Why};

/// The part of a sample before this CPU was interrupted.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    /// The breakdown covers this CPU's instructions from here on.
    pub(crate) due: u64,
    /// The entry of the interrupt that another CPU sent.
    pub(crate) entry: Option<u64>,
    /// The spans before that, from the sample's beginning on.
    pub(crate) spans: Vec<Span>,
    /// What a reader must know before believing the spans.
    pub(crate) notes: Vec<String>,
}

impl Lead {
    /// The lead of a sample that begins on another CPU.
    pub(crate) fn find(sources: &Sources, symbols: &Symbols, since: Since) -> Lead {
        let (execution, walk) = (sources.execution, sources.walk);
        let sent = execution.elsewhere.iter().rev();
        let sent = sent.filter(|other| other.why == Why::Sends && other.at <= execution.sample);
        let found = sent
            .filter_map(|other| InterruptSender::of(sources, symbols, other, since))
            .next();
        let entry = found
            .as_ref()
            .and_then(|sender| entry_after(walk, sender.other.at.0, execution.sample.0, since));
        let (Some(sender), Some(entry)) = (found, entry) else {
            return Lead {
                due: execution.due.0,
                notes: vec!["no other CPU interrupted this one to wake the probe; if it slept meanwhile, what it ran before that is told, too".into()],
                ..Lead::default()
            };
        };
        Lead::of(&sender, execution, since, entry)
    }

    fn of(sender: &InterruptSender, execution: &Execution, since: Since, entry: u64) -> Lead {
        let (sample, latency) = (execution.sample.0, execution.latency);
        let time = |from: u64, to: u64| execution.time_of(to.saturating_sub(from));
        let send = time(sender.begin(), sender.other.count.0);
        let mut notes = Vec::new();
        let before_entry = latency.saturating_sub(time(entry, sample));
        if send > before_entry {
            notes.push(format!(
                "the sending CPU's clock was {} ns ahead of this one's, which the quantum allows: the send took so much longer than is told",
                (send - before_entry).0
            ));
        }
        let send = send.min(before_entry);
        // The instructions of this CPU since the send have a span of their own; if the CPU slept, there are none.
        let ran = time(sender.other.at.0, entry).min(before_entry - send);
        let due = entry
            .saturating_sub(ran.0 >> execution.shift)
            .max(sample.saturating_sub(latency.0 >> execution.shift));
        let way = latency.saturating_sub(time(due, sample)) - send;
        let send = sender.sends(send);
        let spans = match since {
            _ if !sender.is_whole() => vec![Span::unexplained(Nanos(0), way, None), send],
            Since::Woken | Since::Pulsed => vec![send, Span::pending(way)],
            _ => [sender.waits(way), vec![send]].concat(),
        };
        Lead {
            due,
            entry: Some(entry),
            spans: in_order(spans),
            notes,
        }
    }

    /// The lead of a sample that begins with a device's timer.
    pub(crate) fn of_device(walk: &WindowWalk, execution: &Execution) -> Lead {
        let due = execution.due.0;
        let entry = entry_after(walk, due, execution.sample.0, Since::DueDevice);
        // A CPU that slept until then executed nothing meanwhile.
        if let Some(entry) = entry.filter(|entry| walk.at(entry - 1).is_some_and(|before| before.pid == 0)) {
            let slept = execution
                .latency
                .saturating_sub(execution.time_of(execution.sample.0 - entry));
            return Lead {
                due: entry,
                entry: Some(entry),
                spans: in_order(vec![Span::pending(slept)]),
                notes: Vec::new(),
            };
        }
        let note = "no interrupt of a device came meanwhile: the one that woke the probe was there before it was due";
        Lead {
            due,
            entry,
            notes: entry.is_none().then(|| note.into()).into_iter().collect(),
            ..Lead::default()
        }
    }

    /// The lead of a sample that begins with a call that this CPU makes.
    pub(crate) fn here(walk: &WindowWalk, execution: &Execution) -> Lead {
        let due = execution.due.0;
        let slept = walk.within(due, execution.sample.0).any(|i| i.pid == 0);
        let note = "the CPU idled meanwhile: its instructions do not tell for how long, and what it ran before the call is told, too";
        Lead {
            due,
            notes: slept.then(|| note.into()).into_iter().collect(),
            ..Lead::default()
        }
    }
}

/// The first interrupt that is entered in a range and came from another CPU, or from the device that a pulse is sent to.
fn entry_after(walk: &WindowWalk, from: u64, to: u64, since: Since) -> Option<u64> {
    let is_it = match since.is_device() {
        true => roles::is_from_device,
        false => roles::is_from_cpu,
    };
    let entered = walk.marks_within(from, to).iter();
    let mut entered = entered.filter(|m| m.what == FrameEvent::Enter(FunctionRole::InterruptEntry));
    let entry = entered.find(|m| walk.interrupts(m.stack, m.count).into_iter().any(is_it))?;
    Some(entry.count)
}

/// Sorts spans from the sample's beginning on, and drops those that take no time.
fn in_order(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|span| span.length_ns > Nanos(0));
    let mut at = Nanos(0);
    for span in &mut spans {
        span.start_ns = at;
        at = at + span.length_ns;
    }
    spans
}

#[cfg(test)]
mod pulse_tests;
#[cfg(test)]
mod slack_tests;
#[cfg(test)]
mod tests;
