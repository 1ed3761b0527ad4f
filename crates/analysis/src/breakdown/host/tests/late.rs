//! Interrupts that come late: off, stopped, or not to be told.

use super::*;

/// A timer interrupt that comes 80 us late, at the innermost of these functions.
fn late_interrupt(inside: &[&str]) -> EventSnapshot {
    let load = thread(9, "load", 120);
    let events = [
        (-500_000, 7, switch(PROBE, true, load)),
        (80_600, 9, ENTER),
        (81_000, 9, WAKING),
        (81_500, 9, EXIT),
        (82_500, 9, switch(load, false, PROBE)),
    ];
    snapshot(&events, inside, 83_000)
}

const UNLOCKED: [&str; 3] = ["_raw_spin_unlock_irqrestore", "free_pages_bulk", "__x64_sys_munmap"];

#[test]
fn interrupts_off() {
    let breakdown = explained(&late_interrupt(&UNLOCKED), "full");
    assert_eq!(
        spans(&breakdown)[..2],
        [("interrupts off", 80_000), ("interrupt pending", 600)]
    );
    let cause = breakdown.cause();
    assert_eq!(
        cause.sentence,
        "80.0 of 83.0 us: interrupts were off for load (9) in munmap(2): the timer interrupt came right behind the instruction that lets them in, in free_pages_bulk (called by __x64_sys_munmap)."
    );
    assert!(cause.remedy.contains("PREEMPT_RT"), "{}", cause.remedy);
    let [rests_on] = breakdown.notes() else {
        panic!("{:?}", breakdown.notes())
    };
    assert!(rests_on.contains("right behind popf"), "{rests_on}");
    assert!(rests_on.contains("steal of this cell 0 us"), "{rests_on}");
}

#[test]
fn a_cpu_that_was_stopped_where_interrupts_were_on() {
    let snapshot = late_interrupt(&["free_pages_bulk", "__x64_sys_munmap"]);
    let breakdown = explained(&snapshot, "full");
    assert_eq!(spans(&breakdown)[0], ("unexplained", 80_000));
    let cause = breakdown.cause();
    assert_eq!(
        (cause.mechanism, cause.function.as_deref()),
        (Mechanism::Unexplained, None)
    );
    assert_eq!(
        cause.sentence,
        "80.0 of 83.0 us: the hypervisor stopped the CPU, or held its timer interrupt back: that came into free_pages_bulk (called by __x64_sys_munmap) for load (9), where interrupts were on."
    );
    assert!(cause.remedy.contains("pin its CPUs on the host"), "{}", cause.remedy);
    assert!(!cause.remedy.contains("PREEMPT_RT"), "{}", cause.remedy);
    let bare = RunStops {
        is_guest: Some(false),
        ..stops(0)
    };
    let cause = explained_in(&snapshot, "full", &kernel(), bare).cause().clone();
    assert!(
        cause.sentence.contains("the firmware stopped the CPU"),
        "{}",
        cause.sentence
    );
    assert!(cause.remedy.contains("SMI"), "{}", cause.remedy);
}

/// ktimers expires soft timers when a thread of higher priority takes the CPU from it; the probe has set its next timer before.
#[test]
fn what_runs_before_the_thread_that_arms_the_timer() {
    let (handler, ktimers) = (thread(14, "irq/14-ata", 49), thread(15, "ktimers/0", 98));
    let soft = CpuContext::Soft(8);
    let events = [
        (-500_000, 15, TracedChange::Enter(soft)),
        (-499_000, 15, switch(ktimers, false, PROBE)),
        (-200_000, 7, switch(PROBE, true, handler)),
        (70_000, 14, switch(handler, true, ktimers)),
        (80_000, 15, TracedChange::Exit(soft)),
        (80_600, 15, ENTER),
        (81_000, 15, WAKING),
        (81_500, 15, EXIT),
        (82_500, 15, switch(ktimers, false, PROBE)),
    ];
    let snapshot = snapshot(&events, &["free_pages_bulk"], 83_000);
    let breakdown = explained(&snapshot, "rt");
    assert_eq!(
        spans(&breakdown)[..3],
        [
            ("other thread", 70_000),
            ("soft interrupt", 10_000),
            ("interrupt pending", 600)
        ]
    );
    let cause = breakdown.cause();
    assert!(
        cause
            .sentence
            .starts_with("70.0 of 83.0 us: the real-time thread irq/14-ata (14), priority 50, ran first"),
        "{}",
        cause.sentence
    );
    assert!(cause.remedy.contains("ktimers"), "{}", cause.remedy);
    let [rests_on] = breakdown.notes() else {
        panic!("{:?}", breakdown.notes())
    };
    assert!(
        rests_on.starts_with("until +80.0 us the hardware was not armed for the probe's timer: ktimers/0 (15) arms it"),
        "{rests_on}"
    );
    let mut run = RunStops::default();
    add_stops(&mut run, &[snapshot], &ORDINARY, &kernel());
    assert_eq!((run.recordings, run.stops.len()), (1, 0), "no CPU was stopped");
}

