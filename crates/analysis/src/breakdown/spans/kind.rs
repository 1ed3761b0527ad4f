//! The event of a span.

use super::task::KernelTask;
use crate::breakdown::lines::SourceLine;
use serde::{Deserialize, Serialize};
use worstcase_contract::Nanos;

/// A place at which something was switched: a function and its caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePlace {
    /// The function; the first that is not the mechanism's own helper.
    pub function: String,
    /// The function that called it.
    pub caller: Option<String>,
    /// The offset from the due time in ns, negative before it; `None` if it was before the window.
    pub offset_ns: Option<i64>,
    /// The line in the function, if the source is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
}

/// The probe waits for a lock whose owner may inherit its priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockWait {
    /// The place where the thread waits: the first function that is not the lock's own.
    pub at: CodePlace,
    /// The waiting thread gave the owner its priority.
    pub inherits: bool,
}

/// What switched interrupts or preemption off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OffBy {
    /// A lock function.
    SpinLock,
    /// A lock function, before the window.
    EarlierLock,
    /// Bottom halves were switched off.
    BottomHalves,
    /// It was switched off by itself.
    Itself,
    /// The window does not show it.
    #[default]
    NotSeen,
}

/// What a thread waits for in the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitsFor {
    /// A mutex.
    Mutex,
    /// A reader-writer semaphore.
    ReaderWriterSemaphore,
    /// One of whose readers each CPU keeps count.
    PerCpuSemaphore,
    /// A counting semaphore.
    Semaphore,
    /// That somebody completes something.
    Completion,
    /// A futex that lends no priority.
    Futex,
    /// A page of memory or of a file.
    Page,
    /// None of these.
    #[default]
    Other,
}

impl WaitsFor {
    /// As a part of a sentence; empty if it is not known.
    pub fn words(self) -> &'static str {
        match self {
            WaitsFor::Mutex => " for a mutex",
            WaitsFor::ReaderWriterSemaphore => " for a reader-writer semaphore",
            WaitsFor::PerCpuSemaphore => " for a per-CPU reader-writer semaphore",
            WaitsFor::Semaphore => " for a semaphore",
            WaitsFor::Completion => " for a completion",
            WaitsFor::Futex => " for a futex",
            WaitsFor::Page => " for a page",
            WaitsFor::Other => "",
        }
    }

    /// Whether somebody holds it.
    pub fn is_lock(self) -> bool {
        matches!(
            self,
            WaitsFor::Mutex | WaitsFor::ReaderWriterSemaphore | WaitsFor::PerCpuSemaphore | WaitsFor::Semaphore
        )
    }
}

/// The thread that ended a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waker {
    /// The thread, or the thread that its interrupt interrupted.
    pub task: KernelTask,
    /// The place where it woke: the first function that does more than to wake.
    pub at: CodePlace,
}

/// The thread that ran during a span, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRun {
    /// The thread.
    pub task: KernelTask,
    /// Its part.
    pub length_ns: Nanos,
}

