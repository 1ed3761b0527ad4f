//! The cause in words, from the facts of a recording.

use super::points::HostMilestones;
use crate::breakdown::cause::CauseParts;
use crate::breakdown::spans::{KernelTask, Mechanism, SpanKind, in_call};
use worstcase_host::trace::events::TracedThread;

/// Priorities below this are real-time ones (MAX_RT_PRIO).
const REAL_TIME: i32 = 100;

/// The event in words; `threads` gives priorities.
pub(crate) fn words(cause: &CauseParts, points: &HostMilestones, threads: &[TracedThread]) -> String {
    let span = cause.longest;
    let who = match span.task.pid {
        0 => "the idle task".to_string(),
        _ => span.task.named(),
    };
    let doing = in_call(who.clone(), cause.system_call);
    let function = match (&cause.at.function, &cause.at.caller) {
        (function, _) if function.is_empty() => None,
        (function, Some(caller)) => Some(format!("{function} (called by {caller})")),
        (function, None) => Some(function.clone()),
    };
    let seen = |lead: &str| function.as_ref().map_or(String::new(), |f| format!("{lead}{f}"));
    match cause.mechanism {
        Mechanism::InterruptsOff => format!(
            "interrupts were off for {doing}: the timer interrupt came late{}",
            seen(", and came into ")
        ),
        Mechanism::PreemptionOff => format!(
            "{doing} kept preemption off{}",
            seen("; the timer interrupt came into ")
        ),
        Mechanism::NoReschedulePoint => format!(
            "{doing} had no reschedule point{}, and preempt={} does not take the CPU there",
            seen("; the timer interrupt came into "),
            cause.sample.preempt
        ),
        Mechanism::OtherThread | Mechanism::LockOwner => match &span.what {
            SpanKind::OtherThread { task, .. } => format!("{} ran first", with_priority(task, threads)),
            _ => format!("{who} ran first"),
        },
        Mechanism::SoftInterrupt => format!("soft interrupts ran first{}", seen(": ")),
        Mechanism::OtherInterrupt | Mechanism::OtherTimer => match &span.what {
            SpanKind::OtherIrq { entry } => format!("the interrupt {entry} ran first"),
            _ => "another interrupt ran first".to_string(),
        },
        Mechanism::Waits => "the probe was not asleep, but waited for something else".to_string(),
        Mechanism::NotWoken => format!("{doing} ran on before the probe was woken"),
        Mechanism::WakeUpPath => "the wake-up path itself".to_string(),
        Mechanism::OtherCpus => "other CPUs were called".to_string(),
        // No trace of a machine shows them.
        Mechanism::SpinsForLock | Mechanism::ExitWork => cause.mechanism.title().to_string(),
        Mechanism::Unexplained => unexplained(cause, points, &who),
    }
}

/// Nothing of the kernel ran although the timer was due, or events are missing.
fn unexplained(cause: &CauseParts, points: &HostMilestones, who: &str) -> String {
    let is_held = points.interrupted.as_ref().is_some_and(|i| !i.is_kernel_work());
    let into = match cause.longest.task.pid {
        0 => "the idle CPU".to_string(),
        _ => format!("user code of {who}"),
    };
    match is_held && cause.longest.start_ns.0 == 0 {
        true => format!(
            "the timer interrupt came that late, into {into}, and nothing of the kernel ran meanwhile: a hypervisor, firmware or a deep idle state held the CPU"
        ),
        false => "the trace does not tell".to_string(),
    }
}

fn with_priority(task: &KernelTask, threads: &[TracedThread]) -> String {
    let found = threads.iter().find(|t| t.tid == task.pid).map(|t| t.priority);
    match found {
        Some(priority) if priority < 0 => format!("the deadline thread {}", task.named()),
        Some(priority) if priority < REAL_TIME => {
            format!(
                "the real-time thread {}, priority {},",
                task.named(),
                REAL_TIME - 1 - priority
            )
        }
        _ => task.named(),
    }
}
