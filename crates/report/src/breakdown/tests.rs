//! Whole breakdowns, from synthetic executions.

mod lines;

use super::{flame, json, perfetto, terminal};
use crate::style::Style;
use proptest::prelude::*;
use worstcase_analysis::breakdown::cause::{Mechanism, Peer};
use worstcase_analysis::breakdown::spans::{Breakdown, BreakdownError, CodePlace, ExplainedSample, SpanKind};
use worstcase_analysis::breakdown::testing::SyntheticMachine;
use worstcase_analysis::breakdown::{Explanation, LabSurroundings, compare, group, tell};
use worstcase_contract::Nanos;
use worstcase_lab::execution::Execution;

/// Points at which the timer may be due.
#[derive(Clone, Copy, PartialEq)]
enum Due {
    InLock,
    InKernel,
}

/// A load in a system call, a probe that sleeps; the timer comes, wakes the probe, and the load runs on.
fn machine(due: Due, runs_on: usize, preempts: bool) -> SyntheticMachine {
    let mut m = machine_until_the_interrupt(due);
    if preempts {
        switch_to_probe(m.call("preempt_schedule_irq"));
    } else {
        m.iret().work(runs_on).ret().work(3).ret().work(1).ret();
        switch_to_probe(m.call("exit_to_user_mode_prepare"));
    }
    m
}

/// The same, until the interrupt is about to return.
fn machine_until_the_interrupt(due: Due) -> SyntheticMachine {
    let mut m = SyntheticMachine::in_user(7, "load");
    let user = worstcase_analysis::breakdown::testing::USER;
    m.park(
        9,
        &[
            ("", user),
            ("entry_SYSCALL_64", 64),
            ("do_nanosleep", 32),
            ("__schedule", 0x400),
        ],
    );
    m.work(10).syscall().sti().call("__x64_sys_shmdt").call("zap").work(4);
    m.call("free_pages").work(2);
    if due == Due::InLock {
        m.call("_raw_spin_lock_irqsave").cli().ret().work(5).due().work(40);
        m.call("_raw_spin_unlock_irqrestore").sti().ret();
    } else {
        m.work(5).due();
    }
    m.work(1)
        .timer_entry()
        .work(6)
        .call("sysvec_apic_timer_interrupt")
        .call("hrtimer_interrupt")
        .work(9);
    m.call("hrtimer_wakeup")
        .work(3)
        .call("resched_curr")
        .work(2)
        .ret()
        .ret()
        .ret()
        .ret()
        .work(2);
    m
}

/// The scheduler switches to the probe, which returns to its code.
fn switch_to_probe(m: &mut SyntheticMachine) {
    m.call("__schedule").work(7).switch(9, "probe", "").work(2);
    m.ret().work(4).ret().work(1).sysret().work(3);
}

fn sample(execution: &Execution, preempt: &str) -> ExplainedSample {
    ExplainedSample {
        cell: "6.1.none.shm.wakeup.s1".into(),
        subject: "6.1.none".into(),
        load: "shm".into(),
        preempt: preempt.into(),
        preempt_fixed: false,
        unit: "virtual us at 1000 MIPS".into(),
        index: 5,
        latency_ns: execution.latency,
        since: Default::default(),
        scheduler: None,
    }
}

fn explained(m: &SyntheticMachine, preempt: &str) -> Explanation {
    let (execution, symbols) = m.execution();
    let sample = sample(&execution, preempt);
    let around = LabSurroundings {
        floor: Nanos(60),
        peers: vec![Peer {
            subject: "6.1.full".into(),
            preempt: "full".into(),
            maximum: Nanos(70),
        }],
    };
    tell(&execution, &symbols, &(), sample, &around).unwrap()
}

/// The places where interrupts went off and on in the first span.
fn switched(breakdown: &Breakdown) -> (&CodePlace, &CodePlace) {
    match &breakdown.spans()[0].what {
        SpanKind::IrqsOff {
            off: Some(off),
            on: Some(on),
            ..
        } => (off, on),
        other => panic!("{other:?}"),
    }
}

