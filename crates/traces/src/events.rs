//! The tracepoints' records as typed events.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use worstcase_contract::Nanos;

/// How many arguments of a system call are kept.
pub const ARGUMENTS: usize = 4;

/// Longest name of a thread or interrupt that is kept.
const NAME: usize = 24;
/// The kernel cuts a thread's name after so many bytes.
pub const THREAD_NAME: usize = 15;

/// A short name, stored inline.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortName([u8; NAME]);

impl ShortName {
    /// The empty name.
    pub const EMPTY: ShortName = ShortName([0; NAME]);

    /// The first bytes of a name.
    pub fn new(bytes: &[u8]) -> ShortName {
        let mut name = [0; NAME];
        for (to, from) in name.iter_mut().zip(bytes) {
            *to = *from;
        }
        ShortName(name)
    }
}

impl ShortName {
    /// What the kernel keeps of a thread's name.
    pub fn of_thread(name: &str) -> ShortName {
        ShortName::new(&name.as_bytes()[..name.len().min(THREAD_NAME)])
    }
}

impl From<&str> for ShortName {
    fn from(text: &str) -> ShortName {
        ShortName::new(text.as_bytes())
    }
}

impl fmt::Display for ShortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.iter().position(|b| *b == 0).unwrap_or(NAME);
        f.write_str(&String::from_utf8_lossy(&self.0[..end]))
    }
}

impl fmt::Debug for ShortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl Serialize for ShortName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ShortName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ShortName, D::Error> {
        Ok(String::deserialize(deserializer)?.as_str().into())
    }
}

/// A thread, as the scheduler's tracepoints name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TracedThread {
    /// Its id; 0 is the idle thread.
    pub tid: u32,
    /// The kernel's priority: below 0 deadline, 0 to 98 real-time (99 minus the user's), from 100 on the others.
    pub priority: i32,
    /// Its name.
    pub comm: ShortName,
}

/// What the kernel's one number says of a thread's policy and priority; FIFO and RR are the same to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityClass {
    /// SCHED_DEADLINE.
    Deadline,
    /// A real-time priority of a user, 1 to 99.
    RealTime(u8),
    /// SCHED_OTHER and the like, with a nice value.
    Ordinary {
        /// The nice value.
        nice: i8,
    },
}

impl TracedThread {
    /// Its policy and priority.
    pub const fn class(&self) -> PriorityClass {
        match self.priority {
            ..0 => PriorityClass::Deadline,
            0..100 => PriorityClass::RealTime((99 - self.priority) as u8),
            // The kernel's priority of nice 0 is 120.
            priority => PriorityClass::Ordinary {
                nice: (priority - 120) as i8,
            },
        }
    }

    /// Whether it comes before ordinary threads.
    pub const fn is_real_time(&self) -> bool {
        !matches!(self.class(), PriorityClass::Ordinary { .. })
    }
}

/// A context that can run on a CPU in place of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CpuContext {
    /// The CPU's own timer interrupt.
    Timer,
    /// Another vector of the architecture: `reschedule`, `call_function`, ...
    Vector(ShortName),
    /// A device's interrupt.
    Device {
        /// Its number.
        irq: u32,
        /// Its handler; empty when it ends.
        name: ShortName,
    },
    /// A soft interrupt, by its number.
    Soft(u8),
    /// A timer's function.
    TimerFunction {
        /// The timer's address.
        timer: u64,
        /// The function's address; 0 when it ends.
        function: u64,
    },
}

/// Names of the soft interrupts, by number (`enum` in <linux/interrupt.h>).
pub(crate) const SOFT: [&str; 10] = [
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
];

impl CpuContext {
    /// Whether an entry and an exit may belong together.
    pub fn is_same(&self, other: &CpuContext) -> bool {
        match (self, other) {
            (CpuContext::Device { irq: a, .. }, CpuContext::Device { irq: b, .. }) => a == b,
            (CpuContext::TimerFunction { timer: a, .. }, CpuContext::TimerFunction { timer: b, .. }) => a == b,
            _ => self == other,
        }
    }
}

impl fmt::Display for CpuContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CpuContext::Timer => f.write_str("local_timer"),
            CpuContext::Vector(name) => name.fmt(f),
            CpuContext::Device { irq, name } => write!(f, "irq {irq} {name}"),
            CpuContext::Soft(vector) => match SOFT.get(usize::from(*vector)) {
                Some(name) => f.write_str(name),
                None => write!(f, "softirq {vector}"),
            },
            CpuContext::TimerFunction { function, .. } => write!(f, "hrtimer {function:#x}"),
        }
    }
}

/// A function that runs within an interrupt, a soft interrupt or a thread, requested by a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CallbackKind {
    /// A function that another CPU has called here.
    Call,
    /// A work item.
    Work,
    /// A callback of RCU.
    RcuCallback,
}

