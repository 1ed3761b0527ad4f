//! What functions of the kernel mean to a breakdown: one table from names to roles, for Linux 5.10 to 7.x on x86-64, and on
//! arm64 from 6.12 on.

/// What a function is to a breakdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionRole {
    /// The hardware enters here: an interrupt.
    InterruptEntry,
    /// The hardware enters here: a fault or trap.
    ExceptionEntry,
    /// User code enters here.
    SyscallEntry,
    /// The function in which a new thread begins.
    ThreadStart,
    /// The outermost function of a kernel thread or of the idle loop: its caller never goes on.
    ThreadMain,
    /// Compiler's glue around indirect jumps and returns: no function of its own.
    Thunk,
    /// Changes the stack, and with it the thread.
    SwitchTo,
    /// Belongs to the switch, around the change of stacks.
    SwitchWork,
    /// Runs soft interrupts.
    SoftIrq,
    /// Expires timers in soft interrupts.
    SoftTimers,
    /// The timer interrupt's own handler.
    TimerHandler,
    /// Calls the functions of the timers that expired, one after the other.
    TimerQueue,
    /// A timer's function that wakes the thread which waits for the timer.
    Wake,
    /// Wakes a thread.
    TryToWake,
    /// Marks the running thread for rescheduling.
    Resched,
    /// The scheduler.
    Schedule,
    /// Calls a device's handlers.
    DeviceHandlers,
    /// Chooses an ordinary thread in the fair server's turn, which is before that of real-time threads.
    FairServer,
    /// Chooses a real-time thread.
    RealTimePick,
    /// Glue that calls the scheduler, but is not the reason.
    ScheduleGlue,
    /// The way to user mode, where need_resched is looked at.
    ExitToUser,
    /// Work that was put off until a thread goes back to user mode.
    ExitWork,
    /// Takes a spin lock: preemption is off from here on.
    SpinLock,
    /// Takes a spin lock if it is free.
    SpinTry,
    /// Gives a spin lock back.
    SpinUnlock,
    /// Waits for a spin lock that another CPU holds.
    SpinWait,
    /// Switches bottom halves off, and with them preemption.
    BottomHalvesOff,
    /// Waits for a lock that has an owner with a priority.
    PiBlock,
    /// Changes another thread's priority for a lock's sake.
    PiBoost,
    /// Waits on a condition without ever giving the CPU away by itself.
    Idle,
}

