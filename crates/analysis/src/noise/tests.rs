use super::{GapPart, NoiseRow, Who, gather, parts};
use crate::breakdown::testing::SyntheticMachine;
use worstcase_contract::Instructions;
use worstcase_lab::execution::{Elsewhere, Execution, Why};

/// The rows of a gap that begins where the machine was due: name, times, instructions.
fn noise_rows(m: &SyntheticMachine) -> Vec<(String, u64, u64)> {
    let (execution, symbols) = m.execution();
    let parts = parts(&execution, &symbols, &());
    let line = |part: &GapPart| (part.who.to_string(), part.times, part.instructions);
    parts.iter().map(line).collect()
}

fn line(name: &str, times: u64, instructions: u64) -> (String, u64, u64) {
    (name.into(), times, instructions)
}

/// A thread that computes, and a gap that begins after ten of its instructions.
fn spinning() -> SyntheticMachine {
    let mut m = SyntheticMachine::in_user(7, "probe");
    m.work(10).due().work(3);
    m
}

#[test]
fn an_interrupt_is_told_by_what_it_calls_and_soft_interrupts_are_their_own() {
    let mut m = spinning();
    m.interrupt("asm_sysvec_apic_timer_interrupt").work(5);
    m.call("hrtimer_interrupt").call("__hrtimer_run_queues");
    m.calls("tick_sched_timer", 50).ret().ret();
    m.call("__do_softirq").work(4);
    m.call("run_timer_softirq").jump("__run_timers").call("call_timer_fn");
    m.call("process_timeout").work(2).jump("wake_up_process").work(6).ret();
    m.ret().ret();
    m.calls("rcu_core_si", 20).ret();
    m.iret().work(4);
    let all = noise_rows(&m);
    // Entry 5, two calls and their returns, the tick's call and 51; the call of the soft interrupts, and the way back.
    let timer = line("timer interrupt: tick_sched_timer", 1, 5 + 4 + 52 + 2);
    assert_eq!(all[0], timer);
    assert_eq!(all[1].0, "soft interrupt run_timer_softirq: process_timeout");
    assert_eq!(all[2], line("soft interrupt rcu_core_si", 1, 21));
    assert_eq!(all.len(), 3);
    let (execution, _) = m.execution();
    let own = 3 + 4;
    let sum: u64 = all.iter().map(|part| part.2).sum();
    assert_eq!(sum + own, execution.sample.0 - execution.due.0);
}

#[test]
fn interrupts_in_a_row_are_counted_and_their_sender_is_named() {
    let mut m = spinning();
    for _ in 0..2 {
        m.interrupt("asm_sysvec_call_function_single").work(1);
        m.call("sysvec_call_function_single");
        m.jump("__flush_smp_call_function_queue");
        m.calls("do_sync_core", 9).ret().iret();
    }
    m.work(4);
    assert_eq!(
        noise_rows(&m),
        [line("call from another CPU: do_sync_core", 2, 2 * (2 + 1 + 11 + 1 + 1))]
    );

    let mut jumps = spinning();
    jumps
        .interrupt("asm_sysvec_call_function_single")
        .calls("irq_enter_rcu", 3);
    jumps
        .call("sysvec_call_function_single")
        .jump("__flush_smp_call_function_queue");
    jumps.jump("sched_ttwu_pending").work(5).ret().iret().work(4);
    assert_eq!(noise_rows(&jumps)[0].0, "call from another CPU: sched_ttwu_pending");

    let mut sender = SyntheticMachine::in_user(83, "load");
    sender.work(3).syscall().call("text_poke_bp_batch").work(4);
    sender.call("apic_mem_write").work(2);
    let (ran, _) = sender.execution();
    let (execution, symbols) = m.execution();
    let sent = Elsewhere {
        why: Why::Sends,
        at: execution.due,
        cpu: 0,
        count: Instructions(sender.count),
        task: (83, "load".into()),
        system_call: Some(0),
        steps: Vec::new(),
        goes_on: false,
    };
    let execution = Execution {
        elsewhere: vec![Elsewhere {
            steps: ran.steps,
            ..sent
        }],
        ..execution
    };
    let parts = parts(&execution, &symbols, &());
    let sender = parts[0].sender.as_ref().unwrap();
    assert!(sender.summary().ends_with("load in read(2)"), "{}", sender.summary());
}

