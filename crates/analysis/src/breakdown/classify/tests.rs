use crate::breakdown::build::{Explanation, LabSurroundings, tell};
use crate::breakdown::spans::Mechanism;
use crate::breakdown::testing::{SyntheticMachine, USER, sample};
use worstcase_lab::execution::{Execution, Symbols};

const SLEEPS: [(&str, u64); 4] = [("", USER), ("do_nanosleep", 9), ("schedule", 9), ("__schedule", 9)];

/// The probe's timer interrupts a thread that goes to sleep, in a function that `schedule()` calls; the probe leaves the kernel by
/// this way.
fn told(function: &str, leave: impl FnOnce(&mut SyntheticMachine)) -> Explanation {
    let mut m = SyntheticMachine::in_user(7, "writer");
    m.park(1, &SLEEPS).work(100).syscall().call("io_schedule");
    m.call("schedule").call(function).work(100).due();
    m.timer_entry().call("hrtimer_interrupt").call("__hrtimer_run_queues");
    m.call("hrtimer_wakeup").call("try_to_wake_up").calls("resched_curr", 3);
    m.ret().ret().ret().ret().iret();
    m.work(5_000).ret().call("__schedule");
    m.switch(1, "probe", "x").work(2).ret().ret();
    leave(&mut m);
    m.sysret().work(10).read_clock();
    let (execution, symbols) = m.execution();
    let latency = execution.latency.0;
    let surroundings = LabSurroundings::default();
    tell(&execution, &symbols, &(), sample("none", latency), &surroundings).unwrap()
}

/// The probe's timer interrupts a thread that gives way at once.
fn gives_way_to_the_probe(m: &mut SyntheticMachine) {
    m.timer_entry().call("hrtimer_interrupt").call("__hrtimer_run_queues");
    m.call("hrtimer_wakeup").call("try_to_wake_up").calls("resched_curr", 3);
    m.ret().ret().ret().ret();
    m.call("preempt_schedule_irq").call("__schedule");
    m.switch(1, "probe", "x").work(2).ret().ret();
    m.sysret().work(10).read_clock();
}

fn preempted_by_the_probe(mut m: SyntheticMachine, preempt: &str) -> Explanation {
    gives_way_to_the_probe(&mut m);
    let (execution, symbols) = m.execution();
    let sample = sample(preempt, execution.latency.0);
    tell(&execution, &symbols, &(), sample, &LabSurroundings::default()).unwrap()
}

#[test]
fn work_before_the_switch_is_not_the_scheduler() {
    let told = told("blk_flush_plug", |_| ());
    let cause = told.breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::NoReschedulePoint, "{}", cause.sentence);
    assert!(cause.sentence.contains("blk_flush_plug"), "{}", cause.sentence);
}

#[test]
fn soft_interrupts_on_the_way_out_are_not_the_way() {
    let told = told("blk_flush_plug", |m| {
        m.call("exit_to_user_mode_loop")
            .call("__local_bh_enable_ip")
            .call("handle_softirqs");
        m.calls("rcu_core", 30_000).ret().ret().ret();
    });
    let cause = told.breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::SoftInterrupt, "{}", cause.sentence);
    assert!(cause.sentence.contains("rcu_core"), "{}", cause.sentence);
}

/// A thread in the kernel is chosen once more, and marked and unmarked while the scheduler looks (`update_curr()` of 7.3).
#[test]
fn a_mark_that_the_scheduler_takes_back_does_not_say_that_a_thread_was_to_give_way() {
    let mut m = SyntheticMachine::in_user(7, "kworker");
    m.park(1, &SLEEPS).work(100).syscall().call("writepages").work(10).due();
    m.timer_entry().call("hrtimer_interrupt").call("__hrtimer_run_queues");
    m.call("hrtimer_wakeup").call("try_to_wake_up").calls("resched_curr", 3);
    m.ret().ret().ret().ret();
    m.call("preempt_schedule_irq").call("__schedule").call("update_curr");
    m.calls("resched_curr", 3).ret().work(5).ret().ret().iret();
    m.work(9_000).call("schedule").call("__schedule");
    m.switch(1, "probe", "x").work(2).ret().ret();
    m.sysret().work(10).read_clock();
    let (execution, symbols) = m.execution();
    let sample = sample("full", execution.latency.0);
    let told = tell(&execution, &symbols, &(), sample, &LabSurroundings::default()).unwrap();
    let cause = told.breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::OtherThread, "{}", cause.sentence);
    assert!(cause.length_ns.0 >= 9_000, "{}", cause.sentence);
}