/// How a name is compared with the table.
enum NamePattern {
    Is(&'static str),
    Begins(&'static str),
}
use NamePattern::{Begins, Is};

/// The first line that fits counts.
const ROLES: &[(NamePattern, FunctionRole)] = &[
    (Begins("asm_sysvec_"), FunctionRole::InterruptEntry),
    (Is("asm_common_interrupt"), FunctionRole::InterruptEntry),
    (Is("asm_spurious_interrupt"), FunctionRole::InterruptEntry),
    (Is("irq_entries_start"), FunctionRole::InterruptEntry),
    (Is("spurious_entries_start"), FunctionRole::InterruptEntry),
    // arm64: one entry for all interrupts.
    (Is("el1h_64_irq"), FunctionRole::InterruptEntry),
    (Is("el0t_64_irq"), FunctionRole::InterruptEntry),
    (Is("el0t_32_irq"), FunctionRole::InterruptEntry),
    (Is("el1_irq"), FunctionRole::InterruptEntry),
    (Is("el0_irq"), FunctionRole::InterruptEntry),
    (Is("el1h_64_sync"), FunctionRole::ExceptionEntry),
    (Is("el0t_64_sync"), FunctionRole::SyscallEntry),
    (Is("el0t_32_sync"), FunctionRole::SyscallEntry),
    (Begins("asm_exc_"), FunctionRole::ExceptionEntry),
    (Begins("entry_SYSCALL_64"), FunctionRole::SyscallEntry),
    (Begins("entry_SYSCALL_compat"), FunctionRole::SyscallEntry),
    (Begins("entry_SYSENTER_compat"), FunctionRole::SyscallEntry),
    (Begins("entry_INT80_compat"), FunctionRole::SyscallEntry),
    (Is("asm_int80_emulation"), FunctionRole::SyscallEntry),
    (Is("ret_from_fork"), FunctionRole::ThreadStart),
    (Is("ret_from_fork_asm"), FunctionRole::ThreadStart),
    (Is("smpboot_thread_fn"), FunctionRole::ThreadMain),
    (Is("worker_thread"), FunctionRole::ThreadMain),
    (Is("kthread_worker_fn"), FunctionRole::ThreadMain),
    (Is("rescuer_thread"), FunctionRole::ThreadMain),
    (Is("irq_thread"), FunctionRole::ThreadMain),
    (Is("rcu_gp_kthread"), FunctionRole::ThreadMain),
    (Is("rcu_tasks_kthread"), FunctionRole::ThreadMain),
    (Is("kdamond_fn"), FunctionRole::ThreadMain),
    (Is("kswapd"), FunctionRole::ThreadMain),
    (Is("kcompactd"), FunctionRole::ThreadMain),
    (Is("khugepaged"), FunctionRole::ThreadMain),
    (Is("kauditd_thread"), FunctionRole::ThreadMain),
    (Is("cpu_startup_entry"), FunctionRole::ThreadMain),
    (Begins("__x86_indirect_"), FunctionRole::Thunk),
    (Begins("__x86_return_thunk"), FunctionRole::Thunk),
    (Begins("retbleed_return_thunk"), FunctionRole::Thunk),
    (Begins("zen_untrain_ret"), FunctionRole::Thunk),
    (Begins("entry_untrain_ret"), FunctionRole::Thunk),
    (Begins("srso_"), FunctionRole::Thunk),
    (Begins("its_return_thunk"), FunctionRole::Thunk),
    (Is("__switch_to_asm"), FunctionRole::SwitchTo),
    (Is("cpu_switch_to"), FunctionRole::SwitchTo),
    (Is("__switch_to"), FunctionRole::SwitchTo),
    (Begins("switch_mm_irqs_off"), FunctionRole::SwitchWork),
    (Begins("finish_task_switch"), FunctionRole::SwitchWork),
    (Is("schedule_tail"), FunctionRole::SwitchWork),
    (Is("enter_lazy_tlb"), FunctionRole::SwitchWork),
    (Is("__do_softirq"), FunctionRole::SoftIrq),
    (Begins("handle_softirqs"), FunctionRole::SoftIrq),
    (Is("hrtimer_run_softirq"), FunctionRole::SoftTimers),
    (Begins("__handle_irq_event_percpu"), FunctionRole::DeviceHandlers),
    (Is("handle_irq_event_percpu"), FunctionRole::DeviceHandlers),
    (Is("irq_thread_fn"), FunctionRole::DeviceHandlers),
    (Is("irq_forced_thread_fn"), FunctionRole::DeviceHandlers),
    (Is("hrtimer_interrupt"), FunctionRole::TimerHandler),
    (Is("__hrtimer_run_queues"), FunctionRole::TimerQueue),
    (Is("__run_hrtimer"), FunctionRole::TimerQueue),
    (Is("hrtimer_wakeup"), FunctionRole::Wake),
    (Is("it_real_fn"), FunctionRole::Wake),
    (Is("posix_timer_fn"), FunctionRole::Wake),
    (Is("alarm_timer_callback"), FunctionRole::Wake),
    (Is("timerfd_tmrproc"), FunctionRole::Wake),
    (Is("rtc_pie_update_irq"), FunctionRole::Wake),
    (Is("try_to_wake_up"), FunctionRole::TryToWake),
    (Is("resched_curr"), FunctionRole::Resched),
    (Is("__resched_curr"), FunctionRole::Resched),
    (Is("__schedule"), FunctionRole::Schedule),
    (Is("fair_server_pick_task"), FunctionRole::FairServer),
    (Is("pick_task_rt"), FunctionRole::RealTimePick),
    (Is("pick_next_task_rt"), FunctionRole::RealTimePick),
    (Is("schedule"), FunctionRole::ScheduleGlue),
    (Is("schedule_preempt_disabled"), FunctionRole::ScheduleGlue),
    (Is("schedule_rtlock"), FunctionRole::ScheduleGlue),
    (Is("schedule_idle"), FunctionRole::ScheduleGlue),
    (Is("__cond_resched"), FunctionRole::ScheduleGlue),
    (Begins("preempt_schedule"), FunctionRole::ScheduleGlue),
    (Is("raw_irqentry_exit_cond_resched"), FunctionRole::ScheduleGlue),
    (Begins("irqentry_exit_cond_resched"), FunctionRole::ScheduleGlue),
    (Is("arm64_preempt_schedule_irq"), FunctionRole::ScheduleGlue),
    (Begins("exit_to_user_mode"), FunctionRole::ExitToUser),
    (Begins("arm64_exit_to_user_mode"), FunctionRole::ExitToUser),
    (Is("prepare_exit_to_user_mode"), FunctionRole::ExitToUser),
    (Is("do_notify_resume"), FunctionRole::ExitToUser),
    (Begins("syscall_exit_to_user_mode"), FunctionRole::ExitToUser),
    (Begins("irqentry_exit_to_user_mode"), FunctionRole::ExitToUser),
    (Is("prepare_exit_to_usermode"), FunctionRole::ExitToUser),
    (Is("task_work_run"), FunctionRole::ExitWork),
    (Is("__rseq_handle_notify_resume"), FunctionRole::ExitWork),
    (Is("uprobe_notify_resume"), FunctionRole::ExitWork),
    (Is("mem_cgroup_handle_over_high"), FunctionRole::ExitWork),
    (Is("__mem_cgroup_handle_over_high"), FunctionRole::ExitWork),
    (Is("blkcg_maybe_throttle_current"), FunctionRole::ExitWork),
    (Begins("_raw_spin_trylock"), FunctionRole::SpinTry),
    (Begins("__raw_spin_trylock"), FunctionRole::SpinTry),
    (Begins("_raw_read_trylock"), FunctionRole::SpinTry),
    (Begins("__raw_read_trylock"), FunctionRole::SpinTry),
    (Begins("_raw_write_trylock"), FunctionRole::SpinTry),
    (Begins("__raw_write_trylock"), FunctionRole::SpinTry),
    (Begins("native_queued_spin_lock_slowpath"), FunctionRole::SpinWait),
    (Begins("queued_spin_lock_slowpath"), FunctionRole::SpinWait),
    (Begins("queued_read_lock_slowpath"), FunctionRole::SpinWait),
    (Begins("queued_write_lock_slowpath"), FunctionRole::SpinWait),
    (Begins("__local_bh_disable"), FunctionRole::BottomHalvesOff),
    (Begins("_raw_spin_lock"), FunctionRole::SpinLock),
    (Begins("__raw_spin_lock"), FunctionRole::SpinLock),
    (Begins("_raw_read_lock"), FunctionRole::SpinLock),
    (Begins("__raw_read_lock"), FunctionRole::SpinLock),
    (Begins("_raw_write_lock"), FunctionRole::SpinLock),
    (Begins("__raw_write_lock"), FunctionRole::SpinLock),
    (Begins("_raw_spin_unlock"), FunctionRole::SpinUnlock),
    (Begins("__raw_spin_unlock"), FunctionRole::SpinUnlock),
    (Begins("_raw_read_unlock"), FunctionRole::SpinUnlock),
    (Begins("__raw_read_unlock"), FunctionRole::SpinUnlock),
    (Begins("_raw_write_unlock"), FunctionRole::SpinUnlock),
    (Begins("__raw_write_unlock"), FunctionRole::SpinUnlock),
    (Begins("rtlock_slowlock"), FunctionRole::PiBlock),
    (Begins("rt_mutex_slowlock"), FunctionRole::PiBlock),
    (Begins("__rt_mutex_slowlock"), FunctionRole::PiBlock),
    (Is("rt_spin_lock_slowlock"), FunctionRole::PiBlock),
    (Is("futex_lock_pi"), FunctionRole::PiBlock),
    (Begins("task_blocks_on_rt_mutex"), FunctionRole::PiBlock),
    (Is("rt_mutex_setprio"), FunctionRole::PiBoost),
    (Is("do_idle"), FunctionRole::Idle),
];

/// A function's name in the source: the compiler makes `.isra.0`, `.constprop.0`, `.part.0` of it.
pub(crate) fn in_source(name: &str) -> &str {
    name.split_once('.').map_or(name, |(own, _)| own)
}

/// The role of a function, if it has one. Suffixes of the compiler (`.isra.0`, `.constprop.0`) do not matter.
pub(crate) fn role(name: &str) -> Option<FunctionRole> {
    let name = in_source(name);
    let fits = |n: &NamePattern| match n {
        Is(whole) => name == *whole,
        Begins(start) => name.starts_with(start),
    };
    ROLES.iter().find(|(n, _)| fits(n)).map(|(_, role)| *role)
}

/// Functions that stand for the mechanism itself: a sentence names their caller instead.
pub(crate) fn is_helper(name: &str) -> bool {
    const HELPERS: [&str; 14] = [
        "_raw_",
        "__raw_spin_",
        "__raw_read_",
        "__raw_write_",
        "rt_spin_",
        "rt_mutex_",
        "__rt_mutex_",
        "rtlock_",
        "rt_read_",
        "rt_write_",
        "preempt_",
        "__cond_resched",
        "__local_bh_",
        "local_bh_",
    ];
    const GLUE: [FunctionRole; 3] = [FunctionRole::ScheduleGlue, FunctionRole::Schedule, FunctionRole::Thunk];
    HELPERS.iter().any(|start| name.starts_with(start)) || role(name).is_some_and(|r| GLUE.contains(&r))
}

/// Whether an interrupt's entry is one of those that CPUs send each other.
pub(crate) fn is_from_cpu(entry: &str) -> bool {
    const SENT: [&str; 3] = ["call_function", "reschedule_ipi", "reboot"];
    SENT.iter().any(|part| entry.contains(part))
}

/// Whether an interrupt's entry is the one of devices.
pub(crate) fn is_from_device(entry: &str) -> bool {
    entry.contains("common_interrupt") || is_vector(entry)
}

/// Whether all interrupts have this entry, so that it tells none of them apart.
pub fn is_entry_of_all(entry: &str) -> bool {
    ["el1h_64_irq", "el0t_64_irq", "el0t_32_irq"].contains(&entry)
}

/// What came by an entry that all interrupts have, by the functions that ran in it, in the order of time: each once. None for a
/// device's.
pub(crate) fn came_by_entry_of_all<'f>(ran: impl Iterator<Item = &'f str>) -> Vec<&'static str> {
    const HANDLERS: [(&str, &str); 4] = [
        ("arch_timer_handler", "timer_interrupt"),
        ("irq_work_run", "irq_work"),
        ("flush_smp_call_function_queue", "call_function"),
        ("generic_smp_call_function_single_interrupt", "call_function"),
    ];
    let (mut came, mut is_from_cpu) = (Vec::new(), false);
    for function in ran {
        is_from_cpu |= handles_calls_of_cpus(function);
        let stem = function.trim_start_matches('_');
        let handled = HANDLERS.iter().find(|(handler, _)| stem.starts_with(handler));
        if let Some((_, what)) = handled.filter(|(_, what)| !came.contains(what)) {
            came.push(*what);
        }
    }
    // For a reschedule nothing is called: the way out does it.
    if is_from_cpu && came.iter().all(|what| *what == "timer_interrupt") {
        came.push("reschedule_ipi");
    }
    came
}

