//! Samples that begin with a pulse to a device, whose interrupt comes to the probe's CPU.

use super::sender::WAKER;
use super::*;
use crate::breakdown::spans::ExplainedSample;
use crate::breakdown::testing::{SyntheticMachine, USER, sample};
use crate::breakdown::{LabSurroundings, tell};
use worstcase_contract::Instructions;
use worstcase_lab::execution::Elsewhere;

const HANDLER_THREAD: u32 = 100;

/// The probe sleeps, and so does the thread of a handler.
fn asleep(m: &mut SyntheticMachine) {
    m.park(0, &[("cpu_startup_entry", 50), ("do_idle", 90)]);
    m.park(9, &[("", USER), ("entry_SYSCALL_64", 64), ("__schedule", 0x400)]);
    m.park(
        HANDLER_THREAD,
        &[("irq_thread", 40), ("schedule", 8), ("__schedule", 0x400)],
    );
    m.switch(0, "swapper", "do_idle").work(20);
}

/// The interrupt, up to where handlers are called.
fn enter(m: &mut SyntheticMachine) {
    m.interrupt("irq_entries_start")
        .work(1)
        .jump("asm_common_interrupt")
        .work(4);
    m.call("__handle_irq_event_percpu").work(2);
}

fn wake(m: &mut SyntheticMachine) {
    m.call("try_to_wake_up")
        .work(5)
        .call("resched_curr")
        .work(1)
        .ret()
        .work(2)
        .ret();
}

fn run(m: &mut SyntheticMachine) {
    m.switch(9, "woken", "").work(2).ret().work(4).sysret().work(3);
}

/// The titles and lengths of the spans of a pulse; `answer` runs the code behind the pulse.
fn span_lengths(answer: impl Fn(&mut SyntheticMachine)) -> Vec<(&'static str, u64)> {
    let mut m = SyntheticMachine::in_user(WAKER, "probe");
    m.work(30).read_clock();
    let begin = m.count;
    // User code sends the pulse.
    m.work(7);
    let (sent_after, sent) = (m.steps(), m.count);
    asleep(&mut m);
    let at = m.count;
    answer(&mut m);
    let (mut execution, symbols) = m.execution();
    let steps: Vec<_> = execution.steps.drain(..sent_after).collect();
    execution.steps.retain(|step| step.count.0 >= at - 20);
    execution.elsewhere = vec![Elsewhere {
        why: Why::Sends,
        at: Instructions(at),
        cpu: 1,
        count: Instructions(sent),
        task: (WAKER, "probe".into()),
        system_call: None,
        steps,
        goes_on: false,
    }];
    let latency = (sent - begin) + (m.count - at);
    execution.latency = Nanos(latency);
    execution.due = Instructions(m.count - latency);
    let sample = ExplainedSample {
        since: Since::Pulsed,
        ..sample("full", latency)
    };
    let told = tell(&execution, &symbols, &(), sample, &LabSurroundings::default())
        .unwrap()
        .breakdown;
    assert!(told.notes().is_empty(), "{:?}", told.notes());
    told.spans()
        .iter()
        .map(|s| (s.what.name().title, s.length_ns.0))
        .collect()
}

fn titles(told: &[(&'static str, u64)]) -> Vec<&'static str> {
    told.iter().map(|(title, _)| *title).collect()
}

#[test]
fn a_handler_that_wakes_the_probe_is_told_from_edge_to_edge() {
    let told = span_lengths(|m| {
        enter(m);
        m.call("parport_irq_handler").work(3);
        wake(m);
        m.work(1).ret().work(1).ret().work(3).iret().work(2);
        m.call("schedule_idle").call("__schedule").work(6);
        run(m);
    });
    assert_eq!(
        titles(&told),
        [
            "send",
            "interrupt entry",
            "handler",
            "wake-up",
            "interrupt exit",
            "leave idle",
            "schedule",
            "switch",
            "return to user",
            "probe's code"
        ]
    );
    assert_eq!(told[0], ("send", 7));
    // The vector, the entry and the call of the handlers.
    assert_eq!(told[1], ("interrupt entry", 1 + 1 + 4 + 1));
}

#[test]
fn a_handler_in_a_thread_is_told_as_such() {
    let told = span_lengths(|m| {
        enter(m);
        wake(m);
        m.ret().work(3).iret().work(2);
        m.call("schedule_idle").call("__schedule").work(6);
        m.switch(HANDLER_THREAD, "irq/7-parport0", "")
            .work(2)
            .ret()
            .work(1)
            .ret();
        m.call("irq_forced_thread_fn").work(9);
        wake(m);
        m.work(4).call("preempt_schedule").call("__schedule").work(3);
        run(m);
    });
    assert_eq!(
        titles(&told),
        [
            "send",
            "interrupt entry",
            "handler",
            "leave idle",
            "schedule",
            "switch",
            "schedule",
            "threaded handler",
            "wake-up",
            "threaded handler",
            "schedule",
            "switch",
            "return to user",
            "probe's code"
        ]
    );
}

/// Another device's interrupt is not the pulse's answer, nor is one from another CPU.
#[test]
fn only_a_devices_interrupt_answers_a_pulse() {
    let told = span_lengths(|m| {
        m.interrupt("asm_sysvec_reschedule_ipi").work(8).iret().work(2);
        enter(m);
        m.call("parport_irq_handler").work(3);
        wake(m);
        m.ret().ret().work(3).iret().work(2);
        m.call("schedule_idle").call("__schedule").work(6);
        run(m);
    });
    assert_eq!(
        titles(&told)[..4],
        ["send", "other interrupt", "interrupt pending", "interrupt entry"]
    );
}