/// The interrupt before was at other timers for 40 us, when the probe's became due; its own comes so long after that.
fn after_many_timers(comes_after: i64, inside: &[&str]) -> EventSnapshot {
    let load = thread(9, "load", 120);
    let entered = 30_000 + comes_after;
    let sample = u64::try_from(entered).unwrap() + 2_400;
    let events = [
        (-500_000, 7, switch(PROBE, true, load)),
        (-10_000, 9, ENTER),
        (30_000, 9, EXIT),
        (entered, 9, ENTER),
        (entered + 400, 9, WAKING),
        (entered + 900, 9, EXIT),
        (entered + 1_900, 9, switch(load, false, PROBE)),
    ];
    snapshot(&events, inside, sample)
}

#[test]
fn a_timer_is_put_off_for_as_long_as_the_interrupt_before_was_at_timers() {
    const OPEN: [&str; 1] = ["free_pages_bulk"];
    let put_off = after_many_timers(40_500, &OPEN);
    let breakdown = explained(&put_off, "full");
    let cause = breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::TimersHeldBack, "{:?}", spans(&breakdown));
    assert_eq!(
        cause.sentence,
        "39.9 of 72.9 us: the timer interrupt before had been at timers for 40.0 us, and hrtimer_interrupt puts the next one off by as much."
    );
    let mut run = RunStops::default();
    add_stops(&mut run, &[put_off], &ORDINARY, &kernel());
    assert_eq!((run.recordings, run.stops.len()), (1, 0), "no CPU was stopped");
    // Another while has another cause.
    let breakdown = explained(&after_many_timers(80_000, &OPEN), "full");
    assert_eq!(
        breakdown.cause().mechanism,
        Mechanism::Unexplained,
        "{:?}",
        spans(&breakdown)
    );
    // So has one that comes where interrupts are let in.
    let breakdown = explained(&after_many_timers(40_500, &UNLOCKED), "full");
    let cause = breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::InterruptsOff, "{}", cause.sentence);
}

/// Soft timers were done with long before: what kept the interrupt out since then is told.
#[test]
fn interrupts_off_after_the_timer_was_armed() {
    let mut snapshot = late_interrupt(&UNLOCKED);
    let exit = RecordedEvent {
        at: Nanos(DUE + 1_000),
        cpu: 0,
        tid: 9,
        what: TracedChange::Exit(CpuContext::Soft(8)),
        chain: Vec::new(),
    };
    snapshot.events.insert(1, exit);
    let breakdown = explained(&snapshot, "full");
    assert_eq!(
        breakdown.cause().mechanism,
        Mechanism::InterruptsOff,
        "{:?}",
        spans(&breakdown)
    );
    assert_eq!(breakdown.time_in("interrupts off"), Nanos(79_000));
}

