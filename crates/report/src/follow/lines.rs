//! A cycle's parts as lines: a thread that was waited for stands under the thread that waited.

use super::notes::note;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use worstcase_base::format::plain;
use worstcase_contract::Nanos;
use worstcase_traces::follow::words::{FunctionNames, doing, thread, waited};
use worstcase_traces::follow::{ExplainedCycle, Part};

/// A line of a breakdown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakdownLine {
    /// Begin, since the release.
    pub at_ns: Nanos,
    /// Length.
    pub length_ns: Nanos,
    /// How many threads wait for this one.
    pub depth: usize,
    /// The thread.
    pub thread: String,
    /// What it did. A line that has lines below it is their sum.
    pub words: String,
    /// It has lines below it.
    pub sum: bool,
}

/// A cycle and where its time went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleLines {
    /// Its number.
    pub index: u32,
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// Release to end.
    pub response_ns: Nanos,
    /// The thread's parts, which add up to the response, and sums of those in which a thread waited for another.
    pub parts: Vec<BreakdownLine>,
    /// What was seen of their CPUs besides: steal, frequencies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl CycleLines {
    /// Of a cycle.
    pub fn of(cycle: &ExplainedCycle, names: FunctionNames<'_>) -> CycleLines {
        let mut parts = Vec::new();
        add(&mut parts, &cycle.parts, 0, cycle.times.release, names);
        CycleLines {
            index: cycle.times.index,
            release_ns: cycle.times.release,
            response_ns: cycle.times.response(),
            parts,
            notes: cycle.notes.iter().map(|seen| note(seen, cycle.times.release)).collect(),
        }
    }

    /// Folded stacks in ns: a thread that was waited for stands on the one that waited.
    pub fn folded(&self) -> String {
        self.folded_with(|_| None)
    }

    /// The same with call chains upon each part, by its number among those that are no sums.
    pub(super) fn folded_with<'c>(&self, chains: impl Fn(usize) -> Option<&'c BTreeMap<String, u64>>) -> String {
        let (mut stack, mut part): (Vec<String>, usize) = (Vec::new(), 0);
        let mut text = String::new();
        for line in &self.parts {
            stack.truncate(line.depth);
            stack.push(format!("{} {}", line.thread, line.words).replace(';', ","));
            if line.sum {
                continue;
            }
            let stack = stack.join(";");
            match chains(part).filter(|chains| !chains.is_empty()) {
                Some(chains) => chains
                    .iter()
                    .for_each(|(chain, ns)| text += &format!("{stack};{chain} {ns}\n")),
                None => text += &format!("{stack} {}\n", line.length_ns.0),
            }
            part += 1;
        }
        text
    }

    /// The JSON Trace Event format, which ui.perfetto.dev opens: a track for each thread, in us since the release.
    pub fn trace(&self) -> String {
        self.trace_with(Vec::new())
    }

    /// The same with further events.
    pub(super) fn trace_with(&self, further: Vec<Value>) -> String {
        let mut threads: Vec<&str> = Vec::new();
        let mut events = Vec::new();
        for line in &self.parts {
            let known = threads.iter().position(|thread| *thread == line.thread);
            let track = known.unwrap_or_else(|| {
                threads.push(&line.thread);
                threads.len() - 1
            });
            let us = |ns: Nanos| ns.0 as f64 / 1e3;
            events.push(json!({
                "ph": "X", "pid": 1, "tid": track + 1, "ts": us(line.at_ns), "dur": us(line.length_ns), "name": line.words,
            }));
        }
        let named = threads.iter().enumerate().map(|(track, thread)| {
            json!({"ph": "M", "pid": 1, "tid": track + 1, "name": "thread_name", "args": {"name": thread}})
        });
        let events: Vec<Value> = named.chain(events).chain(further).collect();
        json!({
            "displayTimeUnit": "ns",
            "otherData": {"cycle": self.index, "release_ns": self.release_ns.0},
            "traceEvents": events,
        })
        .to_string()
    }
}

fn add(lines: &mut Vec<BreakdownLine>, parts: &[Part], depth: usize, release: Nanos, names: FunctionNames<'_>) {
    let mut rest = parts;
    while let Some(first) = rest.first() {
        let Some(blocked) = first.cause.via.get(depth) else {
            lines.push(BreakdownLine {
                at_ns: first.from.saturating_sub(release),
                length_ns: first.to.saturating_sub(first.from),
                depth,
                thread: plain(&first.cause.thread.comm.to_string()),
                words: plain(&doing(&first.cause.what, names)),
                sum: false,
            });
            rest = &rest[1..];
            continue;
        };
        let same = rest
            .iter()
            .take_while(|part| part.cause.via.get(depth) == Some(blocked))
            .count();
        let (within, after) = rest.split_at(same);
        let end = within.last().map_or(first.to, |last| last.to);
        let next = first
            .cause
            .via
            .get(depth + 1)
            .map_or(&first.cause.thread, |next| &next.thread);
        lines.push(BreakdownLine {
            at_ns: first.from.saturating_sub(release),
            length_ns: end.saturating_sub(first.from),
            depth,
            thread: plain(&blocked.thread.comm.to_string()),
            words: plain(&format!("{} {}", waited(blocked), thread(next))),
            sum: true,
        });
        add(lines, within, depth + 1, release, names);
        rest = after;
    }
}
