//! The cause in words, from the facts of a recording.

use super::late::{ArrivalPlace, LateArrival, LateReason, RunStops};
use super::opened::Reached;
use crate::breakdown::cause::{CauseParts, held_back};
use crate::breakdown::spans::{KernelTask, Mechanism, Span, SpanKind, in_call};
use worstcase_base::format::micros;
use worstcase_contract::Nanos;
use worstcase_host::trace::events::TracedThread;

/// Priorities below this are real-time ones (MAX_RT_PRIO).
const REAL_TIME: i32 = 100;

/// What a cause is told from, besides its spans.
pub(crate) struct ToldFrom<'a> {
    /// The timer interrupt, if it came late.
    pub(crate) late: Option<&'a LateArrival>,
    /// What the run tells of stops.
    pub(crate) run: &'a RunStops,
    /// Priorities.
    pub(crate) threads: &'a [TracedThread],
}

/// The event in words.
pub(crate) fn words(cause: &CauseParts, from: &ToldFrom<'_>) -> String {
    let told = seen(cause, from);
    match cause.mechanism {
        Mechanism::InterruptsOff | Mechanism::Unexplained => told,
        _ if may_be_a_stop(cause.longest, cause.total, from.run) => {
            format!("{told}, or the CPU was stopped meanwhile: it cannot be told")
        }
        _ => told,
    }
}

/// Whether a stop of the CPU can be most of this time: no tracepoint tells of one, and the run has stops that long.
pub(crate) fn may_be_a_stop(longest: &Span, total: Nanos, run: &RunStops) -> bool {
    longest.length_ns.0 * 2 >= total.0 && run.may_be_in(longest)
}

/// The wake-up's own way, where a stop of the CPU may be most of it.
pub(crate) fn stop_within_the_way(title: &str, longest: Nanos, late: Nanos) -> String {
    format!(
        "{} of {} us are in one part of the wake-up path, {title}: the CPU was stopped in it, or it took that long: it cannot be told.",
        micros(longest),
        micros(late)
    )
}

fn seen(cause: &CauseParts, from: &ToldFrom<'_>) -> String {
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
            "interrupts were off for {doing}: the timer interrupt came right behind the instruction that lets them in{}",
            seen(", in ")
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
            SpanKind::OtherThread { task, .. } => format!("{} ran first", with_priority(task, from.threads)),
            _ => format!("{who} ran first"),
        },
        Mechanism::SoftInterrupt => format!("soft interrupts ran first{}", seen(": ")),
        Mechanism::OtherInterrupt | Mechanism::OtherTimer => match &span.what {
            SpanKind::OtherIrq { entry } => format!("the interrupt {entry} ran first"),
            _ => "another interrupt ran first".to_string(),
        },
        Mechanism::TimersHeldBack => held_back(&span.what),
        Mechanism::Waits => "the probe was not asleep, but waited for something else".to_string(),
        Mechanism::NotWoken => format!("{doing} ran on before the probe was woken"),
        Mechanism::WakeUpPath => "the wake-up path itself".to_string(),
        Mechanism::OtherCpus => "other CPUs were called".to_string(),
        // No trace of a machine shows them.
        Mechanism::SpinsForLock | Mechanism::ExitWork => cause.mechanism.title().to_string(),
        Mechanism::Unexplained => unexplained(cause, from, &who),
    }
}

/// Nothing of the kernel ran although the timer was due, or events are missing.
fn unexplained(cause: &CauseParts, from: &ToldFrom<'_>, who: &str) -> String {
    let Some(late) = from.late.filter(|late| late.covers(cause.longest)) else {
        return "the trace does not tell".into();
    };
    let below = match from.run.is_guest {
        Some(true) => "the hypervisor",
        Some(false) => "the firmware",
        None => "a hypervisor or the firmware",
    };
    let into = match &late.place {
        ArrivalPlace::Idle => {
            return format!(
                "nothing of the kernel ran, and the interrupt that wakes the idle CPU came late: {below} or a deep idle state held it"
            );
        }
        ArrivalPlace::User => format!("user code of {who}"),
        ArrivalPlace::Kernel(_, at) => match &at.caller {
            Some(caller) => format!("{} (called by {caller}) for {who}", at.function),
            None => format!("{} for {who}", at.function),
        },
    };
    match (late.reason(from.run), &late.place) {
        (LateReason::CpuStopped, _) => format!(
            "{below} stopped the CPU, or held its timer interrupt back: that came into {into}, where interrupts were on"
        ),
        (_, ArrivalPlace::Kernel(Reached::Behind(name), _)) => format!(
            "the CPU was stopped, or interrupts were off: it cannot be told; the timer interrupt came right behind {name}, into {into}, and CPUs were stopped that long in this run"
        ),
        _ => format!(
            "the CPU was stopped, or interrupts were off: it cannot be told; the timer interrupt came into {into}"
        ),
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
