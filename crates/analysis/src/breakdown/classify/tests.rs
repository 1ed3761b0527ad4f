use crate::breakdown::build::{Explanation, LabSurroundings, tell};
use crate::breakdown::spans::Mechanism;
use crate::breakdown::testing::{SyntheticMachine, USER, sample};

const SLEEPS: [(&str, u64); 4] = [("", USER), ("do_nanosleep", 9), ("schedule", 9), ("__schedule", 9)];

/// The probe's timer interrupts a thread that goes to sleep, in a function that `schedule()` calls.
fn interrupted_in(function: &str) -> Explanation {
    let mut m = SyntheticMachine::in_user(7, "writer");
    m.park(1, &SLEEPS).work(100).syscall().call("io_schedule");
    m.call("schedule").call(function).work(100).due();
    m.timer_entry().call("hrtimer_interrupt").call("__hrtimer_run_queues");
    m.call("hrtimer_wakeup").call("try_to_wake_up").calls("resched_curr", 3);
    m.ret().ret().ret().ret().iret();
    m.work(5_000).ret().call("__schedule");
    m.switch(1, "probe", "x").work(2).ret().ret();
    m.sysret().work(10).read_clock();
    let (execution, symbols) = m.execution();
    let latency = execution.latency.0;
    let surroundings = LabSurroundings::default();
    tell(&execution, &symbols, &(), sample("none", latency), &surroundings).unwrap()
}

#[test]
fn work_before_the_switch_is_not_the_scheduler() {
    let told = interrupted_in("blk_flush_plug");
    let cause = told.breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::NoReschedulePoint, "{}", cause.sentence);
    assert!(cause.sentence.contains("blk_flush_plug"), "{}", cause.sentence);
}
