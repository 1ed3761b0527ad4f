//! Idle states, frequencies and steal.

use super::*;

impl Trace {
    /// The same as `sleeps` of the CPU's idle state, which the timer's interrupt ends if `halts`; otherwise it is left before.
    fn sleeps_in_state(self, at: u64, due: u64, halts: bool) -> Trace {
        let sleeping = self
            .call(at, Sysno::clock_nanosleep, [1, 1, 0, 0])
            .push(
                at + 1,
                TracedChange::TimerSet {
                    timer: 0xdead,
                    function: 0xf00,
                    earliest: Nanos(due),
                    latest: Nanos(due),
                },
            )
            .switch(at + 2, 0, true)
            .push(at + 3, TracedChange::IdleState { state: Some(2) });
        let left = TracedChange::IdleState { state: None };
        let woken = match halts {
            true => sleeping.timer(due + 10).push(due + 16, left),
            false => sleeping.push(due + 6, left).timer(due + 10),
        };
        woken
            .switch(due + 20, CTL, false)
            .returns(due + 30, Sysno::clock_nanosleep)
    }
}

fn named() -> FollowRequest {
    FollowRequest {
        deadline: Some(Nanos(100)),
        idle_states: BTreeMap::from([(0, ["POLL", "C1", "C6"].map(ShortName::from).to_vec())]),
        ..FollowRequest::default()
    }
}

fn in_idle_states(halts: bool) -> Vec<(u64, String)> {
    let mut trace = Trace::new(named()).switch(500, CTL, false);
    for nth in 1..=12_u64 {
        trace = trace.sleeps_in_state(nth * 1_000 - 400, nth * 1_000, halts);
    }
    let followed = trace.call(12_600, Sysno::clock_nanosleep, [1, 1, 0, 0]).finish();
    adds_up(&followed);
    let cycle = &followed.slowest[0];
    let told = cycle
        .parts
        .iter()
        .map(|part| (part.to.0 - part.from.0, said(&part.cause)));
    told.collect()
}

const LATE: &str = "ctl waited for its timer's interrupt, which came late";

#[test]
fn a_timer_that_comes_late_is_its_cpus_idle_state_as_long_as_it_was_in_it() {
    let parts = in_idle_states(false);
    assert_eq!(parts[0], (6, format!("{LATE}: its CPU was in idle state 2 (C6)")));
    assert_eq!(parts[1], (4, LATE.to_string()));
}

#[test]
fn an_interrupt_ends_the_idle_state() {
    let parts = in_idle_states(true);
    assert_eq!(parts[0], (10, format!("{LATE}: its CPU was in idle state 2 (C6)")));
    let after = "ctl was ready while its CPU came back from idle";
    assert!(parts.iter().any(|(_, part)| part == after), "{parts:?}");
    assert!(
        !parts.iter().any(|(_, part)| part.contains("left idle state")),
        "{parts:?}"
    );
}

#[test]
fn who_is_woken_on_a_cpu_that_idles_waits_until_it_has_left_that_state() {
    let followed = cycles(named(), |trace, at| {
        let trace = trace
            .call(at, Sysno::futex, MUTEX)
            .switch(at + 10, 0, true)
            .push(at + 20, TracedChange::IdleState { state: Some(2) })
            .on(1)
            .switch(at + 30, LOGGER, false)
            .wakes(at + 100, CTL)
            .on(0)
            .push(at + 180, TracedChange::IdleState { state: None })
            .switch(at + 190, CTL, false);
        (trace.returns(at + 200, Sysno::futex), at + 210)
    });
    adds_up(&followed);
    let parts = &followed.slowest[0].parts;
    let of = |words: &str| parts.iter().find(|part| said(&part.cause) == words);
    let left = of("ctl was ready while its CPU left idle state 2 (C6)").unwrap();
    assert_eq!(left.to.0 - left.from.0, 80);
    let back = parts.iter().find(|part| part.from == left.to).unwrap();
    assert_eq!(said(&back.cause), "ctl was ready while its CPU came back from idle");
    let advised = advice(&left.cause).unwrap();
    assert!(advised.contains("/dev/cpu_dma_latency"), "{advised}");
}

/// A late cycle in which this happens.
fn with(change: impl Fn(Trace, u64) -> Trace) -> Followed {
    cycles(named(), |trace, at| (change(trace, at), at + 300))
}

#[test]
fn steal_within_a_cycle_is_told_and_no_part_of_it() {
    let stolen = |trace: Trace, at: u64| {
        let until = Nanos(at + 100);
        trace.push(at, TracedChange::Stolen { until, time: Nanos(50) })
    };
    let followed = with(stolen);
    adds_up(&followed);
    let late = &followed.slowest[0];
    let StolenTime { cpu, from, to, time } = match &late.notes[..] {
        [CpuNote::Stolen(stolen)] => *stolen,
        other => panic!("{other:?}"),
    };
    assert_eq!((cpu, to.0 - from.0, time), (0, 100, Nanos(50)));
    assert_eq!(followed.slowest[1].notes, [], "another cycle has nothing of it");
    assert_eq!((followed.noted.stolen, followed.noted.slowed), (1, 0));
    let without = with(|trace, _| trace);
    assert_eq!(without.slowest[0].parts, late.parts);
}

#[test]
fn steal_of_another_cpu_does_not_matter() {
    let stolen = |trace: Trace, at: u64| {
        let until = Nanos(at + 100);
        let there = trace.on(1).push(at, TracedChange::Stolen { until, time: Nanos(50) });
        there.on(0)
    };
    assert_eq!(with(stolen).slowest[0].notes, []);
}

#[test]
fn a_cycle_below_the_highest_frequency_says_so_and_one_at_it_does_not() {
    let followed = with(|trace, at| {
        trace
            .push(at, TracedChange::Frequency { cpu: 0, khz: 2_400 })
            .push(at + 100, TracedChange::Frequency { cpu: 0, khz: 800 })
            .push(at + 200, TracedChange::Frequency { cpu: 0, khz: 2_400 })
    });
    adds_up(&followed);
    let late = &followed.slowest[0];
    let CpuNote::Frequencies { cpu: 0, steps } = &late.notes[0] else {
        panic!("{:?}", late.notes);
    };
    let begin = steps[0].0;
    let steps: Vec<_> = steps.iter().map(|(at, khz)| (at.0 - begin.0, *khz)).collect();
    assert_eq!(steps, [(0, 2_400), (100, 800), (200, 2_400)]);
    assert_eq!(followed.slowest[1].notes, []);
    assert_eq!((followed.noted.stolen, followed.noted.slowed), (0, 1));
}