/// arm64: one entry for all interrupts, and from 7.x on one for all that are pending.
#[test]
fn what_comes_by_an_entry_of_all_is_told_by_what_runs_in_it() {
    let of_entry = |handlers: &[&[&str]]| {
        let mut m = spinning();
        m.interrupt("el1h_64_irq").work(5).call("el1_interrupt");
        for functions in handlers {
            functions.iter().for_each(|function| {
                m.call(function).work(2);
            });
            functions.iter().for_each(|_| {
                m.ret();
            });
        }
        m.ret().iret().work(4);
        noise_rows(&m).remove(0).0
    };
    let timer = [
        "arch_timer_handler_virt",
        "hrtimer_interrupt",
        "__hrtimer_run_queues",
        "tick_nohz_handler",
    ];
    let queue = "__flush_smp_call_function_queue";
    let call = [
        "ipi_handler",
        "generic_smp_call_function_single_interrupt",
        queue,
        "do_nothing",
    ];
    assert_eq!(of_entry(&[&timer]), "timer interrupt: tick_nohz_handler");
    assert_eq!(of_entry(&[&call]), "call from another CPU: do_nothing");
    assert_eq!(of_entry(&[&["ipi_handler"]]), "reschedule from another CPU");
    assert_eq!(of_entry(&[&["ipi_handler", "irq_work_run"]]), "irq work");
    let both = "timer interrupt and call from another CPU: do_nothing + tick_nohz_handler";
    assert_eq!(of_entry(&[&timer, &call]), both);
    assert_eq!(of_entry(&[&["gic_handle_irq", "vp_interrupt"]]), "interrupt");
}

#[test]
fn a_worker_is_told_by_its_work_and_switching_is_the_scheduler_s() {
    let mut m = spinning();
    m.park(20, &[("worker_thread", 8), ("kthread", 8)]);
    m.interrupt("asm_sysvec_reschedule_ipi")
        .work(3)
        .call("__schedule")
        .work(5);
    m.switch(20, "kworker/1:0", "process_one_work");
    m.call("process_one_work").calls("vmstat_update", 30).ret();
    m.call("__schedule").work(5).switch(7, "probe", "__schedule");
    m.ret().iret().work(4);
    let all = noise_rows(&m);
    let names: Vec<&str> = all.iter().map(|part| part.0.as_str()).collect();
    assert_eq!(
        names,
        [
            "reschedule from another CPU",
            "scheduler",
            "thread kworker: vmstat_update"
        ]
    );
}

#[test]
fn a_thread_that_nobody_stopped_took_longer_itself() {
    let mut m = spinning();
    m.work(200);
    assert_eq!(noise_rows(&m), [line("the thread itself", 1, 203)]);
}

#[test]
fn rows_are_of_who_and_from_whom() {
    let part = |instructions| GapPart {
        who: Who::Thread {
            comm: "ksoftirqd/1".into(),
            functions: Vec::new(),
        },
        times: 1,
        instructions,
        sender: None,
    };
    let tick = GapPart {
        who: Who::Kernel,
        ..part(5)
    };
    let rows = gather(vec![vec![part(100), tick], vec![part(300)]]);
    let line = |row: &NoiseRow| (row.name.clone(), row.gaps, row.times, row.instructions.0, row.longest.0);
    assert_eq!(
        rows.iter().map(line).collect::<Vec<_>>(),
        [
            ("thread ksoftirqd/1".into(), 2, 2, 400, 300),
            ("the kernel, for the thread itself".into(), 1, 1, 5, 5)
        ]
    );
}
