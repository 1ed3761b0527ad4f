use super::sender::WAKER;
use super::*;
use crate::breakdown::spans::{BreakdownError, ExplainedSample, SpanKind};
use crate::breakdown::testing::{SyntheticMachine, USER, sample};
use crate::breakdown::{Explanation, LabSurroundings, tell};
use worstcase_contract::Instructions;
use worstcase_lab::execution::Elsewhere;

/// A wake-up of the probe by another CPU.
struct RemoteWake {
    since: Since,
    /// From the clock read, or the timer interrupt's entry, to the send of the interrupt.
    send: u64,
    /// From the entry to the sample.
    own: u64,
    execution: Execution,
    symbols: Symbols,
}

impl RemoteWake {
    fn new(since: Since, runs: usize) -> RemoteWake {
        let mut m = SyntheticMachine::in_user(WAKER, "probe");
        m.work(30);
        let (begin, wakes) = match since {
            Since::Woken => {
                let after = m.read_clock().count;
                m.work(2).syscall();
                (after, "wake_up_q")
            }
            _ => {
                m.syscall().sti().call("locked").cli().work(10).sti();
                m.interrupt("asm_sysvec_apic_timer_interrupt");
                (m.count, "hrtimer_wakeup")
            }
        };
        m.work(3).call(wakes).work(1);
        m.call("wake_up_process").work(2).jump("try_to_wake_up");
        m.work(5).call("native_smp_send_reschedule").work(4);
        let (sent_after, sent) = (m.steps(), m.count);
        m.park(0, &[("cpu_startup_entry", 50), ("do_idle", 90)]);
        m.park(9, &[("", USER), ("entry_SYSCALL_64", 64), ("__schedule", 0x400)]);
        m.switch(0, "swapper", "do_idle").work(20);
        let at = m.count;
        if runs > 0 {
            m.work(runs);
        }
        let entry = m.count;
        m.interrupt("asm_sysvec_reschedule_ipi").work(8).iret().work(2);
        m.call("schedule_idle").call("__schedule").work(6);
        m.switch(9, "woken", "").work(2).ret().work(4).sysret().work(3);
        let (mut execution, symbols) = m.execution();
        let steps: Vec<_> = execution.steps.drain(..sent_after).collect();
        // The switch that put this CPU to sleep.
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
        RemoteWake {
            since,
            send: sent - begin,
            own: m.count - entry,
            execution,
            symbols,
        }
    }

    /// The breakdown of a sample with this latency.
    fn explained(&self, latency: u64) -> Result<Explanation, BreakdownError> {
        let end = self.execution.sample.0;
        let execution = Execution {
            latency: Nanos(latency),
            costs: None,
            due: Instructions(end - latency),
            ..self.execution.clone()
        };
        let sample = ExplainedSample {
            since: self.since,
            ..sample("full", latency)
        };
        tell(&execution, &self.symbols, &(), sample, &LabSurroundings::default())
    }

    /// The spans until this CPU is interrupted, each with its length, and the number of notes.
    fn before(&self, latency: u64) -> (Vec<(String, u64)>, usize) {
        let told = self.explained(latency).unwrap().breakdown;
        let spans = told
            .spans()
            .iter()
            .map(|s| (s.what.name().title.to_string(), s.length_ns.0));
        let before = spans.take_while(|(title, _)| title != "waking interrupt");
        (before.collect(), told.notes().len())
    }
}

fn spans(of: &[(&str, u64)]) -> Vec<(String, u64)> {
    of.iter()
        .map(|(title, length)| ((*title).to_string(), *length))
        .collect()
}

#[test]
fn a_wake_up_is_what_the_sender_took_the_way_and_what_this_cpu_took() {
    let wake = RemoteWake::new(Since::Woken, 0);
    let parts = spans(&[("send", wake.send), ("interrupt pending", 11)]);
    assert_eq!(wake.before(wake.send + 11 + wake.own), (parts, 0));
    assert_eq!(wake.before(wake.send + wake.own), (spans(&[("send", wake.send)]), 0));
    let told = wake.explained(wake.send + wake.own).unwrap().breakdown;
    let rest: Vec<_> = told.spans().iter().skip(1).map(|s| s.what.name().title).collect();
    assert_eq!(
        rest,
        [
            "waking interrupt",
            "leave idle",
            "schedule",
            "switch",
            "return to user",
            "probe's code"
        ]
    );
    let send = &told.spans()[0];
    assert_eq!(
        (send.task.comm.as_str(), send.instructions),
        ("probe", Some(Instructions(wake.send)))
    );
    assert_eq!(send.sender.as_ref().unwrap().by(), Some("try_to_wake_up"));
}

#[test]
fn what_this_cpu_ran_before_it_was_interrupted_is_told() {
    let wake = RemoteWake::new(Since::Woken, 40);
    let told = wake.before(wake.send + 3 + 40 + wake.own);
    let parts = spans(&[("send", wake.send), ("interrupt pending", 3), ("interrupt pending", 40)]);
    assert_eq!(told, (parts, 0));
    // The sending CPU's clock was behind: the CPU had run for a part of the time before it sent the interrupt.
    let (parts, _) = wake.before(wake.send + 30 + wake.own);
    assert_eq!(parts.last().unwrap().1, 30);
}

#[test]
fn a_sender_whose_clock_was_ahead_is_noted() {
    let wake = RemoteWake::new(Since::Woken, 0);
    assert_eq!(wake.before(5 + wake.own), (spans(&[("send", 5)]), 1));
    // The clocks make it seem as if this CPU was interrupted before the sender read its clock.
    assert_eq!(wake.before(wake.own - 2).0, spans(&[]));
}

#[test]
fn what_another_cpu_did_while_its_timer_was_pending_is_told() {
    let wake = RemoteWake::new(Since::DueElsewhere, 0);
    let told = wake.explained(13 + wake.send + wake.own).unwrap().breakdown;
    let before: Vec<_> = told
        .spans()
        .iter()
        .take_while(|s| s.what.name().title != "waking interrupt")
        .collect();
    let parts: Vec<_> = before
        .iter()
        .map(|s| (s.what.name().title, s.length_ns.0, s.cpu))
        .collect();
    assert_eq!(
        parts,
        [
            ("interrupt pending", 2, Some(1)),
            ("interrupts off", 11, Some(1)),
            ("send", wake.send, Some(1))
        ]
    );
    let SpanKind::IrqsOff { off: Some(off), .. } = &before[1].what else {
        panic!("{:?}", before[1].what);
    };
    assert_eq!((off.function.as_str(), off.offset_ns), ("locked", Some(2)));
    // A latency longer than what is known about that CPU: what kept it before is not.
    let told = wake.explained(900 + wake.send + wake.own).unwrap().breakdown;
    let first = &told.spans()[0];
    assert_eq!(
        (first.what.name().title, first.length_ns.0, first.cpu),
        ("unexplained", 900 - 45, Some(1))
    );
}

#[test]
fn without_an_interrupt_from_another_cpu_there_is_a_note() {
    let mut wake = RemoteWake::new(Since::Woken, 0);
    let told = |wake: &RemoteWake| wake.explained(wake.own + 5).unwrap().breakdown;
    wake.execution.elsewhere[0].task.0 = 77;
    assert_eq!(told(&wake).notes().len(), 1);
    wake.execution.elsewhere.clear();
    assert_eq!(told(&wake).notes().len(), 1);
}
