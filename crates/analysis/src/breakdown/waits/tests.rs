use crate::breakdown::build::{Explanation, LabSurroundings, tell};
use crate::breakdown::spans::Mechanism;
use crate::breakdown::spans::SpanKind;
use crate::breakdown::testing::{SyntheticMachine, sample};
use worstcase_contract::Nanos;

const WAITS: [(&str, u64); 7] = [
    ("", crate::breakdown::testing::USER),
    ("asm_exc_page_fault", 9),
    ("do_user_addr_fault", 9),
    ("down_read", 9),
    ("rwsem_down_read_slowpath", 9),
    ("schedule", 9),
    ("__schedule", 9),
];

/// A thread of a load runs, and a timer of another thread wakes khugepaged, which gives back the lock that the
/// probe waits for.
fn machine(chain: &[(&str, u64)]) -> SyntheticMachine {
    let mut m = SyntheticMachine::in_user(7, "load-shm");
    m.park(1, chain);
    m.work(100).due().work(5_000);
    woken_by_a_timer(&mut m);
    m.switch(35, "khugepaged", "khugepaged").work(200);
    m.call("collapse_huge_page")
        .call("up_write")
        .call("rwsem_wake")
        .call("try_to_wake_up");
    m.calls("resched_curr", 3)
        .ret()
        .ret()
        .call("preempt_schedule")
        .call("__schedule");
    m.switch(1, "probe", "x").work(2);
    for _ in 0..chain.len() - 2 {
        m.ret();
    }
    m.iret().work(20).syscall().call("do_nanosleep");
    m
}

fn woken_by_a_timer(m: &mut SyntheticMachine) {
    m.timer_entry().call("hrtimer_interrupt").call("__hrtimer_run_queues");
    m.call("hrtimer_wakeup").call("try_to_wake_up").calls("resched_curr", 3);
    m.ret()
        .ret()
        .ret()
        .ret()
        .call("raw_irqentry_exit_cond_resched")
        .call("__schedule");
}

/// The probe's timer interrupts at once, or the probe need not even sleep, because the time is due.
fn sampled(m: &mut SyntheticMachine, sleeps: bool) -> Explanation {
    if sleeps {
        m.call("schedule").call("__schedule");
        m.switch(35, "khugepaged", "khugepaged");
        woken_by_a_timer(m);
        m.switch(1, "probe", "x").ret().ret();
    }
    m.ret().sysret().work(10).read_clock();
    let (execution, symbols) = m.execution();
    let latency = execution.latency.0;
    tell(
        &execution,
        &symbols,
        &(),
        sample("full", latency),
        &LabSurroundings::default(),
    )
    .unwrap()
}

#[test]
fn who_waits_for_a_page_is_not_late_by_those_who_run_meanwhile() {
    for sleeps in [true, false] {
        let told = sampled(&mut machine(&WAITS), sleeps);
        let spans = told.breakdown.spans();
        let SpanKind::Waits {
            at, fault, waker, ran, ..
        } = &spans[0].what
        else {
            panic!("{spans:#?}");
        };
        assert_eq!((at.function.as_str(), *fault), ("rwsem_down_read_slowpath", true));
        assert_eq!(at.caller.as_deref(), Some("down_read"));
        let waker = waker.as_ref().unwrap();
        assert_eq!(
            (waker.task.comm.as_str(), waker.at.function.as_str()),
            ("khugepaged", "collapse_huge_page")
        );
        let ran = ran.as_ref().unwrap();
        assert_eq!(ran.task.comm, "load-shm");
        assert!((Nanos(5_000)..spans[0].length_ns).contains(&ran.length_ns), "{ran:?}");
        let cause = told.breakdown.cause();
        assert_eq!(cause.mechanism, Mechanism::Waits);
        let expected = "the probe was not asleep but waited in rwsem_down_read_slowpath (called by down_read) for a \
                        reader-writer semaphore, in a page fault, until khugepaged (35) gave it back in collapse_huge_page";
        assert!(cause.sentence.contains(expected), "{}", cause.sentence);
        assert!(cause.remedy.contains("transparent_hugepage"), "{}", cause.remedy);
    }
}

#[test]
fn who_was_preempted_or_sleeps_on_its_timer_does_not_wait() {
    for own in [
        [("do_nanosleep", 9), ("schedule", 9), ("__schedule", 9)],
        [("do_nanosleep.constprop.0", 9), ("schedule", 9), ("__schedule", 9)],
        [("down_read", 9), ("preempt_schedule", 9), ("__schedule", 9)],
        [("exit_to_user_mode_loop", 9), ("schedule", 9), ("__schedule", 9)],
    ] {
        let chain = [&WAITS[..3], &own[..]].concat();
        let told = sampled(&mut machine(&chain), true);
        assert!(!waits(&told), "{own:?}");
    }
    // A thread sleeps on its timer whichever of these functions it sleeps in.
    let mut m = SyntheticMachine::in_user(7, "load-shm");
    m.park(1, &WAITS).work(100).due().work(50);
    woken_by_a_timer(&mut m);
    m.switch(1, "probe", "x");
    for _ in 0..WAITS.len() - 2 {
        m.ret();
    }
    m.iret().syscall().call("do_nanosleep");
    assert!(!waits(&sampled(&mut m, false)));
}

fn waits(told: &Explanation) -> bool {
    let mut spans = told.breakdown.spans().iter();
    spans.any(|span| matches!(span.what, SpanKind::Waits { .. }))
}