/// Whether a function of arm64 handles what CPUs send each other.
pub(crate) fn handles_calls_of_cpus(name: &str) -> bool {
    ["ipi_handler", "do_handle_IPI"].contains(&in_source(name))
}

/// Whether an interrupt's entry belongs to one vector, and goes on in an entry that many vectors share.
pub(crate) fn is_vector(entry: &str) -> bool {
    entry.starts_with("irq_entries_start")
}

/// Whether a function is part of the way from code that wants something of another CPU to the interrupt that is
/// sent.
pub(crate) fn is_way_to_cpus(name: &str) -> bool {
    const WAY: [&str; 18] = [
        "apic_",
        "arch_send_",
        "arch_smp_send_",
        "default_send_IPI",
        "flat_send_IPI",
        "generic_exec_single",
        "gic_ipi_send_",
        "ipi_send_",
        "kick_all_cpus_sync",
        "native_apic_",
        "native_send_",
        "native_smp_send_",
        "on_each_cpu",
        "physflat_send_IPI",
        "send_call_function_single_ipi",
        "smp_call_",
        "smp_cross_call",
        "x2apic_",
    ];
    is_on_way(&WAY, name)
}

/// Whether a function is part of the way from code that gives something back to the wake-up of a waiting thread.
pub(crate) fn is_way_to_wake(name: &str) -> bool {
    const WAY: [&str; 17] = [
        "autoremove_wake",
        "check_preempt",
        "complete",
        "default_wake",
        "folio_unlock",
        "folio_wake",
        "mutex_unlock",
        "resched_curr",
        "rwsem_",
        "swake_up",
        "try_to_wake_up",
        "ttwu_",
        "unlock_page",
        "up_",
        "wake",
        "woken_wake",
        "wq_",
    ];
    is_on_way(&WAY, name)
}