/// The change that an event reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TracedChange {
    /// A context begins, within whatever ran.
    Enter(CpuContext),
    /// A context ends.
    Exit(CpuContext),
    /// A thread's wake-up is issued.
    Waking {
        /// The thread.
        tid: u32,
    },
    /// The CPU goes over to another thread.
    Switch {
        /// From this one.
        from: TracedThread,
        /// Whether the thread left because it waits for something; otherwise it could have gone on.
        asleep: bool,
        /// To this one.
        to: TracedThread,
    },
    /// A thread that does not run is moved to another CPU.
    Migrate {
        /// The thread.
        tid: u32,
        /// To this CPU.
        to: u32,
    },
    /// The running thread enters a system call.
    SysEnter {
        /// Its number.
        call: u32,
        /// Its first arguments.
        #[serde(skip)]
        arguments: [u64; ARGUMENTS],
    },
    /// The running thread leaves a system call.
    SysExit {
        /// Its number.
        call: u32,
        /// What it returns.
        #[serde(skip)]
        result: i64,
    },
    /// A high-resolution timer is set.
    TimerSet {
        /// Its address.
        timer: u64,
        /// The function that it is to run.
        function: u64,
        /// When it may expire first.
        earliest: Nanos,
        /// When it expires at the latest: `earliest` and the slack.
        latest: Nanos,
    },
    /// A soft interrupt is raised, to run soon.
    Raise {
        /// Its number.
        vector: u8,
    },
    /// A signal is sent.
    SignalSent {
        /// To this thread.
        tid: u32,
        /// Its number.
        signal: u32,
    },
    /// The running thread takes a signal.
    SignalTaken {
        /// Its number.
        signal: u32,
        /// Whether a handler of the program runs.
        has_handler: bool,
    },
    /// The running thread begins to wait for a lock of the kernel.
    LockWait,
    /// It has the lock.
    LockTaken,
    /// A handler of a non-maskable interrupt ended.
    Nmi {
        /// How long it took.
        length: Nanos,
    },
    /// Events of this CPU are missing between `since` and the instant of this one.
    Lost {
        /// The instant of the last event before.
        since: Nanos,
        /// How many; 0 if the ring was full and the kernel has not reported the loss yet.
        count: u64,
    },
    /// A function begins within what runs.
    Begin {
        /// Which kind of function.
        part: CallbackKind,
        /// The address of the call or work item that its sender queued. For a call it is 0 where a CPU calls the function
        /// itself.
        of: u64,
        /// The function's address.
        function: u64,
    },
    /// A function ends.
    End {
        /// Which kind of function.
        part: CallbackKind,
        /// The address of the call or work.
        of: u64,
    },
    /// A page fault of user code.
    PageFault,
    /// The kernel checked whether the tick can stop.
    Tick {
        /// Whether it stops.
        stops: bool,
        /// What needs the tick: bits of the kernel's TICK_DEP_MASK.
        needed_by: u32,
    },
    /// A function is queued for a CPU.
    Calls {
        /// That CPU.
        cpu: u32,
        /// The address of the call.
        call: u64,
        /// The function's address.
        function: u64,
    },
    /// A function is queued for several CPUs; the kernel does not say which.
    CallsMany {
        /// The function's address.
        function: u64,
    },
    /// An interrupt without a function is sent to a CPU.
    Sends {
        /// That CPU.
        cpu: u32,
    },
    /// A work item is queued.
    Queues {
        /// Its address.
        work: u64,
    },
    /// The running thread passes a mark that a user named.
    Mark,
    /// The CPU enters an idle state, or leaves the one in which it was.
    IdleState {
        /// Its number.
        state: Option<u32>,
    },
    /// A CPU's frequency is set.
    Frequency {
        /// That CPU.
        cpu: u32,
        /// To this.
        khz: u32,
    },
    /// Until an instant a hypervisor took time of this CPU: so much as the kernel counts, in whole ticks.
    Stolen {
        /// Since the instant of this event.
        until: Nanos,
        /// So much.
        time: Nanos,
    },
    /// A thread is new, or gets another name.
    Named {
        /// The thread.
        tid: u32,
        /// Its name from now on.
        name: ShortName,
        /// For a new thread: whether a thread of the same process made it.
        is_new: Option<bool>,
    },
}

/// The id that perf gives a thread which ends and whose id was taken back already.
pub const ENDED: u32 = u32::MAX;

/// One event on one CPU. Events of one CPU come in order of time, those of several CPUs do not.
#[derive(Clone, Copy, Debug)]
pub struct CpuEvent<'c> {
    /// When, on CLOCK_MONOTONIC.
    pub at: Nanos,
    /// Where.
    pub cpu: u32,
    /// The thread that ran; all ones if it had ended but for its last switch.
    pub tid: u32,
    /// What happened.
    pub what: TracedChange,
    /// The kernel's call chain, innermost first, if it was asked for.
    pub chain: &'c [u64],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_survive_json() {
        let name = ShortName::from("a name that is longer than what is kept");
        assert_eq!(name.to_string(), "a name that is longer th");
        let json = serde_json::to_string(&name).unwrap();
        assert_eq!(serde_json::from_str::<ShortName>(&json).unwrap(), name);
    }

    #[test]
    fn an_exit_belongs_to_its_entry() {
        let entry = CpuContext::Device {
            irq: 9,
            name: "eth0".into(),
        };
        let exit = |irq| CpuContext::Device {
            irq,
            name: ShortName::default(),
        };
        assert!(entry.is_same(&exit(9)) && !entry.is_same(&exit(8)));
        assert!(!entry.is_same(&CpuContext::Timer));
    }
}
