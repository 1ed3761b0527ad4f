//! The words for each mechanism, by what exactly the kernel does, and by its preemption model.

use crate::breakdown::roles;
use crate::breakdown::spans::{ExplainedSample, Mechanism, OffBy, Since, Span, SpanKind, WaitsFor};
use worstcase_contract::Nanos;

/// A probe that waits this long for a thread of lower priority waits for the share of each second that ordinary
/// threads have.
const SHARE: Nanos = Nanos(1_000_000);

/// The preemption model that words advise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advises {
    /// None.
    Nothing,
    /// Full preemption; the words go on behind how a kernel gets it.
    Full,
    /// PREEMPT_RT.
    Rt,
}
use Advises::{Full, Nothing, Rt};

/// A text, and the model that it advises.
type Advice = (&'static str, Advises);

/// The words for a cause.
pub(crate) fn of(sample: &ExplainedSample, mechanism: Mechanism, by: &Span) -> (String, Advises) {
    let is_rt = sample.preempt.starts_with("rt");
    let full = match sample.preempt_fixed {
        true => "a kernel built with CONFIG_PREEMPT (the model of this one was compiled in)",
        false => "preempt=full",
    };
    let (words, advises) = special(sample, mechanism, by)
        .or_else(|| of_kind(by, is_rt))
        .unwrap_or_else(|| of_mechanism(mechanism, is_rt));
    let words = match mechanism {
        // The first thought is how a preempting kernel would behave.
        Mechanism::PreemptionOff if !sample.is_of_preempting_kernel() => {
            format!("{full} waits for the end of this section, too; {words}")
        }
        _ if advises == Full => format!("{full} {words}"),
        _ => words.to_string(),
    };
    (words, advises)
}

/// What hangs on the probe, on the sample's length, and on the threads.
fn special(sample: &ExplainedSample, mechanism: Mechanism, by: &Span) -> Option<Advice> {
    let is_ordinary = sample.since == Since::DueWithSlack;
    let words = match mechanism {
        Mechanism::OtherThread if is_ordinary => {
            "ordinary threads take turns: a better nice level or fewer busy threads shorten the wait, a real-time policy (--policy fifo) ends it"
        }
        Mechanism::WakeUpPath if is_ordinary => {
            "nothing stands in the way: up to 50 us are the timer slack of an ordinary thread, which prctl(PR_SET_TIMERSLACK, 1) or a real-time policy (--policy fifo) ends"
        }
        _ if matches!(by.what, SpanKind::OtherThread { server: Some(_), .. }) => {
            "no priority is above the fair server, which keeps a share of each second for ordinary threads where a real-time one leaves them too little: let the real-time threads of this CPU sleep, or end the share (/sys/kernel/debug/sched/fair_server/cpuN/runtime)"
        }
        _ if by.task.comm.starts_with("migration/") => {
            "no priority is above the kernel's stopper thread: do without what asks for it (stop_machine: changes of running code, modules, CPU hotplug; moves of threads between CPUs)"
        }
        Mechanism::OtherThread if sample.latency_ns >= SHARE => {
            "give the waiting thread a priority above this one; if it has that, a real-time thread never sleeps, and the kernel keeps a share of each second for the others: let that thread sleep, or end the share (sched_rt_runtime_us=-1; from 6.12 on the fair server, /sys/kernel/debug/sched/fair_server/cpuN/runtime)"
        }
        Mechanism::LockOwner if by.task.comm.starts_with("irq/") => {
            "give the handler's thread a priority above that of the thread which it wakes (--chrt irq/N=99): it then gives the lock back before that one runs"
        }
        _ => return None,
    };
    Some((words, Nothing))
}

/// What hangs on what exactly switched something off, interrupted, or is waited for.
fn of_kind(by: &Span, is_rt: bool) -> Option<Advice> {
    Some(match &by.what {
        SpanKind::IrqsOff { by, .. } => irqs_off(*by, is_rt),
        SpanKind::PreemptOff { by, .. } => preempt_off(*by, is_rt),
        SpanKind::OtherIrq { entry } => other_interrupt(entry, is_rt)?,
        SpanKind::Waits {
            what,
            fault: false,
            kept: Some(_),
            ..
        } if what.is_lock() => (
            "no priority is lent to the lock's owner: give it one above the thread that kept it from running, or do not share the lock",
            Nothing,
        ),
        SpanKind::Waits { what, fault: false, .. } => (waits(*what)?, Nothing),
        _ => return None,
    })
}

fn irqs_off(by: OffBy, is_rt: bool) -> Advice {
    match (by, is_rt) {
        (_, true) => (
            "this is PREEMPT_RT already, and no preemption model ends a stretch with interrupts off: the stretch itself has to be shorter",
            Nothing,
        ),
        (OffBy::Itself, _) => (
            "no preemption model ends a stretch with interrupts off; PREEMPT_RT leaves them on only if a local lock switched them off: measure it; otherwise the stretch has to be shorter",
            Rt,
        ),
        _ => (
            "no preemption model ends a stretch with interrupts off; PREEMPT_RT leaves interrupts on under spin_lock_irqsave, but not under a raw lock: measure it",
            Rt,
        ),
    }
}

fn preempt_off(by: OffBy, is_rt: bool) -> Advice {
    match (by, is_rt) {
        (_, true) => (
            "this is PREEMPT_RT already: the section is under a raw spin lock or keeps preemption off itself, and has to be shorter",
            Nothing,
        ),
        (OffBy::Itself, _) => (
            "the section has to be shorter; PREEMPT_RT makes it preemptible only if a local lock or local_bh_disable() switched preemption off: measure it",
            Rt,
        ),
        (OffBy::BottomHalves, _) => (
            "PREEMPT_RT preempts where bottom halves are off; otherwise the section has to be shorter",
            Rt,
        ),
        _ => (
            "PREEMPT_RT makes the section preemptible if its lock is no raw one: measure it; otherwise the section has to be shorter",
            Rt,
        ),
    }
}

fn other_interrupt(entry: &str, is_rt: bool) -> Option<Advice> {
    let words = match entry {
        _ if entry.contains("irq_work") && is_rt => {
            "this is PREEMPT_RT already, and this work is marked hard: shorten it, or move it to a thread"
        }
        _ if entry.contains("irq_work") => {
            return Some((
                "shorten that function, or move its work to a thread: PREEMPT_RT does so with work that is not marked hard",
                Rt,
            ));
        }
        _ if roles::is_from_cpu(entry) => {
            "no preemption model moves this to a thread: it is called from another CPU; keep what calls it away from this CPU (threads of one process on both, membarrier, changes of running code)"
        }
        _ if entry.contains("timer_interrupt") => {
            "no preemption model moves the timer interrupt to a thread: what runs in it has to be shorter"
        }
        _ => return None,
    };
    Some((words, Nothing))
}

fn waits(what: WaitsFor) -> Option<&'static str> {
    Some(match what {
        WaitsFor::Mutex => {
            "a mutex of the kernel lends its owner no priority (PREEMPT_RT's does): shorten what the owner does under it, or do not share it"
        }
        WaitsFor::ReaderWriterSemaphore | WaitsFor::PerCpuSemaphore => {
            "it lends its owner no priority (PREEMPT_RT's lends it to a writer): shorten what the owner does under it, or do not share it"
        }
        WaitsFor::Semaphore => "it has no owner to lend priority to: a thread with a deadline must not wait for it",
        WaitsFor::Completion => {
            "who completes it runs with its own priority: give that thread one above those that run meanwhile, or do not wait for it"
        }
        WaitsFor::Futex => {
            "its owner gets no priority lent: PTHREAD_PRIO_INHERIT does that; or do not share it with threads of lower priority"
        }
        WaitsFor::Page | WaitsFor::Other => return None,
    })
}

