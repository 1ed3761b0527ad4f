use crate::breakdown::spans::{ExplainedSample, Since};
use crate::breakdown::testing::{SyntheticMachine, USER, sample};
use crate::breakdown::{LabSurroundings, tell};

const PROBE: u32 = 9;

/// A busy CPU with timer interrupts at these distances after the probe was due. Each wakes a thread; after the last one
/// the probe has its turn. Returns the spans until then, with lengths.
fn span_lengths(interrupts: &[usize]) -> Vec<(String, u64)> {
    let mut m = SyntheticMachine::in_user(20, "load");
    m.park(PROBE, &[("", USER), ("entry_SYSCALL_64", 64), ("__schedule", 0x400)]);
    m.work(10).due();
    let due = m.count;
    for after in interrupts {
        m.work(*after - (m.count - due) as usize);
        m.interrupt("asm_sysvec_apic_timer_interrupt").call("hrtimer_wakeup");
        m.calls("try_to_wake_up", 5).ret().iret();
    }
    m.syscall().call("__schedule").work(6);
    m.switch(PROBE, "probe", "").work(2).ret().work(4).sysret().work(3);
    before_its_interrupt(&m)
}

fn before_its_interrupt(m: &SyntheticMachine) -> Vec<(String, u64)> {
    let (execution, symbols) = m.execution();
    let sample = ExplainedSample {
        since: Since::DueWithSlack,
        ..sample("full", execution.latency.0)
    };
    let told = tell(&execution, &symbols, &(), sample, &LabSurroundings::default()).unwrap();
    let spans = told.breakdown.spans().iter();
    let spans = spans.map(|s| (s.what.name().title.to_string(), s.length_ns.0));
    spans
        .take_while(|(title, _)| title == "timer slack" || title.contains("pending"))
        .collect()
}

fn slack(length: u64) -> (String, u64) {
    ("timer slack".to_string(), length)
}

#[test]
fn the_slack_ends_with_its_own_interrupt_though_others_woke_somebody_before() {
    assert_eq!(span_lengths(&[50_000]), [slack(50_000)]);
    assert_eq!(span_lengths(&[20_000, 50_000]), [slack(50_000)]);
    assert_eq!(span_lengths(&[20_000, 50_000, 70_000]), [slack(50_000)]);
}

#[test]
fn another_timer_s_interrupt_within_the_slack_ends_it() {
    assert_eq!(span_lengths(&[30_000]), [slack(30_000)]);
    assert_eq!(span_lengths(&[20_000, 30_000]), [slack(30_000)]);
}

#[test]
fn an_interrupt_that_came_after_the_slack_was_pending_since_its_end() {
    assert_eq!(
        span_lengths(&[50_400]),
        [slack(50_000), ("interrupt pending".into(), 400)]
    );
}

/// A CPU that idles until the probe's own interrupt; the timer of another thread interrupts it once more before the
/// probe's turn.
#[test]
fn an_idle_cpu_s_slack_ends_with_the_interrupt_at_its_end_and_no_later_one() {
    let mut m = SyntheticMachine::in_user(20, "load");
    m.park(0, &[("cpu_startup_entry", 50), ("do_idle", 90)]);
    m.park(PROBE, &[("", USER), ("entry_SYSCALL_64", 64), ("__schedule", 0x400)]);
    m.work(10).due();
    let due = m.count;
    m.syscall().call("__schedule").work(6).switch(0, "swapper", "do_idle");
    m.work(50_000 - (m.count - due) as usize);
    m.interrupt("asm_sysvec_apic_timer_interrupt").call("hrtimer_wakeup");
    m.calls("try_to_wake_up", 5).ret().iret();
    m.call("schedule_idle")
        .call("__schedule")
        .work(6)
        .switch(20, "load", "");
    m.work(70_000 - (m.count - due) as usize);
    m.interrupt("asm_sysvec_apic_timer_interrupt").call("hrtimer_wakeup");
    m.calls("try_to_wake_up", 5).ret().iret();
    m.call("__schedule").work(6);
    m.switch(PROBE, "probe", "").work(2).ret().work(4).sysret().work(3);
    assert_eq!(before_its_interrupt(&m), [slack(50_000)]);
}
