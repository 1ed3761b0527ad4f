//! The breakdown of one sample: consecutive spans, each named, that add up exactly to the latency.
//!
//! The type serves both venues. A lab's breakdown is exact to the instruction; a host's is coarser, and what its trace does
//! not tell is a span [`Kind::Unexplained`].

use super::cause::Cause;
use super::lines::Source;
use super::stacks::Frame;
use serde::{Deserialize, Serialize};
use worstcase_probe::{Instructions, Nanos};

/// The form of a breakdown as JSON.
pub const SCHEMA: &str = "worstcase-breakdown/1";

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its id; 0 is the idle task.
    pub pid: u32,
    /// The kernel's name of it.
    pub comm: String,
}

impl Task {
    /// Name and id; what is known of a thread whose name is not.
    pub fn named(&self) -> String {
        match (self.comm.is_empty(), self.pid) {
            (true, 0) => "an unknown task".into(),
            (true, pid) => format!("thread {pid}"),
            (false, pid) => format!("{} ({pid})", self.comm),
        }
    }

    /// That, and the system call if one is known, as in `sh (87) in write(2)`.
    pub fn within(&self, system_call: Option<&str>) -> String {
        in_call(self.named(), system_call)
    }
}

/// Somebody, in a system call if one is known.
pub fn in_call(who: String, system_call: Option<&str>) -> String {
    match system_call {
        Some(call) => format!("{who} in {call}(2)"),
        None => who,
    }
}

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

/// What happens during a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// The timer is due, interrupts are on, and the hardware does not interrupt yet.
    IrqPending,
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
            Kind::IrqPending => ("interrupt pending", true),
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
            Kind::UserProbe => ("probe's code", true),
            Kind::Unexplained => ("unexplained", false),
        };
        KindName { title, is_path }
    }
}

/// A function's part of a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The function.
    pub function: String,
    /// Who called it.
    pub caller: Option<String>,
    /// Time in it and in what it called.
    pub total_ns: Nanos,
    /// Time in itself alone.
    pub self_ns: Nanos,
}

/// A line's part of a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineShare {
    /// The function, as the symbols name it.
    pub function: String,
    /// The line.
    pub source: Source,
    /// Time in itself alone.
    pub self_ns: Nanos,
}

/// What another CPU did at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherCpu {
    /// Which CPU.
    pub cpu: u32,
    /// The thread that ran there.
    pub task: Task,
    /// The system call that it had made, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_call: Option<String>,
    /// Its call chain, outermost first; over a range of time, what most of it has in common.
    pub chain: Vec<Frame>,
    /// Over a range of time: the innermost function that holds more than half of what is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<Share>,
}

impl OtherCpu {
    /// The innermost function that is not the way to an interrupt itself.
    pub fn by(&self) -> Option<&str> {
        let functions = self.chain.iter().rev().map(|frame| frame.function.as_str());
        let mut functions = functions.filter(|function| !super::roles::is_way_to_cpus(function));
        functions.next()
    }

    /// Function, thread and system call, as in `text_poke_bp_batch, sh in write(2)`.
    pub fn summary(&self) -> String {
        let by = self.by().map_or(String::new(), |by| format!("{by}, "));
        format!("{by}{}", in_call(self.task.comm.clone(), self.system_call.as_deref()))
    }

    /// Thread and system call, as in `sh (87) in write(2)`.
    pub fn thread(&self) -> String {
        self.task.within(self.system_call.as_deref())
    }
}

/// One span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// What happens.
    #[serde(flatten)]
    pub what: Kind,
    /// When it begins, from the due time on.
    pub start_ns: Nanos,
    /// How long it takes.
    pub length_ns: Nanos,
    /// Lab: instructions executed.
    pub instructions: Option<Instructions>,
    /// The thread that ran.
    pub task: Task,
    /// The system call that it had made, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_call: Option<String>,
    /// Of an interrupt from another CPU: who sent it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<OtherCpu>,
    /// If it waited in a loop of the kernel's: what each other CPU that did not idle was at, until the last moment of that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited_for: Vec<OtherCpu>,
    /// The call chain that most of it has in common, outermost first.
    pub chain: Vec<Frame>,
    /// The innermost function that holds more than half of it.
    pub most: Option<Share>,
    /// The functions that took most of it in themselves.
    pub functions: Vec<Share>,
    /// The lines that took most of it in themselves, if the source is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineShare>,
}