/// On PREEMPT_RT a thread expires soft timers; this one was preempted at it when the probe armed its next timer.
#[test]
fn what_runs_before_the_thread_that_arms_the_timer_is_no_part_of_the_way() {
    const EXPIRES: [(&str, u64); 4] = [
        ("handle_softirqs", 9),
        ("hrtimer_run_softirq", 9),
        ("preempt_schedule", 9),
        ("__schedule", 9),
    ];
    let mut m = SyntheticMachine::in_user(14, "irq/14-ata_piix");
    m.park(1, &SLEEPS).park(15, &EXPIRES).work(100).syscall().sti();
    m.call("irq_thread").call("ioread32_rep").work(100).due();
    m.work(40_000).ret().call("schedule").call("__schedule");
    m.switch(15, "ktimers/0", "x").work(2).ret().ret().work(300).ret();
    let told = preempted_by_the_probe(m, "rt");
    let cause = told.breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::OtherThread, "{}", cause.sentence);
    assert_eq!(cause.function.as_deref(), Some("ioread32_rep"), "{}", cause.sentence);
    // With the way to it and back.
    assert_eq!(cause.length_ns.0, 40_003);
    let note = told.breakdown.notes().concat();
    assert!(
        note.starts_with("until +40.3 us the hardware was not armed for the probe's timer: ktimers/0 (15) arms it"),
        "{note}"
    );
}

/// A timer that is due while an interrupt is at others for 30 us; its own comes so many instructions after that.
fn after_many_timers(comes_after: usize) -> Explanation {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.park(1, &SLEEPS).work(100).syscall().sti();
    m.call("ksys_read")
        .work(100)
        .interrupt("asm_sysvec_apic_timer_interrupt");
    m.call("hrtimer_interrupt").call("__hrtimer_run_queues");
    m.call("null_cmd_timer_expired").work(9_000).due().work(21_000).ret();
    m.ret().ret().iret().work(comes_after);
    preempted_by_the_probe(m, "full")
}

#[test]
fn a_timer_is_put_off_for_as_long_as_the_interrupt_before_was_at_timers() {
    let put_off = after_many_timers(30_000);
    let cause = put_off.breakdown.cause();
    assert_eq!(cause.mechanism, Mechanism::TimersHeldBack, "{}", cause.sentence);
    assert_eq!(cause.length_ns.0, 30_000);
    assert!(
        cause
            .sentence
            .ends_with("had been at timers for 30.0 us, and hrtimer_interrupt puts the next one off by as much."),
        "{}",
        cause.sentence
    );
    // Another while has another cause.
    let told = after_many_timers(60_000);
    assert_eq!(told.breakdown.time_in("timers held back").0, 0);
    assert!(told.breakdown.time_in("interrupt pending").0 >= 59_000);
}

/// A timer is due while interrupts are off, and a function switched them off once more before; the window begins there, or at the
/// beginning.
fn due_with_interrupts_off(is_cut: bool) -> (Execution, Symbols) {
    let mut m = SyntheticMachine::in_user(7, "writer");
    m.park(1, &SLEEPS).work(100).syscall().sti().call("shrink_folio_list");
    m.cli().work(1_000);
    let within = m.steps();
    // What finds interrupts off leaves them off.
    m.call("__slab_free")
        .cli()
        .work(10)
        .ret()
        .work(50)
        .due()
        .work(700)
        .sti();
    gives_way_to_the_probe(&mut m);
    m.execution_from(if is_cut { within } else { 0 })
}

#[test]
fn who_finds_interrupts_off_did_not_switch_them_off() {
    for is_cut in [false, true] {
        let (execution, symbols) = due_with_interrupts_off(is_cut);
        let sample = sample("full", execution.latency.0);
        let told = tell(&execution, &symbols, &(), sample, &LabSurroundings::default()).unwrap();
        assert_eq!(told.walk.begins_with_interrupts_off(execution.due.0), is_cut);
        let cause = told.breakdown.cause();
        assert_eq!(cause.mechanism, Mechanism::InterruptsOff, "{}", cause.sentence);
        assert_eq!(
            cause.function.as_deref(),
            Some("shrink_folio_list"),
            "{}",
            cause.sentence
        );
    }
}
