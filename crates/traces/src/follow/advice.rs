//! What to change about a cause.

use super::calls::CallKind;
use super::path::{Behind, Doing, PartCause};
use crate::events::{CpuContext, PriorityClass, TracedThread};

/// A rule: if it knows the cause, the line to change.
type Rule = fn(&PartCause) -> Option<String>;

/// The rules; the first that knows the cause tells.
const RULES: [Rule; 22] = [
    starts_programs,
    stopped_by_signal,
    plain_mutex,
    memory_map,
    disk,
    full_pipe,
    other_sleeps,
    lower_helper,
    other_computes,
    page_fault,
    signal_handler,
    higher_thread,
    fair_server,
    not_preempted,
    ordinary,
    slack,
    interrupt,
    idle,
    own_call,
    own_sleep,
    own_code,
    late_timer,
];

/// What to change, if a rule knows the cause.
pub fn advice(cause: &PartCause) -> Option<String> {
    RULES.iter().find_map(|rule| rule(cause))
}

/// The command that gives a thread this priority.
fn chrt(thread: &TracedThread, priority: u8) -> String {
    format!("chrt -f -p {} {}", priority.clamp(1, 99), thread.tid)
}

/// The priority of a user that a thread has; the highest under SCHED_DEADLINE.
const fn priority(thread: &TracedThread) -> u8 {
    match thread.class() {
        PriorityClass::Deadline => 99,
        PriorityClass::RealTime(priority) => priority,
        PriorityClass::Ordinary { .. } => 0,
    }
}

fn starts_programs(cause: &PartCause) -> Option<String> {
    const STARTS: [&str; 6] = ["execve", "clone", "clone3", "fork", "vfork", "wait4"];
    let is_one = |call: CallKind| STARTS.contains(&call.name().as_str());
    let waits = cause.via.iter().filter_map(|blocked| blocked.call).any(is_one);
    let runs = matches!(&cause.what, Doing::Call(call) if is_one(*call));
    (waits || runs)
        .then(|| "start no programs, and wait for none, in the loop: let a thread outside of it do that".into())
}

/// Whether more priority would help: something else has the thread's CPU.
const fn is_ready(what: &Doing) -> bool {
    matches!(what, Doing::Ready { .. })
}

fn other_sleeps(cause: &PartCause) -> Option<String> {
    let (blocked, other) = cause
        .links()
        .last()
        .filter(|_| matches!(cause.what, Doing::Sleeps(_)))?;
    Some(format!(
        "{} sleeps while {} waits for it: take the sleep out, or do not wait for it in the loop",
        other.comm, blocked.thread.comm
    ))
}

fn other_computes(cause: &PartCause) -> Option<String> {
    let computes = matches!(cause.what, Doing::User | Doing::Code | Doing::Call(_) | Doing::Fault);
    let (blocked, other) = cause.links().last().filter(|_| computes)?;
    Some(format!(
        "{} computes while {} waits for it: make that part shorter, or do not wait for it in the loop",
        other.comm, blocked.thread.comm
    ))
}

/// A garbage collector stops threads so.
fn stopped_by_signal(cause: &PartCause) -> Option<String> {
    let (stopped, by) = cause.links().find(|(blocked, _)| blocked.handler.is_some())?;
    Some(format!(
        "{} stops {} by a signal and lets it wait, as a garbage collector does: keep the loop in a thread or process that it does \
         not stop, or collect when the loop has time",
        by.comm, stopped.thread.comm
    ))
}

fn plain_mutex(cause: &PartCause) -> Option<String> {
    if matches!(cause.what, Doing::Sleeps(_)) {
        return None;
    }
    let (_, owner) = cause.links().find(|(blocked, owner)| {
        blocked.call.is_some_and(|call| call.is_plain_mutex()) && owner.priority > blocked.thread.priority
    })?;
    Some(format!(
        "priority inversion: the mutex does not lend {} the priority of whoever waits: \
         pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) (std::mutex and Rust's Mutex cannot), or do not share \
         a lock with it",
        owner.comm
    ))
}

/// Calls that change the memory map, and so wait for its lock.
const MAPS: [&str; 6] = ["mmap", "mmap2", "munmap", "brk", "mprotect", "madvise"];

fn memory_map(cause: &PartCause) -> Option<String> {
    let waits = cause.via.first().is_some_and(|blocked| blocked.on_lock) || matches!(cause.what, Doing::KernelLock(_));
    let call = call_of(cause).filter(|call| MAPS.contains(&call.name().as_str()))?;
    match waits {
        true => Some(format!(
            "{call} waits for the lock of the process's memory map, which its other threads take too: allocate all memory \
             before the loop, or let the other threads allocate in a process of their own"
        )),
        false => None,
    }
}