impl Span {
    /// Nothing is known of it.
    pub(super) fn unexplained(start_ns: Nanos, length_ns: Nanos, instructions: Option<Instructions>) -> Span {
        Span {
            what: Kind::Unexplained,
            start_ns,
            length_ns,
            instructions,
            task: Task::default(),
            system_call: None,
            sender: None,
            waited_for: Vec::new(),
            chain: Vec::new(),
            most: None,
            functions: Vec::new(),
            lines: Vec::new(),
        }
    }
}

/// Which sample a breakdown is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The cell's name.
    pub cell: String,
    /// The subject's name.
    pub subject: String,
    /// The load.
    pub load: String,
    /// The preemption model in force.
    pub preempt: String,
    /// The unit of times, e.g. `virtual us at 1000 MIPS`.
    pub unit: String,
    /// Number of the period.
    pub index: u32,
    /// How late it was.
    pub latency_ns: Nanos,
}

/// Why one sample was late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    #[serde(skip_deserializing, default = "schema")]
    schema: &'static str,
    sample: Sample,
    /// What ran when the timer was due.
    at_due: AtDue,
    cause: Cause,
    spans: Vec<Span>,
    /// What to know before believing it.
    notes: Vec<String>,
}

fn schema() -> &'static str {
    SCHEMA
}

/// What ran when the timer was due.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtDue {
    /// The thread.
    pub task: Task,
    /// The system call that it had made, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_call: Option<String>,
    /// Its call chain, outermost first.
    pub chain: Vec<Frame>,
}

/// Spans that are no breakdown.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BreakdownError {
    /// A gap or an overlap.
    #[error("a span begins at {found}, the one before it ends at {expected}")]
    NotConsecutive {
        /// End of the one before.
        expected: Nanos,
        /// Begin of this one.
        found: Nanos,
    },
    /// The sum is wrong.
    #[error("the spans add up to {sum}, the latency is {latency}")]
    Sum {
        /// Of the spans.
        sum: Nanos,
        /// As measured.
        latency: Nanos,
    },
    /// The window does not hold what a breakdown needs.
    #[error("the window does not hold {0}")]
    Window(&'static str),
}

impl Breakdown {
    /// A breakdown, if its spans follow each other from the due time on and add up to the latency.
    pub fn new(
        sample: Sample,
        at_due: AtDue,
        cause: Cause,
        spans: Vec<Span>,
        notes: Vec<String>,
    ) -> Result<Breakdown, BreakdownError> {
        let mut end = Nanos(0);
        for span in &spans {
            if span.start_ns != end {
                return Err(BreakdownError::NotConsecutive {
                    expected: end,
                    found: span.start_ns,
                });
            }
            end = end + span.length_ns;
        }
        if end != sample.latency_ns {
            return Err(BreakdownError::Sum {
                sum: end,
                latency: sample.latency_ns,
            });
        }
        Ok(Breakdown {
            schema: SCHEMA,
            sample,
            at_due,
            cause,
            spans,
            notes,
        })
    }

    /// Which sample.
    pub fn sample(&self) -> &Sample {
        &self.sample
    }

    /// What ran when the timer was due.
    pub fn at_due(&self) -> &AtDue {
        &self.at_due
    }

    /// The first cause.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// The spans, in order.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// What to know before believing it.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Time in spans of the same title.
    pub fn time_in(&self, title: &str) -> Nanos {
        let spans = self.spans.iter().filter(|s| s.what.name().title == title);
        Nanos(spans.map(|s| s.length_ns.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept is read back as it was; a name that a span and its kind both have would be there twice.
    #[test]
    fn a_span_of_every_kind_is_read_back() {
        let text = || "f".to_string();
        let task = || Task { pid: 7, comm: text() };
        let kinds = [
            Kind::IrqsOff { off: None, on: None },
            Kind::OtherTimer { function: text() },
            Kind::OtherIrq { entry: text() },
            Kind::OtherThread {
                task: task(),
                owns_lock: true,
                wait: None,
            },
            Kind::NoReschedulePoint,
            Kind::PreemptOff {
                lock: None,
                released: None,
            },
            Kind::Unexplained,
        ];
        for what in kinds {
            let span = Span {
                what,
                system_call: Some("write".into()),
                task: task(),
                ..Span::unexplained(Nanos(1), Nanos(2), Some(Instructions(3)))
            };
            let json = serde_json::to_string(&span).unwrap();
            assert_eq!(serde_json::from_str::<Span>(&json).unwrap(), span, "{json}");
        }
    }
}
