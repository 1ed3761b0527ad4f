use super::*;
use crate::trace::events::{CpuContext, TracedThread};
use proptest::prelude::*;

const PROBE: u32 = 7;

fn event(cpu: u32, at: u64, what: TracedChange) -> CpuEvent<'static> {
    CpuEvent {
        at: Nanos(at),
        cpu,
        tid: 0,
        what,
        chain: &[],
    }
}

fn thread(tid: u32) -> TracedThread {
    TracedThread {
        tid,
        ..TracedThread::default()
    }
}

fn switch(from: u32, asleep: bool, to: u32) -> TracedChange {
    TracedChange::Switch {
        from: thread(from),
        asleep,
        to: thread(to),
    }
}

const ENTER: TracedChange = TracedChange::Enter(CpuContext::Timer);
const EXIT: TracedChange = TracedChange::Exit(CpuContext::Timer);
const WAKING: TracedChange = TracedChange::Waking { tid: PROBE };

/// Splits a sample on CPU 0 that was due at 1000 and taken at 1100; events are (CPU, instant, change).
fn parts(events: &[(u32, u64, TracedChange)]) -> [u64; 5] {
    parts_of(events, 1_000, 1_100)
}

fn parts_of(events: &[(u32, u64, TracedChange)], due: u64, now: u64) -> [u64; 5] {
    let mut splitter = Splitter::new(&[PROBE]);
    for (cpu, at, what) in events {
        splitter.feed(&event(*cpu, *at, *what));
    }
    let parts = splitter.split(&AskedSample {
        cpu: 0,
        tid: PROBE,
        due: Nanos(due),
        now: Nanos(now),
    });
    assert_eq!(parts.sum(), Nanos(now.saturating_sub(due)));
    let LatenessParts {
        irq_latency,
        handler,
        scheduling,
        return_to_user,
        unexplained,
    } = parts;
    [irq_latency, handler, scheduling, return_to_user, unexplained].map(|n| n.0)
}

const SLEEPS: (u32, u64, TracedChange) = (
    0,
    500,
    TracedChange::Switch {
        from: TracedThread {
            tid: PROBE,
            priority: 0,
            comm: crate::trace::events::ShortName::EMPTY,
        },
        asleep: true,
        to: TracedThread {
            tid: 0,
            priority: 0,
            comm: crate::trace::events::ShortName::EMPTY,
        },
    },
);

#[test]
fn an_ordinary_wake_up() {
    let events = [
        SLEEPS,
        (0, 1_010, ENTER),
        (0, 1_030, WAKING),
        (0, 1_040, EXIT),
        (0, 1_060, switch(0, false, PROBE)),
    ];
    assert_eq!(parts(&events), [10, 20, 30, 40, 0]);
}

#[test]
fn an_interrupt_that_runs_when_the_timer_is_due() {
    let events = [
        SLEEPS,
        (0, 990, ENTER),
        (0, 1_030, WAKING),
        (0, 1_040, EXIT),
        (0, 1_060, switch(0, false, PROBE)),
    ];
    assert_eq!(parts(&events), [0, 30, 30, 40, 0]);
    let events = [
        SLEEPS,
        (0, 900, ENTER),
        (0, 1_005, EXIT),
        (0, 1_007, ENTER),
        (0, 1_030, WAKING),
        (0, 1_060, switch(0, false, PROBE)),
    ];
    assert_eq!(parts(&events), [7, 23, 30, 40, 0], "the next one wakes");
}

#[test]
fn the_timer_fires_on_another_cpu() {
    let other = [(1, 400, EXIT), (1, 1_010, ENTER), (1, 1_030, WAKING), (1, 1_040, EXIT)];
    let own = [SLEEPS, (0, 1_015, ENTER), (0, 1_060, switch(0, false, PROBE))];
    let one_way: Vec<_> = own.iter().chain(&other).copied().collect();
    let other_way: Vec<_> = other.iter().chain(&own).copied().collect();
    assert_eq!(parts(&one_way), [10, 20, 30, 40, 0]);
    assert_eq!(parts(&other_way), [10, 20, 30, 40, 0]);
    assert_eq!(parts(&own), [0, 0, 0, 40, 60], "that CPU is not traced");
}

#[test]
fn a_probe_that_had_not_gone_to_sleep() {
    let running = (0, 600, switch(0, false, PROBE));
    assert_eq!(parts(&[SLEEPS, running]), [0, 0, 0, 100, 0]);
    let race = [SLEEPS, running, (0, 1_010, ENTER), (0, 1_030, WAKING), (0, 1_040, EXIT)];
    assert_eq!(parts(&race), [0, 0, 0, 100, 0]);
    let sleeps_late = [
        SLEEPS,
        running,
        (0, 1_020, switch(PROBE, true, 0)),
        (0, 1_025, ENTER),
        (0, 1_030, WAKING),
        (0, 1_060, switch(0, false, PROBE)),
    ];
    assert_eq!(parts(&sleeps_late), [5, 5, 30, 60, 0]);
}

#[test]
fn preempted_on_its_way_and_waiting_for_a_lock() {
    let events = [
        SLEEPS,
        (0, 1_010, ENTER),
        (0, 1_020, WAKING),
        (0, 1_025, EXIT),
        (0, 1_030, switch(0, false, PROBE)),
        (0, 1_040, switch(PROBE, false, 9)),
        (0, 1_060, switch(9, false, PROBE)),
        (0, 1_070, switch(PROBE, true, 9)),
        (0, 1_075, WAKING),
        (0, 1_080, switch(9, true, PROBE)),
    ];
    assert_eq!(parts(&events), [10, 10, 40, 40, 0]);
}

