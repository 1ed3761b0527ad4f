//! A part of a sample's time, and the code that ran in it.

use super::kind::SpanKind;
use super::task::{KernelTask, in_call};
use crate::breakdown::lines::SourceLine;
use crate::breakdown::roles;
use crate::breakdown::stacks::StackFrame;
use serde::{Deserialize, Serialize};
use worstcase_contract::costs::EventCounts;
use worstcase_contract::{Instructions, Nanos};

/// A function's part of a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionShare {
    /// The function.
    pub function: String,
    /// The function that called it.
    pub caller: Option<String>,
    /// Time in the function and in the functions that it called.
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

/// The code that another CPU ran at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherCpu {
    /// The number of the CPU.
    pub cpu: u32,
    /// The thread that ran there.
    pub task: KernelTask,
    /// The system call that it had made, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_call: Option<String>,
    /// Its call chain, outermost first; over a range of time, the common part of most of it.
    pub chain: Vec<StackFrame>,
    /// Over a range of time: the innermost function that holds more than half of the known part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<FunctionShare>,
}

impl OtherCpu {
    /// The innermost function that is not the way to an interrupt itself.
    pub fn by(&self) -> Option<&str> {
        let functions = self.chain.iter().rev().map(|frame| frame.function.as_str());
        let mut functions = functions.filter(|function| !roles::is_way_to_cpus(function));
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
    /// The event of the span.
    #[serde(flatten)]
    pub what: SpanKind,
    /// When it begins, from the due time on.
    pub start_ns: Nanos,
    /// The duration of the span.
    pub length_ns: Nanos,
    /// Lab: instructions executed.
    pub instructions: Option<Instructions>,
    /// Lab: what these consist of, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<EventCounts>,
    /// The number of another CPU, if the span is not about the probe's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// The thread that ran.
    pub task: KernelTask,
    /// The system call that it had made, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_call: Option<String>,
    /// For an interrupt from another CPU: the code that sent it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<OtherCpu>,
    /// For a wait in a loop of the kernel: what each other CPU that did not idle ran, until the loop's last round.
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
    /// A span about which nothing is known.
    pub(crate) fn unexplained(start_ns: Nanos, length_ns: Nanos, instructions: Option<Instructions>) -> Span {
        Span {
            what: SpanKind::Unexplained,
            start_ns,
            length_ns,
            instructions,
            costs: None,
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

    /// An interrupt on its way: no CPU's instructions show it.
    pub(in crate::breakdown) fn pending(length: Nanos) -> Span {
        Span {
            what: SpanKind::IrqPending,
            ..Span::unexplained(Nanos(0), length, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::spans::{CodePlace, OffBy, WaitsFor};

    /// A kept span is read back as it was. If the span and its kind had a field of one name, JSON would hold it
    /// twice.
    #[test]
    fn a_span_of_every_kind_is_read_back() {
        let text = || "f".to_string();
        let task = || KernelTask { pid: 7, comm: text() };
        let kinds = [
            SpanKind::IrqsOff {
                off: None,
                on: None,
                by: OffBy::SpinLock,
            },
            SpanKind::Waits {
                woken: true,
                what: WaitsFor::Mutex,
                at: CodePlace::default(),
                fault: false,
                waker: None,
                ran: None,
                kept: None,
            },
            SpanKind::SpinsFor {
                at: CodePlace::default(),
            },
            SpanKind::OtherTimer { function: text() },
            SpanKind::OtherIrq { entry: text() },
            SpanKind::OtherThread {
                task: task(),
                owns_lock: true,
                wait: None,
                server: Some(CodePlace::default()),
            },
            SpanKind::NoReschedulePoint,
            SpanKind::PreemptOff {
                lock: None,
                off: Some(CodePlace::default()),
                by: OffBy::BottomHalves,
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