fn is_on_way(way: &[&str], name: &str) -> bool {
    let stem = name.trim_start_matches('_');
    way.iter().any(|start| stem.starts_with(start)) || is_helper(name)
}

/// Whether a function has other CPUs call functions, and waits until they have.
pub(crate) fn calls_cpus(name: &str) -> bool {
    const CALLS: [&str; 2] = ["smp_call_function_many_cond", "smp_call_function_single"];
    CALLS.iter().any(|start| name.starts_with(start))
}

/// Whether the caller of timers' functions calls this function for itself.
pub(crate) fn is_of_timer_queue(name: &str) -> bool {
    const OWN: [&str; 7] = [
        "_raw_",
        "__remove_hrtimer",
        "enqueue_hrtimer",
        "timerqueue_",
        "rb_",
        "hrtimer_update_",
        "__hrtimer_",
    ];
    OWN.iter().any(|start| name.starts_with(start))
}

/// Whether a function calls others on behalf of code that asked for them: timers, calls from other CPUs, work.
pub(crate) fn is_queue(name: &str) -> bool {
    const QUEUES: [&str; 10] = [
        "call_timer_fn",
        "cpu_stopper_thread",
        "expire_timers",
        "flush_smp_call_function_queue",
        "generic_smp_call_function_single_interrupt",
        "irq_work_single",
        "process_one_work",
        "rcu_do_batch",
        "run_posix_cpu_timers",
        "tasklet_action_common",
    ];
    let stem = in_source(name.trim_start_matches('_'));
    QUEUES.contains(&stem) || role(name) == Some(FunctionRole::TimerQueue)
}

