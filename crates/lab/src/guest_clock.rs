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

use crate::execution::{Block, Execution};
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
            stretches: busy_stretches(execution),
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

/// The reads of one stretch, and the events of the trace.
struct Search<'a> {
    reads: &'a [u64],
    events: &'a [ClockEvent],
    shift: u32,
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
    fn points(&self, next: usize, anchors: &[TimerAnchor], counts: &Range<u64>) -> Vec<ClockPoint> {
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
        let off = 1 + (1 + away / Self::DRIFT >> self.shift);
        let first = self.reads.partition_point(|read| read + 1 + off < expected);
        let near = self.reads[first..]
            .iter()
            .take_while(|read| **read + 1 <= expected + off);
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

/// The window, cut where the CPU idled.
fn busy_stretches(execution: &Execution) -> Vec<BusyStretch> {
    let Some(first) = execution.steps.first() else {
        return Vec::new();
    };
    let codes: Vec<Vec<(usize, ClockCode)>> = execution.blocks.iter().map(clock_codes).collect();
    let (mut stretches, mut from, mut reads) = (Vec::new(), first.count.0, Vec::new());
    let mut end = |to: u64, reads: &mut Vec<u64>| {
        stretches.push(BusyStretch {
            counts: std::mem::replace(&mut from, to)..to,
            reads: std::mem::take(reads),
            points: Vec::new(),
        });
    };
    for (number, step) in execution.steps.iter().enumerate() {
        let span = execution.span(number);
        for (place, code) in &codes[step.block as usize] {
            let count = span.start + *place as u64;
            match code {
                _ if count >= span.end => break,
                ClockCode::Read => reads.push(count),
                ClockCode::Halt => end(count + 1, &mut reads),
            }
        }
    }
    end(execution.end.0, &mut reads);
    stretches
}

/// An instruction that has to do with the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClockCode {
    /// `rdtsc`, `rdtscp`.
    Read,
    /// `hlt`: the CPU idles until an interrupt comes.
    Halt,
}