/// The call in which the followed thread was.
fn call_of(cause: &PartCause) -> Option<CallKind> {
    match (cause.via.first(), &cause.what) {
        (Some(blocked), _) => blocked.call,
        (None, Doing::Call(call)) => Some(*call),
        (None, Doing::KernelLock(call) | Doing::Sleeps(call)) => *call,
        (None, Doing::Device { call, .. } | Doing::WokenBy { call, .. }) => *call,
        _ => None,
    }
}

fn full_pipe(cause: &PartCause) -> Option<String> {
    const WRITES: [&str; 6] = ["write", "writev", "sendto", "sendmsg", "splice", "sendfile"];
    let (blocked, reader) = cause.links().next()?;
    let call = blocked.call.filter(|call| WRITES.contains(&call.name().as_str()))?;
    Some(format!(
        "{call} waits until {} has made room: hand the data over without waiting (O_NONBLOCK, a ring in memory), and let a \
         thread outside the loop write it",
        reader.comm
    ))
}

fn lower_helper(cause: &PartCause) -> Option<String> {
    // A thread that is blocked outside of a call was stopped, or waits for a page.
    let lower = cause.links().filter(|(blocked, next)| {
        blocked.call.is_some() && blocked.thread.is_real_time() && next.priority > blocked.thread.priority
    });
    let (blocked, helper) = lower
        .max_by_key(|(_, next)| next.priority)
        .filter(|_| is_ready(&cause.what))?;
    let inherits = blocked.call.is_some_and(|call| call.inherits());
    if inherits {
        return None;
    }
    Some(format!(
        "the cycle depends on {}, whose priority is lower than that of {}: give it the same ({}), or do its part in the loop",
        helper.comm,
        blocked.thread.comm,
        chrt(helper, priority(&blocked.thread))
    ))
}

/// Calls that wait for a disk alone.
const SYNC: [&str; 5] = ["fsync", "fdatasync", "sync_file_range", "msync", "sync"];
/// Calls that can wait for one.
const DISK: [&str; 9] = [
    "read",
    "pread64",
    "readv",
    "write",
    "pwrite64",
    "writev",
    "fallocate",
    "rename",
    "openat",
];
/// Beginnings of the names of kernel threads that work for disks.
const OF_DISKS: [&str; 3] = ["kworker/", "jbd2/", "loop"];

fn disk(cause: &PartCause) -> Option<String> {
    let call = call_of(cause)?;
    let name = call.name();
    let by_worker = cause.links().next().is_some_and(|(_, next)| {
        let next = next.comm.to_string();
        OF_DISKS.iter().any(|worker| next.starts_with(worker))
    });
    let waits = match &cause.what {
        Doing::Device { .. } | Doing::WokenBy { .. } => true,
        _ => !cause.via.is_empty(),
    };
    let is_disk = SYNC.contains(&name.as_str())
        || DISK.contains(&name.as_str())
            && (by_worker || matches!(cause.what, Doing::Device { .. }) && cause.via.is_empty());
    (waits && is_disk).then(|| {
        format!("{call} waits for a device: let a thread outside the loop do it, and hand it the data without waiting")
    })
}

fn page_fault(cause: &PartCause) -> Option<String> {
    (cause.via.is_empty() && cause.what == Doing::Fault).then(|| {
        "lock the memory, and touch it, before the loop: mlockall(MCL_CURRENT | MCL_FUTURE); allocate nothing in the loop".into()
    })
}

fn signal_handler(cause: &PartCause) -> Option<String> {
    matches!(cause.what, Doing::Handler { .. }).then(|| {
        format!(
            "block the signal in {} (pthread_sigmask), and take it in another thread (sigwait)",
            cause.thread.comm
        )
    })
}

fn higher_thread(cause: &PartCause) -> Option<String> {
    let Doing::Ready {
        behind: Behind::Higher(other),
        ..
    } = &cause.what
    else {
        return None;
    };
    let me = &cause.thread;
    Some(format!(
        "{} has the higher priority on the same CPU: keep it on another one (taskset), or give {} a priority above it ({})",
        other.comm,
        me.comm,
        chrt(me, priority(other) + 1)
    ))
}

