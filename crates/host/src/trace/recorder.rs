//! Trace recorder: keeps the last events of each CPU, and the events around the latest samples.

use super::events::{CpuEvent, TracedChange};
use super::parts::{AskedSample, LatenessParts};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use worstcase_contract::Nanos;

/// Limit for the recent events of a CPU, however short the time.
const KEPT: usize = 1 << 15;

/// A recorded event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedEvent {
    /// When it happened.
    pub at: Nanos,
    /// The CPU on which it happened.
    pub cpu: u32,
    /// The thread that ran.
    pub tid: u32,
    /// What happened.
    pub what: TracedChange,
    /// The kernel's call chain, innermost first.
    pub chain: Vec<u64>,
}

impl RecordedEvent {
    pub(super) fn of(event: &CpuEvent<'_>) -> RecordedEvent {
        RecordedEvent {
            at: event.at,
            cpu: event.cpu,
            tid: event.tid,
            what: event.what,
            chain: event.chain.to_vec(),
        }
    }

    /// The event as it was fed.
    pub fn event(&self) -> CpuEvent<'_> {
        CpuEvent {
            at: self.at,
            cpu: self.cpu,
            tid: self.tid,
            what: self.what,
            chain: &self.chain,
        }
    }
}

/// The events around one sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSnapshot {
    /// Index of the sample.
    pub index: u64,
    /// The sample.
    pub ask: AskedSample,
    /// Its parts.
    pub parts: LatenessParts,
    /// Events of the sample's CPU from the margin before the due time on, and the probe's wake-ups on other CPUs; in
    /// order of time.
    pub events: Vec<RecordedEvent>,
}

impl EventSnapshot {
    /// How late the sample was.
    pub fn latency(&self) -> Nanos {
        self.ask.now.saturating_sub(self.ask.due)
    }
}

/// Keeps the snapshots of the latest samples.
#[derive(Debug)]
pub struct EventRecorder {
    window: Nanos,
    margin: Nanos,
    keep: usize,
    recent: HashMap<u32, VecDeque<RecordedEvent>>,
    kept: Vec<EventSnapshot>,
}

impl EventRecorder {
    /// Remembers events for `window`; keeps `keep` snapshots, each from `margin` before its due time on.
    pub fn new(window: Nanos, margin: Nanos, keep: usize) -> EventRecorder {
        EventRecorder {
            window,
            margin,
            keep,
            recent: HashMap::new(),
            kept: Vec::new(),
        }
    }

    /// Takes the next event; each CPU's events come in order of time.
    pub fn feed(&mut self, event: &CpuEvent<'_>) {
        let recent = self.recent.entry(event.cpu).or_default();
        recent.push_back(RecordedEvent::of(event));
        let oldest = event.at.saturating_sub(self.window);
        while recent.len() > KEPT || recent.front().is_some_and(|first| first.at < oldest) {
            recent.pop_front();
        }
    }

    /// Whether a sample with this latency would be kept; cheap enough to ask for every sample.
    pub(crate) fn is_wanted(&self, latency: Nanos) -> bool {
        self.kept.len() < self.keep || self.kept.last().is_some_and(|least| latency > least.latency())
    }

    /// Keeps the events around a sample, if it is one of the latest; says whether it was. All its events must have been
    /// fed before.
    pub fn keep(&mut self, index: u64, ask: &AskedSample, parts: LatenessParts) -> bool {
        let latency = ask.now.saturating_sub(ask.due);
        if !self.is_wanted(latency) {
            return false;
        }
        let place = self.kept.partition_point(|other| other.latency() >= latency);
        let snapshot = EventSnapshot {
            index,
            ask: *ask,
            parts,
            events: self.around(ask),
        };
        self.kept.insert(place, snapshot);
        self.kept.truncate(self.keep);
        true
    }

    /// Takes out the snapshots of samples before this index, the latest first.
    pub(crate) fn take_before(&mut self, index: u64) -> Vec<EventSnapshot> {
        let (before, rest) = std::mem::take(&mut self.kept)
            .into_iter()
            .partition(|s| s.index < index);
        self.kept = rest;
        before
    }