/// Whether a queue jumps to a function, so that the queue is not among the function's callers.
pub(crate) fn is_jumped_to_by_queue(name: &str) -> bool {
    in_source(name) == "sched_ttwu_pending"
}

/// Whether a function that a queue calls is the queue's own helper, and no requested work.
pub(crate) fn is_of_queue(name: &str) -> bool {
    const OWN: [&str; 15] = [
        "complete",
        "cpu_stop_",
        "csd_",
        "llist_",
        "__list_",
        "rcu_segcblist_",
        "rcu_cblist_",
        "__rcu_",
        "str",
        "sized_str",
        "move_linked_works",
        "wake_up_worker",
        "kick_pool",
        "pwq_",
        "worker_",
    ];
    OWN.iter().any(|start| name.starts_with(start)) || is_of_timer_queue(name) || is_queue(name) || is_helper(name)
}

/// The system call that a call chain shows, its functions given from the innermost on.
pub(crate) fn innermost_call<'a>(functions: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    functions.into_iter().find_map(system_call)
}

/// The system call of a kernel function such as `__x64_sys_read`, or of `ksys_read`, to which that jumps; named as in its
/// manual page.
pub(crate) fn system_call(name: &str) -> Option<&str> {
    const RENAMED: [(&str, &str); 6] = [
        ("newstat", "stat"),
        ("newfstat", "fstat"),
        ("newlstat", "lstat"),
        ("newuname", "uname"),
        ("sendfile64", "sendfile"),
        ("ni_syscall", "syscall"),
    ];
    let name = in_source(name);
    let call = [
        "__x64_sys_",
        "__ia32_sys_",
        "__arm64_sys_",
        "__arm64_compat_sys_",
        "__se_sys_",
        "__do_sys_",
        "ksys_",
    ]
    .iter()
    .find_map(|start| name.strip_prefix(start))?;
    Some(
        RENAMED
            .iter()
            .find(|(own, _)| *own == call)
            .map_or(call, |(_, known)| known),
    )
}

