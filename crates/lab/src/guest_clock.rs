//! The guest's clock in a replayed window: which instruction ran at which instant of CLOCK_MONOTONIC.
//!
//! Each event of the guest's trace has read the clock, and the instruction that did so is in the window. Between two stretches
//! in which the CPU idles an instruction takes as long as every other, so one offset holds from one idle stretch to the next;
//! the trace's instants and the instructions' counts tell it, and most of them must agree on it.
//!
//! ```text
//! timer interrupts  in the plugin's events by count, in the trace by time -> where the window is, roughly
//! clock reads       in the window by count, in the trace by time          -> an offset for each stretch without idling
//! ```

mod search;
#[cfg(test)]
mod tests;
mod window;

use crate::execution::Execution;
use search::Search;
use std::ops::Range;
use worstcase_contract::{Instructions, Nanos};

/// From the first instruction of the timer's interrupt to the clock read of its trace event, at most.
const ENTRY: u64 = 5_000;

/// What a timer interrupt's count may differ from what the trace lets expect, because of the way into idling and out of it.
const WAY_TO_IDLE: u64 = 20_000;

/// A timer interrupt, by count and by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerAnchor {
    pub(crate) count: u64,
    pub(crate) at: Nanos,
}

/// An event of the trace on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockEvent {
    pub(crate) at: Nanos,
    pub(crate) is_timer: bool,
    /// The CPU goes over to the idle thread.
    pub(crate) is_idle: bool,
}

/// The trace's timer interrupts by count: those of the plugin's events, of which the trace has seen some that follow each other.
/// None if no place of the trace among them fits.
pub(crate) fn anchors(entries: &[Instructions], events: &[ClockEvent], shift: u32) -> Option<Vec<TimerAnchor>> {
    let timers = busy_until(events);
    let spare = entries.len().checked_sub(timers.len())?;
    let off = |first: usize| {
        let own = &entries[first..first + timers.len()];
        let steps = own.iter().zip(own.iter().skip(1)).map(|(a, b)| b.0 - a.0);
        let busy = timers
            .iter()
            .zip(timers.iter().skip(1))
            .map(|(a, b)| (b.1 - a.1) >> shift);
        let off = |(step, busy): (u64, u64)| step.abs_diff(busy).min(WAY_TO_IDLE);
        steps.zip(busy).map(off).sum::<u64>()
    };
    let first = (0..=spare).min_by_key(|first| off(*first))?;
    let anchor = |(entry, (at, _)): (&Instructions, &(Nanos, u64))| TimerAnchor {
        count: entry.0,
        at: *at,
    };
    Some(entries[first..].iter().zip(&timers).map(anchor).collect())
}

/// Each timer interrupt of the trace, and for how long the CPU was busy until then.
fn busy_until(events: &[ClockEvent]) -> Vec<(Nanos, u64)> {
    let (mut timers, mut busy) = (Vec::new(), 0);
    let mut before: Option<&ClockEvent> = None;
    for event in events {
        if let Some(before) = before.filter(|before| !before.is_idle) {
            busy += event.at.0 - before.at.0;
        }
        if event.is_timer {
            timers.push((event.at, busy));
        }
        before = Some(event);
    }
    timers
}

/// The counts between which an instant lies, by the timer interrupts around it.
pub(crate) fn roughly(anchors: &[TimerAnchor], at: Nanos, shift: u32) -> Option<Range<u64>> {
    let after = anchors.partition_point(|anchor| anchor.at <= at);
    let since = |anchor: &TimerAnchor| anchor.count + ((at.0 - anchor.at.0) >> shift);
    let until = |anchor: &TimerAnchor| anchor.count.saturating_sub((anchor.at.0 - at.0) >> shift);
    let (low, high) = match (anchors[..after].last(), anchors.get(after)) {
        (Some(before), Some(next)) => (before.count.max(until(next)), since(before).min(next.count)),
        (Some(before), None) => (before.count, since(before)),
        (None, Some(next)) => (until(next), next.count),
        (None, None) => return None,
    };
    // The events' own clock reads come later than the interrupts that they tell of.
    Some(low.min(high)..low.max(high))
}

/// An instant, and how many instructions the CPU had completed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClockPoint {
    at: Nanos,
    count: u64,
}

/// Instructions that follow each other without idling between them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BusyStretch {
    counts: Range<u64>,
    /// The counts at which the kernel has read the clock.
    reads: Vec<u64>,
    points: Vec<ClockPoint>,
}

/// The guest's clock in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestClock {
    /// In order; each has at least one point.
    stretches: Vec<BusyStretch>,
    shift: u32,
}

impl GuestClock {
    /// Finds the events of the trace in the window.
    pub(crate) fn of(execution: &Execution, events: &[ClockEvent], anchors: &[TimerAnchor]) -> GuestClock {
        let mut clock = GuestClock {
            stretches: window::busy_stretches(execution),
            shift: execution.shift,
        };
        let mut last = None;
        for stretch in &mut clock.stretches {
            let next = events.partition_point(|event| Some(event.at) <= last);
            let found = Search {
                reads: &stretch.reads,
                events,
                shift: clock.shift,
            };
            stretch.points = found.points(next, anchors, &stretch.counts);
            last = stretch.points.last().map(|point| point.at).or(last);
        }
        clock.stretches.retain(|stretch| !stretch.points.is_empty());
        clock
    }

    /// Whether the event at this instant was found.
    pub(crate) fn knows(&self, at: Nanos) -> bool {
        let stretch = self.stretches.partition_point(|own| own.points[0].at <= at);
        let stretch = stretch.checked_sub(1).map(|place| &self.stretches[place]);
        stretch.is_some_and(|own| own.points.binary_search_by_key(&at, |point| point.at).is_ok())
    }

    /// The instructions that were completed at an instant; while the CPU idled, those before that.
    pub fn count_at(&self, at: Nanos) -> u64 {
        let after = self.stretches.partition_point(|own| own.points[0].at <= at);
        let before = after.checked_sub(1).map(|place| &self.stretches[place]);
        let next = self.stretches.get(after);
        let begun = next.map_or(0, |next| {
            let first = next.points[0];
            first.count.saturating_sub((first.at.0 - at.0) >> self.shift)
        });
        let Some(before) = before else { return begun };
        if next.is_some_and(|next| begun > next.counts.start) {
            return begun;
        }
        let place = before.points.partition_point(|point| point.at <= at) - 1;
        let known = before.points[place];
        let end = before
            .points
            .get(place + 1)
            .map_or(before.counts.end, |next| next.count);
        end.min(known.count + ((at.0 - known.at.0) >> self.shift))
    }

    /// The instant at which so many instructions were completed; none where that is not known.
    pub fn time_of(&self, count: u64) -> Option<Nanos> {
        // What ends an idle stretch comes behind it; only the last stretch ends with itself.
        let place = self.stretches.partition_point(|own| own.counts.end <= count);
        let own = self.stretches.get(place.min(self.stretches.len().checked_sub(1)?))?;
        if count < own.counts.start || count > own.counts.end {
            return None;
        }
        let after = own.points.partition_point(|point| point.count <= count);
        Some(match after.checked_sub(1) {
            Some(before) => {
                let before = own.points[before];
                let at = before.at.0 + ((count - before.count) << self.shift);
                Nanos(own.points.get(after).map_or(at, |next| at.min(next.at.0)))
            }
            None => {
                let first = own.points[0];
                first.at.saturating_sub(Nanos((first.count - count) << self.shift))
            }
        })
    }
}