fn fair_server(cause: &PartCause) -> Option<String> {
    let Doing::Ready {
        is_woken: false,
        behind: Behind::Lower { thread, .. },
    } = &cause.what
    else {
        return None;
    };
    (cause.thread.is_real_time() && !thread.is_real_time()).then(|| {
        "the scheduler gave ordinary threads their share of each second (the fair server since Linux 6.12, RT throttling before): \
         keep ordinary threads off this CPU, let the loop sleep more, or set runtime to 0 in \
         /sys/kernel/debug/sched/fair_server/cpu*/ (before 6.12: kernel.sched_rt_runtime_us = -1)"
            .into()
    })
}

fn not_preempted(cause: &PartCause) -> Option<String> {
    let Doing::Ready {
        is_woken: true,
        behind: Behind::Lower { thread, is_user },
    } = &cause.what
    else {
        return None;
    };
    let name = thread.comm;
    Some(match is_user {
        Some(true) => format!(
            "{name} was in user code, where it can be preempted at once: so the scheduler kept it there (the fair server, RT \
             throttling, a group's runtime), or the interrupt that asks for it came late"
        ),
        _ => format!(
            "{name} was not preempted: it was in the kernel where that is not possible (then a kernel with preempt=full or PREEMPT_RT \
             is better), or the scheduler let it run (the fair server, RT throttling)"
        ),
    })
}

fn ordinary(cause: &PartCause) -> Option<String> {
    let me = &cause.thread;
    match &cause.what {
        Doing::Ready {
            behind: Behind::Equal(other),
            ..
        } if me.is_real_time() => Some(format!(
            "{} has the same priority: threads of one priority wait for each other",
            other.comm
        )),
        Doing::Ready {
            behind: Behind::Ordinary | Behind::Equal(_),
            ..
        } => Some(format!(
            "{} is an ordinary thread and shares its CPU with others: give it a real-time policy ({})",
            me.comm,
            chrt(me, 50)
        )),
        _ => None,
    }
}

fn slack(cause: &PartCause) -> Option<String> {
    matches!(cause.what, Doing::Slack(_)).then(|| {
        format!(
            "the timers of {} have slack: prctl(PR_SET_TIMERSLACK, 1), or a real-time policy, whose timers have none",
            cause.thread.comm
        )
    })
}

fn interrupt(cause: &PartCause) -> Option<String> {
    let (Doing::Interrupted(by)
    | Doing::Ready {
        behind: Behind::Context(by),
        ..
    }) = &cause.what
    else {
        return None;
    };
    match by {
        CpuContext::Device { irq, .. } => Some(format!(
            "keep that interrupt on another CPU: /proc/irq/{irq}/smp_affinity_list (worstcase host doctor shows which can be moved)"
        )),
        CpuContext::Soft(_) => Some(
            "soft interrupts run where their device's interrupt came: keep that on another CPU (worstcase host doctor)"
                .into(),
        ),
        _ => None,
    }
}

fn idle(cause: &PartCause) -> Option<String> {
    let is_idle = match &cause.what {
        Doing::FromIdle(Some(_)) => true,
        Doing::TimerLate(Some(state))
        | Doing::Ready {
            behind: Behind::Idle(Some(state)),
            ..
        } => !state.polls(),
        Doing::Ready {
            behind: Behind::Idle(None),
            ..
        } => true,
        _ => false,
    };
    is_idle.then(|| "keep the CPU out of deep idle states: hold /dev/cpu_dma_latency open with a 0 written to it, while the loop runs".into())
}

fn own_call(cause: &PartCause) -> Option<String> {
    let Doing::Call(call) = &cause.what else { return None };
    let waits = ["sleep", "poll", "select", "futex", "wait"];
    if waits.iter().any(|word| call.name().contains(word)) {
        return None;
    }
    cause
        .via
        .is_empty()
        .then(|| match MAPS.contains(&call.name().as_str()) {
            true => format!("allocate before the loop: {call} works on the memory map in every cycle that calls it"),
            false => format!("{call} itself takes that long: do it before the loop, or in a thread outside of it"),
        })
}

fn own_sleep(cause: &PartCause) -> Option<String> {
    let Doing::Sleeps(Some(call)) = &cause.what else {
        return None;
    };
    cause
        .via
        .is_empty()
        .then(|| format!("the cycle itself waits there: {call} does not belong into the loop"))
}

fn own_code(cause: &PartCause) -> Option<String> {
    let is_own = cause.via.is_empty() && cause.what == Doing::User;
    is_own.then(|| "nothing held it up: its own code took that long; a profile of it (perf record) shows where".into())
}

fn late_timer(cause: &PartCause) -> Option<String> {
    matches!(cause.what, Doing::TimerLate(_)).then(|| {
        "interrupts were off, the CPU slept deeply, or a hypervisor had taken it: worstcase host run --probe response tells which".into()
    })
}