fn titles(breakdown: &Breakdown) -> Vec<&'static str> {
    breakdown.spans().iter().map(|s| s.what.name().title).collect()
}

#[test]
fn a_kernel_that_does_not_preempt_runs_on_until_it_returns_to_user() {
    let explanation = explained(&machine(Due::InKernel, 4_000, false), "none");
    assert_eq!(explanation.breakdown.notes(), [""; 0]);
    let cause = explanation.breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::NoReschedulePoint);
    assert_eq!(
        (cause.function.as_deref(), cause.caller.as_deref()),
        (Some("free_pages"), Some("zap"))
    );
    assert_eq!(cause.system_call.as_deref(), Some("shmdt"));
    insta::assert_snapshot!(terminal::breakdown(&explanation.breakdown, Style::PLAIN), @r"
    6.1.none.shm.wakeup.s1, sample 5: 4.07 us late
    times are virtual us at 1000 MIPS

    4.01 of 4.07 us: load (7) in shmdt(2) stayed in free_pages (called by zap) without a reschedule point, and
    preempt=none does not take the CPU there.
    What would help: preempt=full takes the CPU at any instruction where no lock is held; under this load 6.1.full has a
                     maximum of 0.070 instead of 4.07 us

    When the timer was due: load (7): [user] load > entry_SYSCALL_64 > __x64_sys_shmdt > zap > free_pages

           from       takes                            span
          0.000       0.001  ▏                         interrupt pending
          0.001       0.008  ▏                         interrupt entry
          0.009       0.010  ▏                         timer interrupt
          0.019       0.004  ▏                         wake-up
          0.023       0.009  ▏                         interrupt exit
          0.032       4.008  ███████████████████████   no reschedule point: load (7) in shmdt(2)
                               in [user] load > entry_SYSCALL_64 > __x64_sys_shmdt > zap > free_pages
                                99 %     4.00 us  free_pages < zap
          4.040       0.009  ▏                         schedule
          4.049       0.011  ▏                         switch
          4.060       0.007  ▏                         return to user
          4.067       0.003  ▏                         probe's code
            sum       4.070
    ");
}

/// No model takes the CPU in a section with preemption off, also if the section begins after the timer interrupt.
#[test]
fn a_section_that_begins_after_the_interrupt_is_no_missing_reschedule_point() {
    let section = |free: usize, held: usize| {
        let mut m = machine_until_the_interrupt(Due::InKernel);
        m.context(Some(67), false).iret().work(free);
        m.call("_raw_spin_lock")
            .work(2)
            .context(Some(67), true)
            .ret()
            .work(held);
        m.call("_raw_spin_unlock").work(1).context(Some(67), false).ret();
        m.work(1).ret().work(3).ret().work(1).ret();
        switch_to_probe(m.call("exit_to_user_mode_prepare"));
        explained(&m, "none").breakdown.cause().clone()
    };
    let held = section(20, 4_000);
    assert_eq!(held.mechanism, Mechanism::PreemptionOff);
    assert!(
        held.sentence.contains("free_pages (called by zap) held a spin lock"),
        "{}",
        held.sentence
    );
    assert!(held.remedy.starts_with("preempt=full waits"), "{}", held.remedy);
    assert_eq!(section(4_000, 20).mechanism, Mechanism::NoReschedulePoint);
    assert_eq!(section(4_000, 1_600).mechanism, Mechanism::NoReschedulePoint);
}

/// A thread that our wake-up does not mark comes before ours, even if it is the interrupted one.
#[test]
fn a_thread_that_is_not_marked_comes_first() {
    let mut m = SyntheticMachine::in_user(7, "above");
    let user = worstcase_analysis::breakdown::testing::USER;
    m.park(9, &[("", user), ("entry_SYSCALL_64", 64), ("__schedule", 0x400)]);
    m.work(10).due().work(1).timer_entry().work(6);
    m.call("hrtimer_interrupt").work(9).calls("hrtimer_wakeup", 3).ret();
    m.iret().work(500).syscall().work(20);
    m.call("__schedule").work(7).switch(9, "probe", "").work(2);
    m.ret().work(4).sysret().work(3);
    let breakdown = explained(&m, "full").breakdown;
    let cause = breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::OtherThread, "{}", cause.sentence);
    assert!(cause.sentence.contains("above (7) ran first"), "{}", cause.sentence);
    assert!((500..530).contains(&cause.length_ns.0), "{}", cause.sentence);
    assert_eq!(breakdown.time_in("not woken yet"), Nanos(0));
}

