//! The code that a span of this machine is about, as far as its recording names it.

use crate::breakdown::roles;
use crate::breakdown::spans::{Span, SpanKind};
use crate::breakdown::stacks::{FrameKind, StackFrame};

/// Actions of soft interrupts, by the names that tracepoints have for them; from Linux 5.10 to 7.x.
const ACTIONS: [(&str, &[&str]); 9] = [
    ("HI", &["tasklet_hi_action"]),
    ("TIMER", &["run_timer_softirq"]),
    ("NET_TX", &["net_tx_action"]),
    ("NET_RX", &["net_rx_action"]),
    ("BLOCK", &["blk_done_softirq"]),
    ("TASKLET", &["tasklet_action"]),
    ("SCHED", &["sched_balance_softirq", "run_rebalance_domains"]),
    ("HRTIMER", &["hrtimer_run_softirq"]),
    ("RCU", &["rcu_core_si", "rcu_core", "rcu_do_batch"]),
];

/// Timers' functions that belong to the timer's interrupt of every kernel: the probe's own, and the tick's. Tracepoints tell them
/// apart from the interrupt.
const OF_TIMER_INTERRUPT: [&str; 4] = [
    "hrtimer_wakeup",
    "posix_timer_fn",
    "tick_nohz_handler",
    "tick_sched_timer",
];

/// The code of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostPlace<'a> {
    /// A function of the kernel, its caller, and the chain to it, outermost first.
    Function(&'a str, Option<&'a str>, &'a [StackFrame]),
    /// An interrupt, by the tracepoints' name of it, or a timer's function.
    Interrupt(&'a str),
    /// A soft interrupt, by the tracepoints' name.
    SoftInterrupt(&'a str),
    /// A thread.
    Thread(&'a str),
    /// It names nothing.
    Nothing,
}

impl<'a> HostPlace<'a> {
    /// The place of a span.
    pub(crate) fn of(span: &'a Span) -> HostPlace<'a> {
        match &span.what {
            SpanKind::OtherIrq { entry } => HostPlace::Interrupt(entry),
            SpanKind::OtherTimer { function } => HostPlace::Interrupt(function),
            SpanKind::OtherThread { task, .. } => HostPlace::Thread(&task.comm),
            SpanKind::SoftIrq => match span.chain.last() {
                Some(frame) => HostPlace::SoftInterrupt(&frame.function),
                None => HostPlace::Nothing,
            },
            SpanKind::IrqsOff { off, on, .. } => match off.as_ref().or(on.as_ref()) {
                Some(at) => HostPlace::Function(&at.function, at.caller.as_deref(), &span.chain),
                None => HostPlace::in_chain(&span.chain),
            },
            what if what.name().is_path => HostPlace::Nothing,
            _ => HostPlace::in_chain(&span.chain),
        }
    }

    /// The innermost function that is not a mechanism's own.
    fn in_chain(chain: &'a [StackFrame]) -> HostPlace<'a> {
        let mut frames = chain.iter().rev().filter(|f| !roles::is_helper(&f.function));
        match frames.next() {
            Some(frame) if frame.kind != FrameKind::Unknown => {
                HostPlace::Function(&frame.function, frames.next().map(|f| f.function.as_str()), chain)
            }
            _ => HostPlace::Nothing,
        }
    }

    /// The place in words, behind the title of its span.
    pub(crate) fn words(&self) -> String {
        match self {
            HostPlace::Function(function, Some(caller), _) => format!(" in {function} (called by {caller})"),
            HostPlace::Function(function, None, _) => format!(" in {function}"),
            HostPlace::Interrupt(name) | HostPlace::SoftInterrupt(name) | HostPlace::Thread(name) => format!(" {name}"),
            HostPlace::Nothing => String::new(),
        }
    }

    /// Whether this is the name of its interrupt, or of its soft interrupt's action, in the kernel.
    pub(crate) fn is_entry(&self, function: &str) -> bool {
        match self {
            HostPlace::Interrupt(name) if *name == "local_timer" || OF_TIMER_INTERRUPT.contains(name) => {
                function.contains("apic_timer_interrupt")
            }
            HostPlace::Interrupt(name) => {
                let entry = function.strip_prefix("asm_").unwrap_or(function);
                let entry = entry
                    .strip_prefix("sysvec_")
                    .map(|entry| entry.trim_end_matches("_ipi"));
                entry == Some(name) || base(function) == base(name)
            }
            HostPlace::SoftInterrupt(name) => {
                let action = ACTIONS.iter().find(|(own, _)| own == name);
                action.is_some_and(|(_, functions)| functions.contains(&base(function)))
            }
            _ => false,
        }
    }
}

/// A function's name without what the compiler made of it.
pub(crate) fn base(name: &str) -> &str {
    roles::in_source(roles::whole(name))
}

/// A thread's name without its number and CPU: all kworkers are one.
pub(crate) fn thread(comm: &str) -> &str {
    comm.split_once('/').map_or(comm, |(own, _)| own)
}