    fn around(&self, ask: &AskedSample) -> Vec<RecordedEvent> {
        let from = ask.due.saturating_sub(self.margin);
        let is_within = |event: &&RecordedEvent| event.at >= from && event.at <= ask.now;
        let is_own = |event: &&RecordedEvent| {
            event.cpu == ask.cpu || matches!(event.what, TracedChange::Waking { tid } if tid == ask.tid)
        };
        let all = self.recent.values().flatten();
        let mut events: Vec<RecordedEvent> = all.filter(is_within).filter(is_own).cloned().collect();
        // The last event before the window, which names the thread that ran when it begins.
        let own = self.recent.get(&ask.cpu).into_iter().flatten();
        let mut before = own.rev().skip_while(|event| event.at >= from);
        events.extend(
            before
                .find(|event| matches!(event.what, TracedChange::Switch { .. }))
                .cloned(),
        );
        // A stable sort keeps the order of one CPU's events.
        events.sort_by_key(|event| event.at);
        events
    }

    /// The snapshots, the latest sample first.
    pub fn snapshots(&self) -> &[EventSnapshot] {
        &self.kept
    }

    /// The snapshots, by value.
    pub(crate) fn into_snapshots(self) -> Vec<EventSnapshot> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::events::{CpuContext, TracedThread};

    fn event(cpu: u32, at: u64, what: TracedChange) -> CpuEvent<'static> {
        CpuEvent {
            at: Nanos(at),
            cpu,
            tid: 0,
            what,
            chain: &[0xffff_8000],
        }
    }

    fn ask(due: u64, now: u64) -> AskedSample {
        AskedSample {
            cpu: 0,
            tid: 7,
            due: Nanos(due),
            now: Nanos(now),
        }
    }

    #[test]
    fn the_latest_are_kept_with_what_belongs_to_them() {
        let mut recorder = EventRecorder::new(Nanos(10_000), Nanos(100), 2);
        let switch = TracedChange::Switch {
            from: TracedThread::default(),
            asleep: true,
            to: TracedThread::default(),
        };
        let timer = TracedChange::Enter(CpuContext::Timer);
        for e in [
            event(1, 950, timer),
            event(1, 1_020, TracedChange::Waking { tid: 7 }),
            event(0, 10, switch),
            event(0, 20, switch),
            event(0, 890, timer),
            event(0, 910, timer),
            event(0, 1_050, timer),
            event(0, 1_200, timer),
        ] {
            recorder.feed(&e);
        }
        let late = |n| LatenessParts::unexplained(Nanos(n));
        assert!(recorder.keep(3, &ask(1_000, 1_100), late(100)));
        assert!(recorder.keep(4, &ask(1_000, 1_050), late(50)));
        assert!(!recorder.keep(5, &ask(1_000, 1_050), late(50)));
        assert!(recorder.keep(6, &ask(1_000, 1_070), late(70)));
        let kept = recorder.into_snapshots();
        assert_eq!(kept.iter().map(|s| s.index).collect::<Vec<_>>(), [3, 6]);
        let at: Vec<u64> = kept[0].events.iter().map(|e| e.at.0).collect();
        assert_eq!(at, [20, 910, 1_020, 1_050]);
        let message = postcard::to_stdvec(&kept).unwrap();
        assert_eq!(postcard::from_bytes::<Vec<EventSnapshot>>(&message).unwrap(), kept);
        let json = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Vec<EventSnapshot>>(&json).unwrap(), kept);
    }

    #[test]
    fn those_before_a_sample_are_handed_over_once() {
        let mut recorder = EventRecorder::new(Nanos(10_000), Nanos(100), 3);
        for (index, late) in [(3, 100), (4, 900), (5, 400)] {
            assert!(recorder.keep(
                index,
                &ask(1_000, 1_000 + late),
                LatenessParts::unexplained(Nanos(late))
            ));
        }
        let numbers = |kept: Vec<EventSnapshot>| kept.iter().map(|s| s.index).collect::<Vec<_>>();
        assert_eq!(numbers(recorder.take_before(5)), [4, 3]);
        assert_eq!(numbers(recorder.take_before(5)), [] as [u64; 0]);
        assert_eq!(numbers(recorder.into_snapshots()), [5]);
    }

    #[test]
    fn old_events_are_forgotten() {
        let mut recorder = EventRecorder::new(Nanos(1_000), Nanos(100), 1);
        for n in 0..100_000u64 {
            recorder.feed(&event(0, n, TracedChange::Waking { tid: 7 }));
        }
        assert_eq!(recorder.recent[&0].len(), 1_001);
    }
}
