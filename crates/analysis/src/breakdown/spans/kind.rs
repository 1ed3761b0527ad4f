//! What happens during a span.

use super::task::KernelTask;
use crate::breakdown::lines::SourceLine;
use serde::{Deserialize, Serialize};
use worstcase_contract::Nanos;

/// A place at which something was switched: a function and its caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePlace {
    /// The function; the first that is not the mechanism's own helper.
    pub function: String,
    /// Who called it.
    pub caller: Option<String>,
    /// How long before (negative) or after the due time, in ns; `None` if it was before the window.
    pub offset_ns: Option<i64>,
    /// Where in the function, if the source is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
}

/// The probe waits for a lock whose owner may inherit its priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockWait {
    /// Where it waits; the first function that is not the lock's own.
    pub at: CodePlace,
    /// It gave the owner its priority.
    pub inherits: bool,
}

/// Who ended a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waker {
    /// The thread, or that which its interrupt came into.
    pub task: KernelTask,
    /// Where; the first function that does more than to wake.
    pub at: CodePlace,
}

/// Who ran during a span, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRun {
    /// The thread.
    pub task: KernelTask,
    /// Its part.
    pub length_ns: Nanos,
}

/// What happens during a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SpanKind {
    /// On another CPU: from its clock read, or its timer interrupt, to the interrupt or the pulse that it sends.
    Send,
    /// The timer is due, and may be late by the slack that an ordinary thread's timer has.
    TimerSlack,
    /// The probe is not asleep on its timer, but waits for something else.
    Waits {
        /// Where.
        at: CodePlace,
        /// For memory that it touched.
        fault: bool,
        /// Who ended that, if it was seen.
        waker: Option<Waker>,
        /// Who ran longest meanwhile.
        ran: Option<ThreadRun>,
    },
    /// The timer is due or the interrupt sent, interrupts are on, and the hardware does not interrupt yet.
    IrqPending,
    /// The device's handler, and what the kernel does around it.
    DeviceHandler,
    /// The device's handler, in a thread of its own.
    ThreadedHandler,
    /// The interrupt by which another CPU wakes the probe.
    WakingIrq,
    /// Interrupts are off.
    IrqsOff {
        /// Where they were switched off.
        off: Option<CodePlace>,
        /// Where they were switched on again.
        on: Option<CodePlace>,
    },
    /// From the timer interrupt's first instruction to its handler.
    IrqEntry,
    /// The handler, before it comes to our timer.
    IrqHandler,
    /// Our timer's function, until the running thread is marked for rescheduling.
    WakeUp,
    /// The rest of the interrupt.
    IrqExit,
    /// Another timer's function, in the interrupt of the probe's or in another one.
    OtherTimer {
        /// That function.
        function: String,
    },
    /// Another interrupt.
    OtherIrq {
        /// Its entry.
        entry: String,
    },
    /// Soft interrupts.
    SoftIrq,
    /// Another thread was switched in before ours.
    OtherThread {
        /// Which; in JSON `thread`, since every span has a `task`.
        #[serde(rename = "thread")]
        task: KernelTask,
        /// Ours waits for a lock that it holds.
        owns_lock: bool,
        /// Where ours waits for it, if it does.
        wait: Option<LockWait>,
    },
    /// The thread that ran when the timer was due runs on, and nobody marked it for rescheduling yet.
    RunsOn,
    /// Marked for rescheduling, in the kernel; it could be preempted, and this kernel waits for a point at which it does.
    NoReschedulePoint,
    /// Marked for rescheduling, and preemption is off.
    PreemptOff {
        /// The lock that was taken, and by whom, if there was one.
        lock: Option<CodePlace>,
        /// Where preemption became possible again.
        released: Option<CodePlace>,
    },
    /// The CPU leaves its idle loop.
    LeaveIdle,
    /// The way to the scheduler, and the scheduler until it switches.
    Schedule,
    /// The switch to the other stack and address space.
    Switch,
    /// The probe's own way back from its system call or signal.
    ReturnToUser,
    /// The system call that is measured.
    SystemCall,
    /// In it: other CPUs are called, and waited for.
    CallsCpus,
    /// The probe's code, until it reads the clock.
    UserProbe,
    /// Nothing is known.
    Unexplained,
}

/// What a kind of span is called, and whether every sample has it.
pub struct KindName {
    /// As it is shown.
    pub title: &'static str,
    /// Part of the way that every wake-up takes, however quiet the machine is.
    pub is_path: bool,
}

impl SpanKind {
    /// What it is called.
    pub fn name(&self) -> KindName {
        let (title, is_path) = match self {
            SpanKind::Send => ("send", true),
            SpanKind::TimerSlack => ("timer slack", true),
            SpanKind::Waits { .. } => ("the probe waits", false),
            SpanKind::IrqPending => ("interrupt pending", true),
            SpanKind::DeviceHandler => ("handler", true),
            SpanKind::ThreadedHandler => ("threaded handler", true),
            SpanKind::WakingIrq => ("waking interrupt", true),
            SpanKind::IrqsOff { .. } => ("interrupts off", false),
            SpanKind::IrqEntry => ("interrupt entry", true),
            SpanKind::IrqHandler => ("timer interrupt", true),
            SpanKind::WakeUp => ("wake-up", true),
            SpanKind::IrqExit => ("interrupt exit", true),
            SpanKind::OtherTimer { .. } => ("other timer", false),
            SpanKind::OtherIrq { .. } => ("other interrupt", false),
            SpanKind::SoftIrq => ("soft interrupt", false),
            SpanKind::OtherThread { owns_lock: true, .. } => ("lock's owner", false),
            SpanKind::OtherThread { .. } => ("other thread", false),
            SpanKind::RunsOn => ("not woken yet", false),
            SpanKind::NoReschedulePoint => ("no reschedule point", false),
            SpanKind::PreemptOff { .. } => ("preemption off", false),
            SpanKind::LeaveIdle => ("leave idle", true),
            SpanKind::Schedule => ("schedule", true),
            SpanKind::Switch => ("switch", true),
            SpanKind::ReturnToUser => ("return to user", true),
            SpanKind::SystemCall => ("system call", true),
            SpanKind::CallsCpus => ("calls other CPUs", false),
            SpanKind::UserProbe => ("probe's code", true),
            SpanKind::Unexplained => ("unexplained", false),
        };
        KindName { title, is_path }
    }
}
