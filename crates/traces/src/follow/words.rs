//! What was found, in sentences.

use super::calls::CallKind;
use super::path::{Behind, BlockedThread, Doing, Missing, PartCause};
use crate::events::{CpuContext, PriorityClass, TracedThread};

/// Names of the kernel's functions, by their addresses.
pub type FunctionNames<'n> = &'n dyn Fn(u64) -> Option<String>;

/// `RT 50`, `SCHED_OTHER, nice 5`.
pub fn policy(thread: &TracedThread) -> String {
    match thread.class() {
        PriorityClass::Deadline => "SCHED_DEADLINE".into(),
        PriorityClass::RealTime(priority) => format!("RT {priority}"),
        PriorityClass::Ordinary { nice: 0 } => "SCHED_OTHER".into(),
        PriorityClass::Ordinary { nice } => format!("SCHED_OTHER, nice {nice}"),
    }
}

/// `logger (thread 812, SCHED_OTHER)`.
pub fn thread(thread: &TracedThread) -> String {
    let name = thread.comm.to_string();
    let name = if name.is_empty() { "a thread".into() } else { name };
    match thread.tid {
        0 => format!("{name} ({})", policy(thread)),
        tid => format!("{name} (thread {tid}, {})", policy(thread)),
    }
}

/// A cause as a sentence without its end: `ctl waited in futex(0x7f00) for logger (...), which was ready while ...`.
pub fn sentence(cause: &PartCause, names: FunctionNames<'_>) -> String {
    let mut text = cause.followed().comm.to_string();
    let next = cause
        .via
        .iter()
        .skip(1)
        .map(|blocked| &blocked.thread)
        .chain([&cause.thread]);
    for (blocked, next) in cause.via.iter().zip(next) {
        text += &format!(" {} {}, which", waited(blocked), thread(next));
    }
    text + " " + &doing(&cause.what, names)
}

/// `waited in futex(0x7f00) for`.
pub fn waited(blocked: &BlockedThread) -> String {
    let within = within(blocked.call);
    let handler = blocked
        .handler
        .map(|signal| format!(", in its handler of {},", signal_name(signal)))
        .unwrap_or_default();
    match blocked.on_lock {
        true => format!("waited{within}{handler} for a lock of the kernel, held by"),
        false => format!("waited{within}{handler} for"),
    }
}

fn within(call: Option<CallKind>) -> String {
    call.map(|call| format!(" in {call}")).unwrap_or_default()
}

/// What a thread did, as the rest of a sentence about it.
pub fn doing(what: &Doing, names: FunctionNames<'_>) -> String {
    match what {
        Doing::User => "ran its own code".into(),
        Doing::Code => "ran".into(),
        Doing::Call(call) => format!("ran in {call}"),
        Doing::Fault => "had page faults, and ran on after them".into(),
        Doing::Handler { signal, sender } => {
            format!("ran its handler of {}{}", signal_name(*signal), sent_by(sender))
        }
        Doing::Stopped { sender } => format!("was stopped by a signal{}", sent_by(sender)),
        Doing::KernelLock(call) => format!("waited for a lock of the kernel{}", within(*call)),
        Doing::Interrupted(by) => format!("was interrupted by {}", context(by, names)),
        Doing::Ready { is_woken, behind } => ready(*is_woken, behind, names),
        Doing::Sleeps(Some(call)) if !call.name().contains("sleep") => format!("waited in {call} until its timeout"),
        Doing::Sleeps(call) => format!("slept{} until its timer was due", within(*call)),
        Doing::Slack(call) => format!("had its timer put off{} by its timer slack", within(*call)),
        Doing::TimerLate(None) => "waited for its timer's interrupt, which came late".into(),
        Doing::TimerLate(Some(state)) => {
            format!("waited for its timer's interrupt, which came late: its CPU was in {state}")
        }
        Doing::TimerInterrupt => "waited while its timer's interrupt ran".into(),
        Doing::Device { call, contexts } => match contexts.first() {
            Some(first) => format!("waited{} for {}", within(*call), context(first, names)),
            None => format!("waited{} for an interrupt", within(*call)),
        },
        Doing::WokenBy { call, by } => format!("waited{} until {} woke it", within(*call), thread(by)),
        Doing::Unexplained(Missing::Lost) => "did what is not known: events were lost".into(),
        Doing::FromIdle(Some(call)) => format!("was ready while its CPU came back from idle, and ran on in {call}"),
        Doing::FromIdle(None) => "was woken on an idle CPU, and ran: when it began was not reported".into(),
        Doing::Unexplained(Missing::Hidden) => "did what is not known: the kernel did not report all events".into(),
    }
}

fn sent_by(sender: &Option<TracedThread>) -> String {
    sender.map_or_else(String::new, |by| format!(", which {} had sent", thread(&by)))
}

fn ready(is_woken: bool, behind: &Behind, names: FunctionNames<'_>) -> String {
    let was = if is_woken { "was ready" } else { "was preempted" };
    match behind {
        Behind::Higher(other) => format!("{was} while {} ran, whose priority is higher", thread(other)),
        Behind::Equal(other) => format!("{was} while {} ran", thread(other)),
        Behind::Ordinary => format!("{was} while other ordinary threads ran"),
        Behind::Lower { thread: other, is_user } => {
            let code = match is_user {
                Some(true) => " its own code",
                Some(false) => " in the kernel",
                None => "",
            };
            format!("{was} while {} ran{code}, whose priority is lower", thread(other))
        }
        Behind::Context(by) => format!("{was} while its CPU served {}", context(by, names)),
        Behind::Idle(None) => format!("{was} while its CPU came back from idle"),
        Behind::Idle(Some(state)) => format!("{was} while its CPU left {state}"),
        Behind::Itself => "was woken before it slept".into(),
    }
}

/// An interrupt.
pub fn context(context: &CpuContext, names: FunctionNames<'_>) -> String {
    match context {
        CpuContext::Timer => "the timer interrupt".into(),
        CpuContext::Vector(name) => format!("the interrupt {name}"),
        CpuContext::Device { irq, name } => format!("interrupt {irq} ({name})"),
        CpuContext::Soft(_) => format!("the soft interrupt {context}"),
        CpuContext::TimerFunction { function, .. } => match names(*function) {
            Some(name) => format!("the timer function {name}"),
            None => "a timer function".into(),
        },
    }
}

/// Names of the first signals, from 1 on.
pub const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",
    "PWR", "SYS",
];

fn signal_name(signal: u32) -> String {
    let name = (signal as usize).checked_sub(1).and_then(|nth| SIGNALS.get(nth));
    name.map_or_else(|| format!("signal {signal}"), |name| format!("SIG{name}"))
}

/// The number of a signal that is named like `USR1`, `SIGUSR1` or `10`.
pub fn signal_number(text: &str) -> Option<u32> {
    let name = text.strip_prefix("SIG").unwrap_or(text);
    let nth = SIGNALS.iter().position(|signal| *signal == name);
    let number = nth.map(|nth| nth as u32 + 1).or_else(|| text.parse().ok())?;
    (1..=SIGNALS.len() as u32).contains(&number).then_some(number)
}
