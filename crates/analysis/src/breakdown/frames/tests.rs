use super::{WindowWalk, walk};
use crate::breakdown::stacks::FrameKind;
use crate::breakdown::testing::SyntheticMachine;

/// Each interval's chain, as `outer;inner`, runs of equal ones once.
fn chains(walk: &WindowWalk) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for interval in &walk.intervals {
        let names: Vec<_> = walk
            .stacks
            .chain(interval.stack)
            .iter()
            .map(|f| match f.kind {
                FrameKind::TailCall => format!("~{}", f.function),
                _ => f.function.clone(),
            })
            .collect();
        let chain = names.join(";");
        if out.last() != Some(&chain) {
            out.push(chain);
        }
    }
    out
}

fn walked(machine: &SyntheticMachine) -> WindowWalk {
    let (execution, symbols) = machine.execution();
    walk(&execution, &symbols)
}

#[test]
fn an_interrupt_within_a_system_call() {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.work(3).syscall().work(2).call("do_syscall_64").work(2);
    // A thread in the middle of a block, and one at the end of a block that calls.
    m.work_of(2, 5)
        .interrupt("asm_sysvec_apic_timer_interrupt")
        .calls("sysvec_apic_timer_interrupt", 4)
        .iret();
    m.call("vfs_read")
        .interrupt("asm_sysvec_apic_timer_interrupt")
        .work(1)
        .iret();
    m.work(2).ret().work(1).ret().sysret().work(1);
    let walk = walked(&m);
    assert_eq!(walk.irregular, 0);
    assert_eq!(
        chains(&walk),
        [
            "[user] load",
            "[user] load;entry_SYSCALL_64",
            "[user] load;entry_SYSCALL_64;do_syscall_64",
            "[user] load;entry_SYSCALL_64;do_syscall_64;asm_sysvec_apic_timer_interrupt",
            "[user] load;entry_SYSCALL_64;do_syscall_64;asm_sysvec_apic_timer_interrupt;sysvec_apic_timer_interrupt",
            "[user] load;entry_SYSCALL_64;do_syscall_64;asm_sysvec_apic_timer_interrupt",
            "[user] load;entry_SYSCALL_64;do_syscall_64",
            // The call was executed, its first instruction was not.
            "[user] load;entry_SYSCALL_64;do_syscall_64;asm_sysvec_apic_timer_interrupt",
            "[user] load;entry_SYSCALL_64;do_syscall_64;vfs_read",
            "[user] load;entry_SYSCALL_64;do_syscall_64",
            "[user] load;entry_SYSCALL_64",
            "[user] load",
        ]
    );
}

#[test]
fn a_tail_call_takes_its_callers_place() {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.syscall()
        .call("a")
        .work(1)
        .jump("b")
        .work(2)
        .ret()
        .work(1)
        .sysret()
        .work(1);
    assert_eq!(
        chains(&walked(&m))[1..4],
        [
            "[user] load;entry_SYSCALL_64",
            "[user] load;entry_SYSCALL_64;a",
            "[user] load;entry_SYSCALL_64;~b"
        ]
        .map(String::from)[..]
    );
}

#[test]
fn thunks_are_no_functions() {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.syscall()
        .call("a")
        .call_by_retpoline("b")
        .work(2)
        .ret_by_thunk()
        .work(1)
        .ret()
        .sysret()
        .work(1);
    let walk = walked(&m);
    assert_eq!(walk.irregular, 0);
    let chains = chains(&walk);
    assert!(
        chains.contains(&"[user] load;entry_SYSCALL_64;a;b".to_string()),
        "{chains:#?}"
    );
    assert_eq!(
        chains[chains.len() - 3..],
        [
            "[user] load;entry_SYSCALL_64;a",
            "[user] load;entry_SYSCALL_64",
            "[user] load",
        ]
        .map(String::from)[..]
    );
}

/// A window that begins in the innermost function: returns through thunks tell its callers as others do.
#[test]
fn a_return_by_a_thunk_reveals_the_caller() {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.syscall().call("a").call("b").work(3);
    let begins = m.steps();
    m.work(2).ret_by_thunk().work(1).ret_by_thunk().sysret().work(1);
    let (execution, symbols) = m.execution_from(begins);
    let walk = walk(&execution, &symbols);
    assert_eq!(walk.irregular, 0);
    assert_eq!(
        chains(&walk),
        [
            "[user] load;entry_SYSCALL_64;a;b",
            "[user] load;entry_SYSCALL_64;a",
            "[user] load;entry_SYSCALL_64",
            "[user] load",
        ]
    );
}

#[test]
fn calls_within_a_function_are_no_frames() {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.syscall()
        .call("a")
        .fill_return_stack(32)
        .work(2)
        .ret()
        .sysret()
        .work(1);
    let walk = walked(&m);
    assert_eq!(walk.irregular, 0);
    let expected = [
        "[user] load",
        "[user] load;entry_SYSCALL_64",
        "[user] load;entry_SYSCALL_64;a",
        "[user] load;entry_SYSCALL_64",
        "[user] load",
    ];
    assert_eq!(chains(&walk), expected.map(String::from));
}

