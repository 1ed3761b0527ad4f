//! Breakdowns of made-up recordings.

mod late;

use super::*;
use crate::breakdown::spans::Mechanism;
use crate::breakdown::testing::sample;
use proptest::prelude::*;
use worstcase_host::trace::events::TracedThread;
use worstcase_host::trace::parts::AskedSample;
use worstcase_host::trace::recorder::RecordedEvent;
use worstcase_host::trace::{CpuContext, Splitter};
use worstcase_lab::execution::{Symbol, Symbols};

const PROBE: TracedThread = TracedThread {
    tid: 7,
    priority: 19,
    comm: worstcase_host::trace::ShortName::EMPTY,
};
const DUE: u64 = 1_000_000;
const ENTER: TracedChange = TracedChange::Enter(CpuContext::Timer);
const EXIT: TracedChange = TracedChange::Exit(CpuContext::Timer);
const WAKING: TracedChange = TracedChange::Waking { tid: PROBE.tid };

const FUNCTIONS: [&str; 12] = [
    "timer_trace",
    "asm_sysvec_apic_timer_interrupt",
    "_raw_spin_unlock_irqrestore",
    "free_pages_bulk",
    "__x64_sys_munmap",
    "pv_native_safe_halt",
    "do_idle",
    "hrtimer_wakeup",
    "tick_nohz_handler",
    "_raw_spin_unlock_irq",
    "irqentry_exit_to_user_mode",
    "asm_sysvec_reschedule_ipi",
];

fn address(name: &str) -> u64 {
    let at = FUNCTIONS.iter().position(|f| *f == name).unwrap() as u64;
    0xffff_ffff_8100_0000 + at * 0x100 + 0x10
}

fn symbols() -> Symbols {
    let symbol = |name: &&str| Symbol {
        address: address(name) - 0x10,
        name: name.to_string(),
        module: None,
    };
    Symbols::new(FUNCTIONS.iter().map(symbol).collect())
}

/// All code is `nop`, but for two functions that let interrupts in just before the place of [`address`].
fn kernel() -> MeasuredKernel {
    let code = |at: u64, length: usize| {
        let popf = address("_raw_spin_unlock_irqrestore") - 1;
        let sti = address("irqentry_exit_to_user_mode") - 2;
        let enables = address("_raw_spin_unlock_irq");
        let byte = |at| match at {
            at if at == popf => 0x9d,
            at if at == sti || at == enables => 0xfb,
            _ => 0x90,
        };
        Some((at..at + length as u64).map(byte).collect())
    };
    MeasuredKernel {
        symbols: symbols(),
        code: Some(Box::new(code)),
    }
}

/// A run in which the CPU is stopped for as long as this.
fn stops(longest: u64) -> RunStops {
    RunStops {
        recordings: 30,
        stops: vec![Nanos(longest); usize::from(longest > 0)],
        in_user_code: usize::from(longest > 0),
        behind: Vec::new(),
        steal: Some(Nanos(0)),
        hole: None,
        is_guest: Some(true),
    }
}

fn thread(tid: u32, comm: &str, priority: i32) -> TracedThread {
    TracedThread {
        tid,
        priority,
        comm: comm.into(),
    }
}

fn switch(from: TracedThread, asleep: bool, to: TracedThread) -> TracedChange {
    TracedChange::Switch { from, asleep, to }
}

/// Nanoseconds after the due time, the thread that ran, the event.
fn snapshot(events: &[(i64, u32, TracedChange)], inside: &[&str], latency: u64) -> EventSnapshot {
    let mut chain = vec![
        -128i64 as u64,
        address("timer_trace"),
        address("asm_sysvec_apic_timer_interrupt"),
    ];
    chain.extend(inside.iter().map(|name| address(name)));
    let ask = AskedSample {
        cpu: 0,
        tid: PROBE.tid,
        due: Nanos(DUE),
        now: Nanos(DUE + latency),
    };
    let recorded = |(at, tid, what): &(i64, u32, TracedChange)| RecordedEvent {
        at: Nanos(DUE.saturating_add_signed(*at)),
        cpu: 0,
        tid: *tid,
        what: *what,
        chain: if *what == ENTER { chain.clone() } else { Vec::new() },
    };
    let events: Vec<RecordedEvent> = events.iter().map(recorded).collect();
    let mut splitter = Splitter::new(&[PROBE.tid]);
    events.iter().for_each(|e| splitter.feed(&e.event()));
    EventSnapshot {
        index: 5,
        ask,
        parts: splitter.split(&ask),
        events,
    }
}