/// The thread that is to wake ours sleeps on a lock: the thread that runs meanwhile holds the lock.
#[test]
fn the_owner_of_a_lock_that_the_waker_needs_is_named() {
    let mut m = SyntheticMachine::in_user(7, "owner");
    let user = worstcase_analysis::breakdown::testing::USER;
    m.park(9, &[("", user), ("entry_SYSCALL_64", 64), ("__schedule", 0x400)]);
    m.work(10).syscall().call("__local_bh_enable_ip").work(4).due().work(1);
    m.timer_entry()
        .work(6)
        .call("hrtimer_interrupt")
        .calls("resched_curr", 3)
        .ret();
    m.call("preempt_schedule_irq").call("__schedule").work(7);
    m.switch(12, "ktimers/0", "run_ktimerd").work(5);
    m.call("rtlock_slowlock_locked").work(3).call("__schedule").work(5);
    m.switch(7, "owner", "").work(2).ret().ret().iret().work(900);
    m.calls("resched_curr", 3)
        .call("preempt_schedule")
        .call("__schedule")
        .work(7);
    m.switch(12, "ktimers/0", "").work(2).ret().ret();
    m.call("posix_timer_fn")
        .calls("resched_curr", 2)
        .ret()
        .call("__schedule")
        .work(5);
    m.switch(9, "probe", "").work(2).ret().work(4).sysret().work(3);
    let breakdown = explained(&m, "rt").breakdown;
    let cause = breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::LockOwner, "{}", cause.sentence);
    assert!(
        cause.sentence.contains("owner (7) held a lock that the wake-up needs"),
        "{}",
        cause.sentence
    );
    let others = breakdown
        .spans()
        .iter()
        .filter(|s| matches!(s.what, SpanKind::OtherThread { owns_lock: false, .. }));
    let others: Vec<&str> = others.map(|s| s.task.comm.as_str()).collect();
    assert_eq!(others, ["ktimers/0", "ktimers/0"]);
    let text = json::breakdown(&breakdown);
    let spans: serde_json::Value = serde_json::from_str(&text).unwrap();
    let spans: Vec<worstcase_analysis::breakdown::spans::Span> =
        serde_json::from_value(spans["spans"].clone()).unwrap();
    assert_eq!(spans, breakdown.spans());
}

/// Marked for rescheduling, the thread goes through the scheduler, which chooses it again in these functions.
fn chosen_again(choice: impl Fn(&mut SyntheticMachine)) -> Breakdown {
    let mut m = SyntheticMachine::in_user(7, "load");
    let user = worstcase_analysis::breakdown::testing::USER;
    m.park(9, &[("", user), ("entry_SYSCALL_64", 64), ("__schedule", 0x400)]);
    m.work(10).due().work(1).timer_entry().work(6);
    m.call("hrtimer_interrupt").work(9).call("hrtimer_wakeup").work(3);
    m.calls("resched_curr", 2).ret().ret();
    m.call("irqentry_exit_to_user_mode")
        .call("schedule")
        .call("__schedule")
        .work(7);
    choice(&mut m);
    m.ret().ret().ret();
    m.iret_to_user().work(5_000);
    m.interrupt("asm_sysvec_apic_timer_interrupt").work(6);
    m.call("hrtimer_interrupt").work(9).calls("resched_curr", 2).ret();
    m.call("irqentry_exit_to_user_mode")
        .call("schedule")
        .call("__schedule")
        .work(7);
    m.switch(9, "probe", "").work(2).ret().work(4).sysret().work(3);
    explained(&m, "full").breakdown
}

