//! The breakdown of one sample: consecutive spans, each named, that add up exactly to the latency.
//!
//! The type serves both venues. A lab's breakdown is exact to the instruction; a host's is coarser, and time that its trace
//! does not explain is a span [`SpanKind::Unexplained`].

mod kind;
mod mechanism;
mod sample;
mod span;
mod task;

use super::stacks::StackFrame;
pub use kind::{CodePlace, KindName, LockWait, OffBy, SpanKind, ThreadRun, WaitsFor, Waker};
pub use mechanism::{Cause, Mechanism, Peer};
pub(super) use sample::preempts;
pub use sample::{ExplainedSample, Since};
use serde::{Deserialize, Serialize};
pub use span::{FunctionShare, LineShare, OtherCpu, Span};
pub use task::KernelTask;
pub(crate) use task::in_call;
use worstcase_contract::Nanos;
use worstcase_contract::costs::EventCounts;

/// The form of a breakdown as JSON.
pub const SCHEMA: &str = "worstcase-breakdown/2";

/// Why one sample was late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    #[serde(skip_deserializing, default = "schema")]
    schema: &'static str,
    sample: ExplainedSample,
    /// The code that ran when the timer was due.
    at_due: AtDue,
    cause: Cause,
    spans: Vec<Span>,
    /// What a reader must know before believing the breakdown.
    notes: Vec<String>,
}

fn schema() -> &'static str {
    SCHEMA
}

/// The code that ran when the timer was due.
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
        /// The end of the span before.
        expected: Nanos,
        /// The begin of this span.
        found: Nanos,
    },
    /// The sum is wrong.
    #[error("the spans add up to {sum}, the latency is {latency}")]
    Sum {
        /// The sum of the spans.
        sum: Nanos,
        /// The latency as measured.
        latency: Nanos,
    },
    /// The window lacks something that a breakdown needs.
    #[error("the window does not hold {0}")]
    Window(&'static str),
}

impl Breakdown {
    /// What all spans consist of together, as far as that was counted.
    pub fn costs(&self) -> EventCounts {
        let counted = self.spans.iter().filter_map(|span| span.costs);
        counted.fold(EventCounts::default(), |sum, counts| sum + counts)
    }

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

    /// The sample that the breakdown explains.
    pub fn sample(&self) -> &ExplainedSample {
        &self.sample
    }

    /// The code that ran when the timer was due.
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

    /// What a reader must know before believing the breakdown.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Time in spans of the same title.
    pub fn time_in(&self, title: &str) -> Nanos {
        let spans = self.spans.iter().filter(|s| s.what.name().title == title);
        Nanos(spans.map(|s| s.length_ns.0).sum())
    }
}