const ORDINARY: LatenessParts = LatenessParts {
    irq_latency: Nanos(600),
    handler: Nanos(400),
    scheduling: Nanos(1_500),
    return_to_user: Nanos(500),
    unexplained: Nanos(0),
};

fn explained(snapshot: &EventSnapshot, preempt: &str) -> Breakdown {
    explained_in(snapshot, preempt, &kernel(), stops(0))
}

fn explained_in(snapshot: &EventSnapshot, preempt: &str, kernel: &MeasuredKernel, stops: RunStops) -> Breakdown {
    let sample = ExplainedSample {
        cell: "here.idle.wakeup.s1.c0".into(),
        subject: "here".into(),
        unit: "us".into(),
        index: snapshot.index as u32,
        ..sample(preempt, snapshot.latency().0)
    };
    let around = HostSurroundings {
        floor: Nanos(3_000),
        ordinary: ORDINARY,
        peers: Vec::new(),
        stops,
    };
    tell(snapshot, kernel, sample, &around).unwrap()
}

fn spans(breakdown: &Breakdown) -> Vec<(&'static str, u64)> {
    let spans = breakdown.spans().iter();
    spans.map(|s| (s.what.name().title, s.length_ns.0)).collect()
}

#[test]
fn timer_slack_stands_for_whatever_ran_until_it_ends() {
    let span = |start: u64, length: u64| Span::unexplained(Nanos(start), Nanos(length), None);
    let lengths = |spans: Vec<Span>| -> Vec<(&str, u64, u64)> {
        let each = spans.iter();
        each.map(|s| (s.what.name().title, s.start_ns.0, s.length_ns.0))
            .collect()
    };
    let spans = || vec![span(0, 20_000), span(20_000, 40_000), span(60_000, 5_000)];
    assert_eq!(
        lengths(slack_first(spans(), SLACK)),
        [
            ("timer slack", 0, 50_000),
            ("unexplained", 50_000, 10_000),
            ("unexplained", 60_000, 5_000),
        ]
    );
    assert_eq!(
        lengths(slack_first(spans(), Nanos(20_000)))[1],
        ("unexplained", 20_000, 40_000)
    );
    assert_eq!(lengths(slack_first(spans(), Nanos(0))), lengths(spans()));
}

#[test]
fn a_thread_of_higher_priority() {
    let load = thread(9, "planted", 9);
    let events = [
        (-500_000, 7, switch(PROBE, true, load)),
        (700, 9, ENTER),
        (
            900,
            9,
            TracedChange::Enter(CpuContext::TimerFunction {
                timer: 1,
                function: address("hrtimer_wakeup"),
            }),
        ),
        (1_000, 9, WAKING),
        (
            1_100,
            9,
            TracedChange::Exit(CpuContext::TimerFunction { timer: 1, function: 0 }),
        ),
        (1_500, 9, EXIT),
        (301_500, 9, switch(load, true, PROBE)),
        (301_900, 7, TracedChange::SysExit { call: 230, result: 0 }),
    ];
    let snapshot = snapshot(&events, &[], 302_000);
    let breakdown = explained(&snapshot, "full");
    assert_eq!(
        spans(&breakdown),
        [
            ("interrupt pending", 700),
            ("timer interrupt", 200),
            ("wake-up", 100),
            ("interrupt exit", 500),
            ("other thread", 298_500),
            ("schedule", 1_500),
            ("return to user", 400),
            ("probe's code", 100),
        ]
    );
    let cause = breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::OtherThread);
    assert_eq!(
        cause.sentence,
        "298 of 302 us: the real-time thread planted (9), priority 90, ran first."
    );
    assert_eq!(breakdown.at_due().task.comm, "planted");
}

#[test]
fn soft_interrupts_and_other_interrupts() {
    let idle = thread(0, "swapper/0", 120);
    let net = CpuContext::Soft(3);
    let device = |name: &str| CpuContext::Device {
        irq: 33,
        name: name.into(),
    };
    let events = [
        (-500_000, 7, switch(PROBE, true, idle)),
        (600, 0, ENTER),
        (1_000, 0, WAKING),
        (1_500, 0, EXIT),
        (1_600, 0, TracedChange::Enter(net)),
        (20_000, 0, TracedChange::Enter(device("eth0"))),
        (25_000, 0, TracedChange::Exit(device(""))),
        (51_600, 0, TracedChange::Exit(net)),
        (53_000, 0, switch(idle, false, PROBE)),
    ];
    let breakdown = explained(&snapshot(&events, &["pv_native_safe_halt", "do_idle"], 53_500), "none");
    assert_eq!(breakdown.time_in("soft interrupt"), Nanos(45_000));
    assert_eq!(breakdown.time_in("other interrupt"), Nanos(5_000));
    assert_eq!(breakdown.time_in("leave idle"), Nanos(100 + 1_400));
    let sentence = &breakdown.cause().sentence;
    assert_eq!(
        sentence,
        "45.0 of 53.5 us, in 2 parts (the longest 26.6 us): soft interrupts ran first: NET_RX."
    );
}