#[test]
fn a_thread_that_the_scheduler_chooses_again_runs_first() {
    let breakdown = chosen_again(|_| ());
    let cause = breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::OtherThread, "{}", cause.sentence);
    assert!(cause.sentence.contains("load (7) ran first"), "{}", cause.sentence);
    assert_eq!(cause.length_ns, Nanos(5_000));
    assert_eq!(breakdown.time_in("preemption off"), Nanos(0));
}

/// It is told only where the choice itself shows it: the server's pick, and no real-time one after it.
#[test]
fn an_ordinary_thread_that_the_fair_server_lets_in_is_told_with_its_evidence() {
    let served = |m: &mut SyntheticMachine| {
        m.call("pick_task_dl")
            .call("fair_server_pick_task")
            .jump("pick_task_fair");
        m.work(5).ret().ret();
    };
    let breakdown = chosen_again(served);
    let cause = breakdown.cause();
    let told = "load (7), an ordinary thread, ran first, in [user] load: the kernel's fair server let it run before real-time \
                threads, in fair_server_pick_task (called by pick_task_dl).";
    assert!(cause.sentence.ends_with(told), "{}", cause.sentence);
    assert!(cause.remedy.starts_with("no priority is above the fair server"));
    let text = terminal::breakdown(&breakdown, Style::PLAIN);
    assert!(
        text.contains("let in by the fair server, in fair_server_pick_task < pick_task_dl, at "),
        "{text}"
    );
    let nobody = chosen_again(|m| {
        served(m);
        m.calls("pick_task_rt", 3);
    });
    assert!(
        !nobody.cause().sentence.contains("fair server"),
        "{}",
        nobody.cause().sentence
    );
}

#[test]
fn interrupts_off_are_followed_to_where_they_went_off_and_on() {
    let explanation = explained(&machine(Due::InLock, 10, false), "none");
    assert_eq!(
        titles(&explanation.breakdown),
        [
            "interrupts off",
            "interrupt pending",
            "interrupt entry",
            "timer interrupt",
            "wake-up",
            "interrupt exit",
            "no reschedule point",
            "schedule",
            "switch",
            "return to user",
            "probe's code"
        ]
    );
    let (off, on) = switched(&explanation.breakdown);
    assert_eq!(
        (off.function.as_str(), off.caller.as_deref(), off.offset_ns),
        ("free_pages", Some("zap"), Some(-6))
    );
    assert_eq!((on.function.as_str(), on.offset_ns), ("free_pages", Some(42)));
}

#[test]
fn a_preemptible_kernel_switches_in_the_interrupt() {
    let explanation = explained(&machine(Due::InKernel, 0, true), "full");
    assert_eq!(
        titles(&explanation.breakdown)[5..],
        ["schedule", "switch", "return to user", "probe's code"]
    );
    assert_eq!(explanation.breakdown.cause().mechanism, Mechanism::WakeUpPath);
}

#[test]
fn spans_that_do_not_add_up_are_no_breakdown() {
    let breakdown = explained(&machine(Due::InKernel, 50, false), "none").breakdown;
    let again = |spans: Vec<_>| {
        Breakdown::new(
            breakdown.sample().clone(),
            breakdown.at_due().clone(),
            breakdown.cause().clone(),
            spans,
            vec![],
        )
    };
    assert!(again(breakdown.spans().to_vec()).is_ok());
    let mut short = breakdown.spans().to_vec();
    short.pop();
    assert!(matches!(again(short), Err(BreakdownError::Sum { .. })));
    let mut gap = breakdown.spans().to_vec();
    gap[1].start_ns = gap[1].start_ns + Nanos(1);
    assert!(matches!(again(gap), Err(BreakdownError::NotConsecutive { .. })));
}