fn of_mechanism(mechanism: Mechanism, is_rt: bool) -> Advice {
    match mechanism {
        Mechanism::InterruptsOff => irqs_off(OffBy::NotSeen, is_rt),
        Mechanism::PreemptionOff => preempt_off(OffBy::NotSeen, is_rt),
        Mechanism::NoReschedulePoint => ("takes the CPU at any instruction where no lock is held", Full),
        Mechanism::SpinsForLock => (
            "the other CPU has to hold the lock more briefly, or the work under it has to be kept away from this CPU's",
            Nothing,
        ),
        Mechanism::OtherThread if is_rt => (
            "give the waiting thread (the probe, or the one that wakes it: ktimers for a signal's timer, --chrt ktimers=97) the higher priority of the two, if this one may wait",
            Nothing,
        ),
        Mechanism::OtherThread => (
            "give the waiting thread the higher priority of the two, if this one may wait",
            Nothing,
        ),
        Mechanism::LockOwner => (
            "shorten what the owner does under the lock, or do not share it",
            Nothing,
        ),
        Mechanism::Waits => (
            "a thread with a deadline must not wait there; for memory, even locked memory: transparent huge pages are put together by khugepaged while it waits (/sys/kernel/mm/transparent_hugepage/enabled, or prctl(PR_SET_THP_DISABLE))",
            Nothing,
        ),
        Mechanism::ExitWork => (
            "it is the thread's own: what it closed, or what was put on its way out by others (task_work), has to be done by another thread",
            Nothing,
        ),
        Mechanism::SoftInterrupt | Mechanism::NotWoken if is_rt => (
            "on PREEMPT_RT soft timers, such as those of signals, wait for a thread (ktimers): give it a higher priority, or sleep with clock_nanosleep, which the interrupt itself ends",
            Nothing,
        ),
        Mechanism::SoftInterrupt => (
            "threaded soft interrupts (PREEMPT_RT, or threadirqs for part of them) let a thread of higher priority pass",
            Rt,
        ),
        Mechanism::TimersHeldBack => (
            "fewer timers that are due together, or shorter functions of theirs: the kernel takes an interrupt that finds timers due again and again for a hang",
            if is_rt { Nothing } else { Rt },
        ),
        Mechanism::OtherTimer if is_rt => (
            "this is PREEMPT_RT already, and this timer is marked hard: shorten its function, or move its work to a thread",
            Nothing,
        ),
        Mechanism::OtherTimer => (
            "shorten that function, or move its work to a thread: PREEMPT_RT does so with timers that are not marked hard",
            Rt,
        ),
        Mechanism::OtherInterrupt if is_rt => (
            "this is PREEMPT_RT already, and this interrupt is not threaded there: put the device's interrupts on another CPU",
            Nothing,
        ),
        Mechanism::OtherInterrupt => (
            "threaded interrupts (PREEMPT_RT, threadirqs), or the device's interrupts on another CPU",
            Rt,
        ),
        Mechanism::NotWoken => (
            "look at what runs the timer's function, and at what runs before that",
            Nothing,
        ),
        Mechanism::OtherCpus => (
            "keep memory mapped instead of unmapping it, or keep the process's threads off the other CPUs: only CPUs that have its memory in use are called",
            Nothing,
        ),
        Mechanism::WakeUpPath => (
            "nothing stands in the way: only a shorter path or a faster CPU is quicker",
            Nothing,
        ),
        Mechanism::Unexplained => (
            "nothing of the kernel tells: on a virtual machine its host has to give it CPUs of their own; on a bare one it is firmware or idle states (worstcase host doctor; --probe noise counts such gaps)",
            Nothing,
        ),
    }
}