#[test]
fn a_hypervisor_holds_the_cpu() {
    let idle = thread(0, "swapper/0", 120);
    let events = [
        (-500_000, 7, switch(PROBE, true, idle)),
        (400_600, 0, ENTER),
        (401_000, 0, WAKING),
        (401_500, 0, EXIT),
        (402_500, 0, switch(idle, false, PROBE)),
    ];
    let breakdown = explained(&snapshot(&events, &["pv_native_safe_halt", "do_idle"], 403_000), "full");
    assert_eq!(spans(&breakdown)[0], ("unexplained", 400_000));
    assert_eq!(breakdown.cause().mechanism, Mechanism::Unexplained);
    assert!(
        breakdown
            .cause()
            .sentence
            .contains("the hypervisor or a deep idle state held it"),
        "{}",
        breakdown.cause().sentence
    );
}

/// The interrupt comes in time, and the load runs on.
fn runs_on() -> EventSnapshot {
    let load = thread(9, "load", 120);
    let events = [
        (-500_000, 7, switch(PROBE, true, load)),
        (600, 9, ENTER),
        (1_000, 9, WAKING),
        (1_500, 9, EXIT),
        (92_500, 9, switch(load, false, PROBE)),
    ];
    snapshot(&events, &["free_pages_bulk", "__x64_sys_munmap"], 93_000)
}

#[test]
fn a_kernel_that_does_not_preempt() {
    let snapshot = runs_on();
    let breakdown = explained(&snapshot, "none");
    let cause = breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::NoReschedulePoint);
    assert_eq!(cause.system_call.as_deref(), Some("munmap"));
    assert_eq!(explained(&snapshot, "full").cause().mechanism, Mechanism::PreemptionOff);
}

#[test]
fn a_recording_that_holds_nothing_explains_nothing() {
    let breakdown = explained(&snapshot(&[], &[], 9_000), "full");
    assert_eq!(spans(&breakdown), [("unexplained", 9_000)]);
    assert_eq!(breakdown.cause().sentence, "9.00 of 9.00 us: the trace does not tell.");
}

fn any_event() -> impl Strategy<Value = (i64, u32, TracedChange)> {
    let context = prop_oneof![
        Just(CpuContext::Timer),
        Just(CpuContext::Soft(3)),
        Just(CpuContext::Vector("reschedule".into())),
        Just(CpuContext::TimerFunction { timer: 1, function: 2 }),
    ];
    let any_thread = || prop_oneof![Just(PROBE), Just(thread(9, "load", 120)), Just(thread(0, "idle", 120))];
    let what = prop_oneof![
        context.clone().prop_map(TracedChange::Enter),
        context.prop_map(TracedChange::Exit),
        Just(ENTER),
        Just(WAKING),
        Just(TracedChange::SysExit { call: 230, result: 0 }),
        (any_thread(), any::<bool>(), any_thread()).prop_map(|(from, asleep, to)| switch(from, asleep, to)),
        (0u64..900).prop_map(|n| TracedChange::Nmi { length: Nanos(n) }),
        (0u64..DUE).prop_map(|n| TracedChange::Lost {
            since: Nanos(n),
            count: 1
        }),
    ];
    (-20_000i64..20_000, prop_oneof![Just(0u32), Just(7), Just(9)], what)
}

proptest! {
    /// `Breakdown::new` refuses spans that do not follow each other or do not add up.
    #[test]
    fn spans_of_any_recording_add_up(
        mut events in prop::collection::vec(any_event(), 0..40),
        latency in 0u64..15_000,
    ) {
        events.sort_by_key(|(at, ..)| *at);
        let snapshot = snapshot(&events, &["free_pages_bulk"], latency);
        let breakdown = explained(&snapshot, "full");
        prop_assert!(breakdown.spans().iter().all(|s| s.length_ns > Nanos(0)));
    }
}