/// The event of a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SpanKind {
    /// Another CPU's part: from its clock read, or its timer interrupt, to the interrupt or the pulse that it
    /// sends.
    Send,
    /// The timer is due, and may be late by the slack that an ordinary thread's timer has.
    TimerSlack,
    /// The probe is not asleep on its timer, but waits for something else.
    Waits {
        /// It was woken by its timer before.
        woken: bool,
        /// What it waits for.
        #[serde(rename = "for")]
        what: WaitsFor,
        /// The place of the wait.
        at: CodePlace,
        /// The thread waits for memory that it touched.
        fault: bool,
        /// The thread that ended the wait, if the trace shows it.
        waker: Option<Waker>,
        /// The thread that ran longest meanwhile.
        ran: Option<ThreadRun>,
        /// The thread that ran for half of the wait or more while the one that ended it was ready to run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<ThreadRun>,
    },
    /// The timer is due or the interrupt sent, interrupts are on, and the hardware does not interrupt yet.
    IrqPending,
    /// The timer is due, and the kernel has put its interrupt off.
    TimersHeldBack {
        /// How long the interrupt before was at timers.
        took_ns: Nanos,
    },
    /// The device's handler, and the kernel's work around it.
    DeviceHandler,
    /// The device's handler, in a thread of its own.
    ThreadedHandler,
    /// The interrupt by which another CPU wakes the probe.
    WakingIrq,
    /// Interrupts are off.
    IrqsOff {
        /// The place where interrupts were switched off.
        off: Option<CodePlace>,
        /// The place where interrupts were switched on again.
        on: Option<CodePlace>,
        /// What switched them off.
        by: OffBy,
    },
    /// The timer interrupt, from its first instruction to its handler.
    IrqEntry,
    /// The handler, before it comes to our timer.
    IrqHandler,
    /// Our timer's function, until the running thread is marked for rescheduling.
    WakeUp,
    /// The rest of the interrupt.
    IrqExit,
    /// Another timer's function, in the interrupt of the probe's or in another one.
    OtherTimer {
        /// The name of the timer's function.
        function: String,
    },
    /// Another interrupt.
    OtherIrq {
        /// Its entry, or what came by it where all interrupts have one (arm64): `timer_interrupt`, `irq_work`, `call_function`,
        /// `reschedule_ipi`.
        entry: String,
    },
    /// Soft interrupts.
    SoftIrq,
    /// Another thread was switched in before ours.
    OtherThread {
        /// The thread that ran; in JSON `thread`, since every span has a `task`.
        #[serde(rename = "thread")]
        task: KernelTask,
        /// The probe waits for a lock that this thread holds.
        owns_lock: bool,
        /// The place where the probe waits for the thread's lock, if it does.
        wait: Option<LockWait>,
        /// The fair server's function that chose the thread, if it did: before real-time threads, though the thread
        /// is an ordinary one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<CodePlace>,
    },
    /// The thread that ran when the timer was due runs on, and is not marked for rescheduling yet.
    RunsOn,
    /// The thread is marked for rescheduling in the kernel and could be preempted, but this kernel waits for a
    /// reschedule point.
    NoReschedulePoint,
    /// Marked for rescheduling, and preemption is off.
    PreemptOff {
        /// The lock that is held longest, and its taker, if there is one.
        lock: Option<CodePlace>,
        /// The place where preemption was switched off, if not by a lock that is held.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        off: Option<CodePlace>,
        /// What switched it off.
        by: OffBy,
        /// The place where preemption became possible again.
        released: Option<CodePlace>,
    },
    /// The CPU waits for a spin lock that another one holds.
    SpinsFor {
        /// The place of the wait.
        at: CodePlace,
    },
    /// Work that was put off until the probe returns from its system call or signal.
    ExitWork,
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
    /// A stretch in which the kernel calls other CPUs and waits for them.
    CallsCpus,
    /// The probe's code, until it reads the clock.
    UserProbe,
    /// The recording or trace tells nothing about this time.
    Unexplained,
}

/// The name of a kind of span, and whether every sample has it.
pub struct KindName {
    /// The title that readers see.
    pub title: &'static str,
    /// Part of the way that every wake-up takes, however quiet the machine is.
    pub is_path: bool,
}

impl SpanKind {
    /// A thread that runs first; what is waited for, and who chose it, is found later.
    pub(crate) fn other_thread(task: KernelTask, owns_lock: bool) -> SpanKind {
        SpanKind::OtherThread {
            task,
            owns_lock,
            wait: None,
            server: None,
        }
    }

    /// The name of the kind.
    pub fn name(&self) -> KindName {
        let (title, is_path) = match self {
            SpanKind::Send => ("send", true),
            SpanKind::TimerSlack => ("timer slack", true),
            SpanKind::Waits { .. } => ("the probe waits", false),
            SpanKind::IrqPending => ("interrupt pending", true),
            SpanKind::TimersHeldBack { .. } => ("timers held back", false),
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
            SpanKind::SpinsFor { .. } => ("spins for a lock", false),
            SpanKind::ExitWork => ("work on the way out", false),
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