#[test]
fn a_wake_up_before_the_due_time() {
    let events = [SLEEPS, (0, 900, WAKING), (0, 1_030, switch(9, false, PROBE))];
    assert_eq!(parts(&events), [0, 0, 30, 70, 0]);
}

#[test]
fn what_is_missing_is_not_guessed() {
    let lost = |since, at| TracedChange::Lost {
        since: Nanos(since),
        count: if at > 0 { 1 } else { 0 },
    };
    assert_eq!(parts(&[]), [0, 0, 0, 0, 100]);
    assert_eq!(parts(&[SLEEPS]), [0, 0, 0, 0, 100], "it cannot have run");
    let no_entry = [SLEEPS, (0, 1_030, WAKING), (0, 1_060, switch(0, false, PROBE))];
    assert_eq!(parts(&no_entry), [0, 0, 30, 40, 30]);
    let running = (0, 600, switch(0, false, PROBE));
    assert_eq!(parts(&[SLEEPS, running, (0, 1_200, lost(1_150, 1))]), [0, 0, 0, 100, 0]);
    assert_eq!(parts(&[SLEEPS, running, (0, 1_200, lost(600, 1))]), [0, 0, 0, 0, 100]);
    assert_eq!(parts(&[SLEEPS, (0, 700, lost(650, 1)), running]), [0, 0, 0, 0, 100]);
    assert_eq!(
        parts(&[running, (0, 1_010, switch(9, false, PROBE))]),
        [0, 0, 0, 0, 100],
        "in twice"
    );
}

#[test]
fn an_early_sample_has_no_parts() {
    assert_eq!(parts_of(&[SLEEPS], 1_000, 990), [0; 5]);
}

#[test]
fn what_was_forgotten_is_unexplained() {
    let mut events = Vec::new();
    for n in 0..3_000u64 {
        let at = n * 1_000;
        events.extend([
            (0, at + 500, switch(PROBE, true, 0)),
            (0, at + 1_010, ENTER),
            (0, at + 1_030, WAKING),
            (0, at + 1_040, EXIT),
            (0, at + 1_060, switch(0, false, PROBE)),
        ]);
    }
    assert_eq!(parts(&events), [0, 0, 0, 0, 100]);
    let last = 2_999 * 1_000;
    assert_eq!(parts_of(&events, last + 1_000, last + 1_100), [10, 20, 30, 40, 0]);
}

fn any_event() -> impl Strategy<Value = (u32, u64, TracedChange)> {
    let what = prop_oneof![
        3 => Just(ENTER),
        3 => Just(EXIT),
        3 => Just(WAKING),
        2 => Just(TracedChange::Waking { tid: 9 }),
        3 => Just(switch(0, false, PROBE)),
        2 => Just(switch(PROBE, true, 0)),
        1 => Just(switch(PROBE, false, 9)),
        1 => (0u64..2_000).prop_map(|since| TracedChange::Lost { since: Nanos(since), count: 1 }),
    ];
    (0u32..3, 0u64..2_000, what)
}

proptest! {
    /// `parts_of` asserts the sum.
    #[test]
    fn parts_of_any_stream_add_up(
        mut events in prop::collection::vec(any_event(), 0..60),
        due in 0u64..2_000,
        latency in 0u64..500,
        in_order in any::<bool>(),
    ) {
        if in_order {
            events.sort_by_key(|(_, at, _)| *at);
        }
        parts_of(&events, due, due + latency);
    }

    /// Wake-ups of known parts, on one CPU or with the timer on another, seen CPU by CPU; some events are lost.
    #[test]
    fn parts_are_those_that_were_made(
        samples in prop::collection::vec((0u64..50, 1u64..50, 1u64..50, 1u64..50, 0u32..2), 1..50),
        lost in prop::option::of((0usize..50, 0usize..5)),
    ) {
        let mut by_cpu: [Vec<(u32, u64, TracedChange)>; 2] = [vec![(0, 1, EXIT)], vec![(1, 1, EXIT)]];
        let mut losses = Vec::new();
        for (n, (irq, handler, scheduling, _, timer_cpu)) in samples.iter().enumerate() {
            let due = (n as u64 + 1) * 1_000;
            let woken = due + irq + handler;
            let all = [
                (0, due - 500, switch(PROBE, true, 0)),
                (*timer_cpu, due + irq, ENTER),
                (*timer_cpu, woken, WAKING),
                (*timer_cpu, woken, EXIT),
                (0, woken + scheduling, switch(0, false, PROBE)),
            ];
            for (i, (cpu, at, what)) in all.into_iter().enumerate() {
                let own = &mut by_cpu[cpu as usize];
                if lost == Some((n, i)) {
                    let since = own.last().map_or(Nanos(0), |(_, at, _)| Nanos(*at));
                    losses.push((cpu, since));
                    continue;
                }
                if let Some(at_loss) = losses.iter().position(|(of, _)| *of == cpu) {
                    let (_, since) = losses.remove(at_loss);
                    own.push((cpu, at, TracedChange::Lost { since, count: 1 }));
                }
                own.push((cpu, at, what));
            }
        }
        let events = by_cpu.concat();
        for (n, (irq, handler, scheduling, back, _)) in samples.iter().enumerate() {
            let due = (n as u64 + 1) * 1_000;
            let found = parts_of(&events, due, due + irq + handler + scheduling + back);
            let made = [*irq, *handler, *scheduling, *back, 0];
            let never_more = found[..4].iter().zip(&made).all(|(found, made)| found <= made);
            prop_assert!(never_more, "{:?} of {:?}", found, made);
            if lost.is_none() {
                prop_assert_eq!(found, made);
            }
        }
    }
}