#[test]
fn comparison_and_groups() {
    let long = explained(&machine(Due::InKernel, 4_000, false), "none").breakdown;
    let short = explained(&machine(Due::InKernel, 0, true), "full").breakdown;
    let comparison = compare::compare(&short, &long);
    assert_eq!(comparison.spans[0].name, "no reschedule point");
    let grew: i64 = comparison.spans.iter().map(|c| c.grew()).sum();
    assert_eq!(
        grew,
        long.sample().latency_ns.0 as i64 - short.sample().latency_ns.0 as i64
    );
    let groups = group::group(&[&long, &short, &long]);
    assert_eq!(groups.iter().map(|g| g.samples).collect::<Vec<_>>(), [2, 1]);
    assert!(groups[0].cause.starts_with(Mechanism::NoReschedulePoint.title()));
}

#[test]
fn other_programs_read_it() {
    let explanation = explained(&machine(Due::InLock, 300, false), "none");
    let latency = explanation.breakdown.sample().latency_ns.0;
    let json: serde_json::Value = serde_json::from_str(&json::breakdown(&explanation.breakdown)).unwrap();
    assert_eq!(json["schema"], "worstcase-breakdown/2");
    let sum: u64 = json["spans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["length_ns"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, latency);
    let folded = worstcase_analysis::breakdown::folded::folded(&explanation);
    let sum: u64 = folded
        .lines()
        .map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(sum, latency);
    let drawn = flame::svg(&explanation);
    assert!(
        drawn.contains(&format!("all: {} us", worstcase_base::format::micros(Nanos(latency)))),
        "{drawn}"
    );
    let trace: serde_json::Value = serde_json::from_str(&perfetto::trace(&explanation, &())).unwrap();
    nested(trace["traceEvents"].as_array().unwrap());
}

/// Slices of a track must not overlap partly.
fn nested(events: &[serde_json::Value]) {
    let ns = |v: &serde_json::Value| (v.as_f64().unwrap() * 1e3).round() as i64;
    let mut slices: Vec<_> = events
        .iter()
        .filter(|e| e["ph"] == "X")
        .map(|e| (e["pid"].as_u64(), e["tid"].as_u64(), ns(&e["ts"]), ns(&e["dur"])))
        .collect();
    slices.sort_by_key(|(p, t, at, length)| (*p, *t, *at, -*length));
    let mut open: Vec<(Option<u64>, Option<u64>, i64)> = Vec::new();
    for (p, t, at, length) in slices {
        while open
            .last()
            .is_some_and(|(op, ot, end)| (*op, *ot) != (p, t) || *end <= at)
        {
            open.pop();
        }
        assert!(open.last().is_none_or(|(.., end)| at + length <= *end));
        open.push((p, t, at + length));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Wherever the window begins and whenever the timer was due, the spans add up (`tell` fails otherwise) and
    /// follow the window without gaps.
    #[test]
    fn spans_add_up(
        locked: bool, runs_on in 0_usize..200, preempts: bool, cut in 0_usize..20, due in 0_u64..150, shift in 0_u32..4,
        entry: bool, part in 0_u64..8, model in prop::sample::select(vec!["none", "full", "rt"]),
    ) {
        let m = machine(if locked { Due::InLock } else { Due::InKernel }, runs_on, preempts);
        let (mut execution, symbols) = m.execution_from(cut);
        let first = execution.steps[0].count.0;
        execution.due = worstcase_contract::Instructions((first + due).min(execution.sample.0));
        execution.shift = shift;
        // The timer may have been due within an instruction.
        let part = if execution.due == execution.sample { 0 } else { part % (1 << shift) };
        execution.latency = execution.time_of(execution.sample.0 - execution.due.0) + Nanos(part);
        if !entry {
            execution.timer_entry = None;
        }
        let sample = ExplainedSample { latency_ns: execution.latency, preempt: model.into(), ..explained(&m, model).breakdown.sample().clone() };
        let explanation = tell(&execution, &symbols, &(), sample, &LabSurroundings::default()).unwrap();
        prop_assert!(explanation.breakdown.spans().iter().all(|s| s.what != SpanKind::Unexplained));
        prop_assert_eq!(explanation.walk.intervals.windows(2).filter(|w| w[0].end != w[1].start).count(), 0);
    }
}
