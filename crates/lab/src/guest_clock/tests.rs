//! Clocks of windows that were made by hand.

use super::*;
use crate::execution::{Block, Step};

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
        costs: None,
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
