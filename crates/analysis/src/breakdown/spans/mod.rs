//! The breakdown of one sample: consecutive spans, each named, that add up exactly to the latency.
//!
//! The type serves both venues. A lab's breakdown is exact to the instruction; a host's is coarser, and what its trace does
//! not tell is a span [`SpanKind::Unexplained`].

mod kind;

use super::cause::Cause;
use super::lines::SourceLine;
use super::stacks::StackFrame;
pub use kind::{CodePlace, KindName, LockWait, SpanKind, ThreadRun, Waker};
use serde::{Deserialize, Serialize};
use worstcase_contract::{Instructions, Nanos};

/// The form of a breakdown as JSON.
pub const SCHEMA: &str = "worstcase-breakdown/1";

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelTask {
    /// Its id; 0 is the idle task.
    pub pid: u32,
    /// The kernel's name of it.
    pub comm: String,
}

impl KernelTask {
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

/// A function's part of a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionShare {
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
    pub source: SourceLine,
    /// Time in itself alone.
    pub self_ns: Nanos,
}

/// What another CPU did at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherCpu {
    /// Which CPU.
    pub cpu: u32,
    /// The thread that ran there.
    pub task: KernelTask,
    /// The system call that it had made, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_call: Option<String>,
    /// Its call chain, outermost first; over a range of time, what most of it has in common.
    pub chain: Vec<StackFrame>,
    /// Over a range of time: the innermost function that holds more than half of what is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<FunctionShare>,
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
    pub what: SpanKind,
    /// When it begins, from the due time on.
    pub start_ns: Nanos,
    /// How long it takes.
    pub length_ns: Nanos,
    /// Lab: instructions executed.
    pub instructions: Option<Instructions>,
    /// If another CPU than the probe's is told of: which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// The thread that ran.
    pub task: KernelTask,
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
    pub chain: Vec<StackFrame>,
    /// The innermost function that holds more than half of it.
    pub most: Option<FunctionShare>,
    /// The functions that took most of it in themselves.
    pub functions: Vec<FunctionShare>,
    /// The lines that took most of it in themselves, if the source is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineShare>,
}

impl Span {
    /// Nothing is known of it.
    pub(super) fn unexplained(start_ns: Nanos, length_ns: Nanos, instructions: Option<Instructions>) -> Span {
        Span {
            what: SpanKind::Unexplained,
            start_ns,
            length_ns,
            instructions,
            cpu: None,
            task: KernelTask::default(),
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

/// What the time of a sample begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Since {
    /// The probe's timer is due.
    #[default]
    Due,
    /// It is, and the kernel may be late by the slack that an ordinary thread's timer has.
    DueWithSlack,
    /// The probe's timer is due, and another CPU waits for it.
    DueElsewhere,
    /// A thread on another CPU is about to wake the probe.
    Woken,
    /// A thread on another CPU is about to send a pulse on the wire that interrupts this one.
    Pulsed,
    /// A device's timer is due, which the probe waits for.
    DueDevice,
    /// The probe makes the system call that is measured.
    Called,
}

impl Since {
    /// That moment, in words.
    pub fn moment(self) -> &'static str {
        match self {
            Since::Due | Since::DueWithSlack | Since::DueElsewhere | Since::DueDevice => "the timer was due",
            Since::Woken => "the probe was woken",
            Since::Pulsed => "the pulse was sent",
            Since::Called => "the probe made its call",
        }
    }

    /// Whether the time since then is how late the probe was.
    pub fn is_lateness(self) -> bool {
        self != Since::Called
    }

    /// Whether a device's handler wakes the probe.
    pub fn is_device(self) -> bool {
        matches!(self, Since::Pulsed | Since::DueDevice)
    }

    /// Whether a timer of the probe's own CPU wakes it.
    pub fn is_own_timer(self) -> bool {
        matches!(self, Since::Due | Since::DueWithSlack)
    }

    fn is_due(&self) -> bool {
        *self == Since::Due
    }
}

/// Which sample a breakdown is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedSample {
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
    /// How late it was, or how long it took.
    pub latency_ns: Nanos,
    /// From when on.
    #[serde(default, skip_serializing_if = "Since::is_due")]
    pub since: Since,
    /// The scheduler of tasks that was loaded; none is the kernel's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
}

/// Why one sample was late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    #[serde(skip_deserializing, default = "schema")]
    schema: &'static str,
    sample: ExplainedSample,
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
    pub task: KernelTask,
    /// The system call that it had made, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_call: Option<String>,
    /// Its call chain, outermost first.
    pub chain: Vec<StackFrame>,
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
        sample: ExplainedSample,
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
    pub fn sample(&self) -> &ExplainedSample {
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
        let task = || KernelTask { pid: 7, comm: text() };
        let kinds = [
            SpanKind::IrqsOff { off: None, on: None },
            SpanKind::OtherTimer { function: text() },
            SpanKind::OtherIrq { entry: text() },
            SpanKind::OtherThread {
                task: task(),
                owns_lock: true,
                wait: None,
            },
            SpanKind::NoReschedulePoint,
            SpanKind::PreemptOff {
                lock: None,
                released: None,
            },
            SpanKind::Unexplained,
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
