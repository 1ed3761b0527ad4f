//! Finds the events of the trace among the clock reads of a stretch.

use super::{ClockEvent, ClockPoint, ENTRY, TimerAnchor};
use std::ops::Range;
use worstcase_contract::Nanos;

/// The reads of one stretch, and the events of the trace.
pub(super) struct Search<'a> {
    pub(super) reads: &'a [u64],
    pub(super) events: &'a [ClockEvent],
    pub(super) shift: u32,
}

impl Search<'_> {
    /// Events that are looked at on each side to tell whether a place is right.
    const AROUND: usize = 12;
    /// Of these so many must be found.
    const LEAST: usize = 3;
    /// Clock reads after the begin of a stretch that may be its first event's.
    const FIRST: usize = 200;
    /// The guest's clock runs evenly with the machine's, and not quite as fast: 1 ns in 1 ms was seen.
    const DRIFT: u64 = 200_000;

    /// The events that were found, in order. `next` is the first event that can be in the stretch.
    pub(super) fn points(&self, next: usize, anchors: &[TimerAnchor], counts: &Range<u64>) -> Vec<ClockPoint> {
        let own = anchors.partition_point(|anchor| anchor.count < counts.start);
        let own = anchors[own..].iter().take_while(|anchor| anchor.count < counts.end);
        let mut seeds: Vec<(usize, &[u64])> = own
            .map(|anchor| {
                let event = self.events.partition_point(|event| event.at < anchor.at);
                let first = self.reads.partition_point(|read| *read < anchor.count);
                let last = self.reads.partition_point(|read| *read < anchor.count + ENTRY);
                (event, &self.reads[first..last])
            })
            .collect();
        if seeds.is_empty() {
            seeds.push((next, &self.reads[..self.reads.len().min(Self::FIRST)]));
        }
        let places = seeds
            .into_iter()
            .filter(|(event, _)| *event < self.events.len())
            .flat_map(|(event, reads)| reads.iter().map(move |read| (event, *read)));
        let places: Vec<(usize, u64)> = places.collect();
        // Of equally good ones the first: the interrupt's own event comes before others.
        let best = places
            .iter()
            .rev()
            .max_by_key(|(event, read)| self.around(*event, *read));
        match best.copied() {
            Some((event, read)) if self.around(event, read) >= Self::LEAST => self.extend(event, read, next),
            _ => Vec::new(),
        }
    }

    /// How many of the events around one are found if that one is this read.
    fn around(&self, event: usize, read: u64) -> usize {
        let range = event.saturating_sub(Self::AROUND)..(event + Self::AROUND).min(self.events.len());
        let at = self.events[event].at;
        let point = ClockPoint { at, count: read + 1 };
        self.events[range]
            .iter()
            .filter(|other| self.find(point, other.at).is_some())
            .count()
    }

    /// The read of the event at `at`, seen from a point that is known.
    fn find(&self, known: ClockPoint, at: Nanos) -> Option<ClockPoint> {
        let away = at.0.abs_diff(known.at.0);
        let expected = match at >= known.at {
            true => known.count + (away >> self.shift),
            false => known.count.checked_sub(away >> self.shift)?,
        };
        let off = 1 + ((1 + away / Self::DRIFT) >> self.shift);
        let first = self.reads.partition_point(|read| read + 1 + off < expected);
        let near = self.reads[first..].iter().take_while(|read| **read < expected + off);
        let nearest = near.min_by_key(|read| (**read + 1).abs_diff(expected))?;
        Some(ClockPoint { at, count: nearest + 1 })
    }

    /// All events of the stretch, from one on in both directions.
    fn extend(&self, event: usize, read: u64, next: usize) -> Vec<ClockPoint> {
        let seed = ClockPoint {
            at: self.events[event].at,
            count: read + 1,
        };
        let last = self.reads.last().map_or(0, |read| read + 1);
        let mut points = Vec::new();
        let mut known = seed;
        for other in self.events[next.min(event)..event].iter().rev() {
            if let Some(point) = self.find(known, other.at).filter(|point| point.count < known.count) {
                points.push(point);
                known = point;
            }
        }
        points.reverse();
        points.push(seed);
        known = seed;
        for other in &self.events[event + 1..] {
            if known.count + ((other.at.0 - known.at.0) >> self.shift) > last + ENTRY {
                break;
            }
            if let Some(point) = self.find(known, other.at).filter(|point| point.count > known.count) {
                points.push(point);
                known = point;
            }
        }
        points
    }
}
