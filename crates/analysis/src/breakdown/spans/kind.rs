//! What happens during a span.

use super::Task;
use crate::breakdown::lines::Source;
use serde::{Deserialize, Serialize};
use worstcase_contract::Nanos;

/// A place at which something was switched: a function and its caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The function; the first that is not the mechanism's own helper.
    pub function: String,
    /// Who called it.
    pub caller: Option<String>,
    /// How long before (negative) or after the due time, in ns; `None` if it was before the window.
    pub offset_ns: Option<i64>,
    /// Where in the function, if the source is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// The probe waits for a lock whose owner may inherit its priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockWait {
    /// Where it waits; the first function that is not the lock's own.
    pub at: Place,
    /// It gave the owner its priority.
    pub inherits: bool,
}

/// Who ended a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waker {
    /// The thread, or that which its interrupt came into.
    pub task: Task,
    /// Where; the first function that does more than to wake.
    pub at: Place,
}

/// Who ran during a span, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// The thread.
    pub task: Task,
    /// Its part.
    pub length_ns: Nanos,
}

/// What happens during a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// On another CPU: from its clock read, or its timer interrupt, to the interrupt or the pulse that it sends.
    Send,
    /// The timer is due, and may be late by the slack that an ordinary thread's timer has.
    TimerSlack,
    /// The probe is not asleep on its timer, but waits for something else.
    Waits {
        /// Where.
        at: Place,
        /// For memory that it touched.
        fault: bool,
        /// Who ended that, if it was seen.
        waker: Option<Waker>,
        /// Who ran longest meanwhile.
        ran: Option<Ran>,
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
        off: Option<Place>,
        /// Where they were switched on again.
        on: Option<Place>,
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
        task: Task,
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
        lock: Option<Place>,
        /// Where preemption became possible again.
        released: Option<Place>,
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

impl Kind {
    /// What it is called.
    pub fn name(&self) -> KindName {
        let (title, is_path) = match self {
            Kind::Send => ("send", true),
            Kind::TimerSlack => ("timer slack", true),
            Kind::Waits { .. } => ("the probe waits", false),
            Kind::IrqPending => ("interrupt pending", true),
            Kind::DeviceHandler => ("handler", true),
            Kind::ThreadedHandler => ("threaded handler", true),
            Kind::WakingIrq => ("waking interrupt", true),
            Kind::IrqsOff { .. } => ("interrupts off", false),
            Kind::IrqEntry => ("interrupt entry", true),
            Kind::IrqHandler => ("timer interrupt", true),
            Kind::WakeUp => ("wake-up", true),
            Kind::IrqExit => ("interrupt exit", true),
            Kind::OtherTimer { .. } => ("other timer", false),
            Kind::OtherIrq { .. } => ("other interrupt", false),
            Kind::SoftIrq => ("soft interrupt", false),
            Kind::OtherThread { owns_lock: true, .. } => ("lock's owner", false),
            Kind::OtherThread { .. } => ("other thread", false),
            Kind::RunsOn => ("not woken yet", false),
            Kind::NoReschedulePoint => ("no reschedule point", false),
            Kind::PreemptOff { .. } => ("preemption off", false),
            Kind::LeaveIdle => ("leave idle", true),
            Kind::Schedule => ("schedule", true),
            Kind::Switch => ("switch", true),
            Kind::ReturnToUser => ("return to user", true),
            Kind::SystemCall => ("system call", true),
            Kind::CallsCpus => ("calls other CPUs", false),
            Kind::UserProbe => ("probe's code", true),
            Kind::Unexplained => ("unexplained", false),
        };
        KindName { title, is_path }
    }
}