#[test]
fn where_the_run_stops_cpus_or_the_code_is_not_known_it_cannot_be_told() {
    let unread = MeasuredKernel { code: None, ..kernel() };
    for (kernel, stops, why) in [
        (kernel(), stops(60_000), "CPUs were stopped that long in this run"),
        (unread, stops(0), "came into free_pages_bulk"),
    ] {
        let breakdown = explained_in(&late_interrupt(&UNLOCKED), "full", &kernel, stops);
        let cause = breakdown.cause();
        assert_eq!(
            (cause.mechanism, cause.function.as_deref()),
            (Mechanism::Unexplained, None)
        );
        let cannot = "the CPU was stopped, or interrupts were off: it cannot be told";
        assert!(cause.sentence.contains(cannot), "{}", cause.sentence);
        assert!(cause.sentence.contains(why), "{}", cause.sentence);
        assert!(cause.remedy.contains("rule out the hypervisor"), "{}", cause.remedy);
    }
}

/// Both interrupts waited; the other vector comes first, and the timer's within its way out.
#[test]
fn the_place_is_that_of_the_first_interrupt() {
    let load = thread(9, "load", 120);
    let reschedule = CpuContext::Vector("reschedule".into());
    let events = [
        (-500_000, 7, switch(PROBE, true, load)),
        (72_000, 9, TracedChange::Enter(reschedule)),
        (73_000, 9, TracedChange::Exit(reschedule)),
        (80_600, 9, ENTER),
        (81_000, 9, WAKING),
        (81_500, 9, EXIT),
        (82_500, 9, switch(load, false, PROBE)),
    ];
    let inside = ["irqentry_exit_to_user_mode", "asm_sysvec_reschedule_ipi"];
    let breakdown = explained(&snapshot(&events, &inside, 83_000), "full");
    assert_eq!(breakdown.time_in("interrupts off"), Nanos(0));
    assert_eq!(spans(&breakdown)[0], ("unexplained", 72_000));
    assert_eq!(breakdown.time_in("other interrupt"), Nanos(8_000));
    assert!(
        breakdown.at_due().chain.is_empty(),
        "user code: {:?}",
        breakdown.at_due()
    );
    let sentence = &breakdown.cause().sentence;
    assert!(
        sentence.contains("into user code of load (9), where interrupts were on"),
        "{sentence}"
    );
}

/// One that came long before the timer's says nothing about its place.
#[test]
fn an_interrupt_that_did_not_wait_is_not_the_first() {
    let load = thread(9, "load", 120);
    let network = |name: &str| CpuContext::Device {
        irq: 33,
        name: name.into(),
    };
    let events = [
        (-500_000, 7, switch(PROBE, true, load)),
        (5_000, 9, TracedChange::Enter(network("eth0"))),
        (7_000, 9, TracedChange::Exit(network(""))),
        (80_600, 9, ENTER),
        (81_000, 9, WAKING),
        (81_500, 9, EXIT),
        (82_500, 9, switch(load, false, PROBE)),
    ];
    let breakdown = explained(&snapshot(&events, &UNLOCKED, 83_000), "full");
    assert_eq!(breakdown.time_in("interrupts off"), Nanos(5_000 + 73_000));
}

#[test]
fn a_stop_within_what_ran_first_cannot_be_told_from_it() {
    let load = thread(9, "load", 120);
    let kept = runs_on();
    let told = |preempt, stops| explained_in(&kept, preempt, &kernel(), stops).cause().clone();
    let certain = told("full", stops(0));
    assert!(!certain.sentence.contains("cannot be told"), "{}", certain.sentence);
    for preempt in ["full", "none"] {
        let cause = told(preempt, stops(60_000));
        assert!(
            cause
                .sentence
                .contains("or the CPU was stopped meanwhile: it cannot be told"),
            "{}",
            cause.sentence
        );
        assert!(
            cause.remedy.starts_with("first rule out the hypervisor"),
            "{}",
            cause.remedy
        );
    }
    let within = [
        (-500_000, 7, switch(PROBE, true, load)),
        (600, 9, ENTER),
        (1_000, 9, WAKING),
        (91_500, 9, EXIT),
        (92_500, 9, switch(load, false, PROBE)),
    ];
    let breakdown = explained_in(&snapshot(&within, &[], 93_000), "full", &kernel(), stops(60_000));
    assert_eq!(
        breakdown.cause().sentence,
        "90.5 of 93.0 us are in one part of the wake-up path, interrupt exit: the CPU was stopped in it, or it took that long: it cannot be told."
    );
}