#[test]
fn threads_keep_their_chains() {
    let mut m = SyntheticMachine::in_user(7, "load");
    let user = crate::breakdown::testing::USER;
    m.park(
        9,
        &[
            ("", user),
            ("entry_SYSCALL_64", 64),
            ("do_nanosleep", 32),
            ("__schedule", 0x400),
        ],
    );
    m.syscall()
        .call("do_wait")
        .call("__schedule")
        .work(2)
        .switch(9, "probe", "")
        .work(1);
    m.ret().work(1).ret().work(1).sysret().work(2);
    m.syscall()
        .call("do_nanosleep")
        .call("__schedule")
        .switch(7, "load", "")
        .work(3)
        .ret()
        .work(1)
        .ret()
        .sysret()
        .work(1);
    let walk = walked(&m);
    assert_eq!(walk.irregular, 0);
    let chains = chains(&walk);
    for chain in [
        // Only the returns revealed the probe's frames, and later.
        "[user] probe;entry_SYSCALL_64;do_nanosleep;__schedule",
        "[user] probe;entry_SYSCALL_64",
        "[user] probe",
        "[user] load;entry_SYSCALL_64;do_wait;__schedule",
        "[user] load",
    ] {
        assert!(chains.contains(&chain.to_string()), "{chain} in {chains:#?}");
    }
    assert!(
        walk.intervals
            .iter()
            .all(|i| (i.pid == 7) != walk.stacks.chain(i.stack)[0].function.contains("probe"))
    );
}

#[test]
fn a_new_thread_begins_where_it_is_made() {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.syscall()
        .call("__schedule")
        .switch(11, "child", "ret_from_fork")
        .calls("schedule_tail", 2)
        .work(2)
        .iret_to_user()
        .work(1);
    let walk = walked(&m);
    assert_eq!(walk.irregular, 0);
    let chains = chains(&walk);
    assert!(
        chains.contains(&"[user] child;ret_from_fork;schedule_tail".to_string()),
        "{chains:#?}"
    );
}

#[test]
fn a_fault_in_a_user_copy() {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.syscall()
        .call("copy_to_user")
        .work_of(1, 4)
        .interrupt("asm_exc_page_fault")
        .calls("exc_page_fault", 3)
        .iret();
    m.work(3).ret().sysret().work(1);
    let walk = walked(&m);
    assert_eq!(walk.irregular, 0);
    assert_eq!(
        chains(&walk)[3..7],
        [
            "[user] load;entry_SYSCALL_64;copy_to_user;asm_exc_page_fault",
            "[user] load;entry_SYSCALL_64;copy_to_user;asm_exc_page_fault;exc_page_fault",
            "[user] load;entry_SYSCALL_64;copy_to_user;asm_exc_page_fault",
            "[user] load;entry_SYSCALL_64;copy_to_user",
        ]
        .map(String::from)[..]
    );
}

#[test]
fn a_window_that_begins_deep_in_a_chain_is_completed_by_later_returns() {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.syscall()
        .call("a")
        .interrupt("asm_sysvec_apic_timer_interrupt")
        .call("b")
        .call("c")
        .work(2);
    let begin = m.steps();
    m.work(5)
        .ret()
        .work(1)
        .ret()
        .work(1)
        .iret()
        .work(2)
        .ret()
        .sysret()
        .work(1);
    let (execution, symbols) = m.execution_from(begin);
    let walk = walk(&execution, &symbols);
    assert_eq!(walk.irregular, 0);
    assert_eq!(
        chains(&walk)[0],
        "[user] load;entry_SYSCALL_64;a;asm_sysvec_apic_timer_interrupt;b;c"
    );
}

#[test]
fn what_no_return_reveals_stays_unknown() {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.syscall().call("a").call("b").call("c").work(2);
    let begin = m.steps();
    m.work(5).ret().work(1);
    let (execution, symbols) = m.execution_from(begin);
    assert_eq!(chains(&walk(&execution, &symbols)), ["[not seen];b;c", "[not seen];b"]);
}

#[test]
fn the_interrupt_flag_is_followed() {
    let mut m = SyntheticMachine::in_user(7, "load");
    m.work(1)
        .syscall()
        .work(1)
        .sti()
        .call("a")
        .cli()
        .work(3)
        .sti()
        .work(2)
        .ret()
        .sysret()
        .work(1);
    let walk = walked(&m);
    let states: Vec<_> = walk
        .intervals
        .iter()
        .map(|i| (i.end - i.start, i.irqs.unwrap()))
        .collect();
    // User (work, syscall), entry (work, sti), call, a's cli, work and sti, work and ret, sysret, user and sample.
    assert_eq!(
        states,
        [
            (2, true),
            (2, false),
            (1, true),
            (1, true),
            (4, false),
            (3, true),
            (1, true),
            (2, true)
        ]
    );
}