/// The function that a part of it belongs to: `foo.cold` is `foo`, labels of the system call's entry are the entry.
pub(crate) fn whole(name: &str) -> &str {
    if name.starts_with("entry_SYSCALL_64") {
        return "entry_SYSCALL_64";
    }
    name.split_once(".cold").map_or(name, |(whole, _)| whole)
}

/// Whether a function is on the way to the function that switched interrupts off: the scheduler does that on its
/// own account.
pub(crate) fn is_flag_helper(name: &str) -> bool {
    is_helper(name) && role(name) != Some(FunctionRole::Schedule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_roles() {
        assert_eq!(
            role("asm_sysvec_apic_timer_interrupt"),
            Some(FunctionRole::InterruptEntry)
        );
        assert_eq!(role("finish_task_switch.isra.0"), Some(FunctionRole::SwitchWork));
        assert_eq!(role("handle_softirqs.constprop.0"), Some(FunctionRole::SoftIrq));
        assert_eq!(role("rtc_pie_update_irq"), Some(FunctionRole::Wake));
        assert!(handles_calls_of_cpus("do_handle_IPI.isra.0") && is_queue("tasklet_action_common.isra.0"));
        assert_eq!(system_call("__se_sys_read.constprop.0"), Some("read"));
        assert_eq!(role("schedule_timeout"), None);
        assert_eq!(role("__schedule"), Some(FunctionRole::Schedule));
        assert!(is_helper("_raw_spin_lock_irqsave") && is_helper("preempt_schedule_common"));
        assert!(!is_helper("free_pcppages_bulk"));
        assert_eq!(system_call("__x64_sys_shmdt"), Some("shmdt"));
        assert_eq!(system_call("__x64_sys_sendfile64"), Some("sendfile"));
        assert_eq!(whole("do_fault.cold"), "do_fault");
        assert_eq!(whole("entry_SYSCALL_64_after_hwframe"), "entry_SYSCALL_64");
        assert_eq!(role("handle_softirqs.constprop.0"), Some(FunctionRole::SoftIrq));
        assert_eq!(system_call("ksys_read"), Some("read"));
        let came = |ran: &[&'static str]| came_by_entry_of_all(ran.iter().copied());
        assert_eq!(came(&["do_handle_IPI", "irq_work_run", "work"]), ["irq_work"]);
        let call = "generic_smp_call_function_single_interrupt";
        assert_eq!(
            came(&["do_handle_IPI", call, "__flush_smp_call_function_queue"]),
            ["call_function"]
        );
        assert_eq!(came(&["ipi_handler"]), ["reschedule_ipi"]);
        assert_eq!(
            came(&["arch_timer_handler_virt", "ipi_handler", call]),
            ["timer_interrupt", "call_function"]
        );
        assert!(came(&["pl061_irq_handler"]).is_empty());
        assert!(is_from_cpu("call_function") && is_from_cpu("reschedule_ipi") && !is_from_cpu("timer_interrupt"));
        // The function with which a worker copies its description belongs to no work item (`sized_strscpy` from
        // 6.12 on).
        assert!(is_of_queue("sized_strscpy") && is_of_queue("strscpy") && !is_of_queue("refresh_vm_stats"));
    }
}
