//! A cycle's parts as lines: a thread that was waited for stands under the thread that waited.

use worstcase_contract::Nanos;
use worstcase_traces::follow::words::{FunctionNames, doing, thread};
use worstcase_traces::follow::{BlockedThread, ExplainedCycle, Part};

/// A line of a breakdown.
pub struct BreakdownLine {
    /// Begin, since the release.
    pub at: Nanos,
    /// Length.
    pub length: Nanos,
    /// How many threads wait for this one.
    pub depth: usize,
    /// The thread.
    pub thread: String,
    /// What it did. A line that has lines below it is their sum.
    pub words: String,
    /// It has lines below it.
    pub is_sum: bool,
}

/// All parts, and the sums of those in which a thread waited for another.
pub fn lines(cycle: &ExplainedCycle, names: FunctionNames<'_>) -> Vec<BreakdownLine> {
    let mut lines = Vec::new();
    add(&mut lines, &cycle.parts, 0, cycle.times.release, names);
    lines
}

fn add(lines: &mut Vec<BreakdownLine>, parts: &[Part], depth: usize, release: Nanos, names: FunctionNames<'_>) {
    let mut rest = parts;
    while let Some(first) = rest.first() {
        let Some(blocked) = first.cause.via.get(depth) else {
            lines.push(BreakdownLine {
                at: first.from.saturating_sub(release),
                length: first.to.saturating_sub(first.from),
                depth,
                thread: first.cause.thread.comm.to_string(),
                words: doing(&first.cause.what, names),
                is_sum: false,
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
            at: first.from.saturating_sub(release),
            length: end.saturating_sub(first.from),
            depth,
            thread: blocked.thread.comm.to_string(),
            words: format!("{} {}", waits(blocked), thread(next)),
            is_sum: true,
        });
        add(lines, within, depth + 1, release, names);
        rest = after;
    }
}

fn waits(blocked: &BlockedThread) -> String {
    let call = blocked.call.map(|call| format!(" in {call}")).unwrap_or_default();
    match blocked.on_lock {
        true => format!("waited{call} for a lock of the kernel, held by"),
        false => format!("waited{call} for"),
    }
}