/// Those of a block of the kernel, by the instruction's number.
fn clock_codes(block: &Block) -> Vec<(usize, ClockCode)> {
    if block.address >> 63 == 0 {
        return Vec::new();
    }
    let mut at = 0;
    let code = |(number, length): (usize, &u8)| {
        let begin = at;
        at += usize::from(*length);
        let code = match block.code.get(begin..at)? {
            [0x0f, 0x31] | [0x0f, 0x01, 0xf9] => ClockCode::Read,
            [0xf4] => ClockCode::Halt,
            _ => return None,
        };
        Some((number, code))
    };
    block.lengths.iter().enumerate().filter_map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::Step;

    const KERNEL: u64 = 0xffff_ffff_8100_0000;
    /// What the guest's clock is ahead of the count, before the CPU idles and after.
    const AHEAD: u64 = 5_000_000_000;
    const IDLE: u64 = 40_000;

    fn event(at: u64, is_timer: bool, is_idle: bool) -> ClockEvent {
        ClockEvent {
            at: Nanos(at),
            is_timer,
            is_idle,
        }
    }

    /// Reads of the clock at these counts, `hlt` at 20 000, and nothing else that matters.
    fn window(reads: &[u64]) -> Execution {
        let block = |code: &[u8]| Block {
            address: KERNEL,
            lengths: vec![code.len() as u8],
            code: code.to_vec(),
        };
        let blocks = vec![block(&[0x90]), block(&[0x0f, 0x31]), block(&[0xf4])];
        let mut steps: Vec<(u64, u32)> = reads.iter().flat_map(|at| [(*at, 1), (at + 1, 0)]).collect();
        steps.extend([(10_000, 0), (19_999, 2), (20_000, 0)]);
        steps.sort_unstable();
        let step = |(count, block): (u64, u32)| Step {
            block,
            count: Instructions(count),
        };
        Execution {
            blocks,
            steps: steps.into_iter().map(step).collect(),
            end: Instructions(40_000),
            tasks: Vec::new(),
            contexts: Vec::new(),
            elsewhere: Vec::new(),
            lock_writes: Vec::new(),
            due: Instructions(10_000),
            timer_entry: None,
            sample: Instructions(40_000),
            latency: Nanos(30_000),
            shift: 0,
        }
    }

    /// Each event has read the clock; so have others, behind them.
    fn clock() -> GuestClock {
        let (before, after) = ([11_000, 12_100, 13_500, 15_000], [20_400, 21_700, 23_900, 30_000]);
        let also = |at: &u64| [*at, at + 300, at + 500 + at % 7 * 37];
        let reads: Vec<u64> = before.iter().chain(&after).flat_map(also).collect();
        let of = |at: &u64, idle| event(at + 1 + AHEAD + idle, *at == 11_000 || *at == 20_400, false);
        let events: Vec<ClockEvent> = before
            .iter()
            .map(|at| of(at, 0))
            .chain(after.iter().map(|at| of(at, IDLE)))
            .collect();
        let anchors = [10_700, 20_000].map(|count| TimerAnchor {
            count,
            at: events[usize::from(count == 20_000) * 4].at,
        });
        let clock = GuestClock::of(&window(&reads), &events, &anchors);
        assert!(events.iter().all(|event| clock.knows(event.at)), "{clock:?}");
        clock
    }

    #[test]
    fn an_instant_is_an_instruction_and_time_without_any_is_idle() {
        let clock = clock();
        assert_eq!(clock.count_at(Nanos(AHEAD + 12_345)), 12_345);
        // From the halt on until the interrupt comes nothing runs.
        for idle in [20_000, 25_000, 60_000] {
            assert_eq!(clock.count_at(Nanos(AHEAD + idle)), 20_000);
        }
        assert_eq!(clock.count_at(Nanos(AHEAD + IDLE + 20_200)), 20_200);
        assert_eq!(clock.count_at(Nanos(AHEAD + IDLE + 29_000)), 29_000);
        assert_eq!(clock.count_at(Nanos(AHEAD + 10_500)), 10_500);
    }

    #[test]
    fn an_instruction_has_its_instant() {
        let clock = clock();
        for (count, at) in [
            (10_500, 10_500),
            (19_000, 19_000),
            (20_000, IDLE + 20_000),
            (35_000, IDLE + 35_000),
            (40_000, IDLE + 40_000),
        ] {
            assert_eq!(clock.time_of(count), Some(Nanos(AHEAD + at)), "{count}");
        }
        assert_eq!(clock.time_of(50_000), None);
    }

    #[test]
    fn what_is_not_in_the_window_is_not_found() {
        let events: Vec<ClockEvent> = (1..9).map(|at| event(AHEAD + at * 1_237, at == 1, false)).collect();
        let anchors = [TimerAnchor {
            count: 10_700,
            at: events[0].at,
        }];
        let clock = GuestClock::of(&window(&[11_000, 11_900, 17_000]), &events, &anchors);
        assert!(events.iter().all(|event| !clock.knows(event.at)), "{clock:?}");
    }

    /// The plugin sees timer interrupts before the trace begins and after it ended.
    #[test]
    fn the_traces_interrupts_are_found_among_all() {
        let busy = [30_000, 71_000, 30_500, 44_000];
        let mut count = 5_000;
        let entries: Vec<Instructions> = [9_000, 52_000]
            .iter()
            .chain(&busy)
            .chain(&[61_000])
            .map(|step| {
                count += step;
                Instructions(count)
            })
            .collect();
        // Each interrupt of the trace, and when the CPU idles behind it: the way there and back is not in the trace.
        let mut events = Vec::new();
        for (number, step) in busy.iter().enumerate() {
            let at = number as u64 * 1_000_000;
            events.extend([event(at, true, false)]);
            if let Some(next) = busy.get(number + 1) {
                events.push(event(at + next - 1_500, false, true));
            }
            assert!(*step < 1_000_000);
        }
        let found = anchors(&entries, &events, 0).unwrap();
        let counts: Vec<u64> = found.iter().map(|anchor| anchor.count).collect();
        assert_eq!(counts, entries[2..6].iter().map(|entry| entry.0).collect::<Vec<_>>());
        let within = roughly(&found, Nanos(500_000), 0).unwrap();
        assert!(counts[0] <= within.start && within.end <= counts[1], "{within:?}");
        assert!(anchors(&entries[..2], &events, 0).is_none());
    }
}
