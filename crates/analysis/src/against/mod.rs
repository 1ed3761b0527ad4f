//! A sample of this machine against the lab: can the path that a breakdown blames take so long?
//!
//! ```text
//! find     the lab's cells of the same kernel series and load; their censuses and breakdowns   <- a run of the lab
//! paths    the lab's paths: sections and spans, with their lengths and the names of their code
//! place    the code that a span of this machine is about
//! judge    one span against them                        paths, span -> judgement
//! words    the judgement in words
//! ```
//! The lab counts instructions, this machine has time. No model of time is needed to refute a path: no instruction takes longer
//! than [`SLOWEST_PS`] for long, so that a section of so many instructions has an upper limit.

mod find;
mod judge;
mod paths;
mod place;
#[cfg(test)]
mod tests;
mod words;

pub use find::{AgainstError, LabReference, against, check, check_before};
pub use paths::LabPath;
pub use words::summary;

use crate::breakdown::Breakdown;
use crate::breakdown::spans::{Mechanism, Span, SpanKind};
use paths::LabPaths;
use serde::Serialize;
use worstcase_contract::{Instructions, Nanos};

/// The form of a confrontation as JSON.
const SCHEMA: &str = "worstcase-against/1";

/// The upper rate, in ps an instruction: the slowest of 108 operations of the kernel, with hot and with cold caches, that caused
/// no exit to the hypervisor (a KVM guest on AMD Zen 4, Linux 6.18, 2026-11). Another machine may have a slower one: that of a
/// calibration takes its place.
pub const SLOWEST_PS: u64 = 2_200;

/// What a path is measured by in the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabPathKind {
    /// Sections with interrupts off.
    InterruptsOff,
    /// Sections in which a wake-up must wait.
    NonPreemptible,
    /// Threads of the probe's priority or a higher one.
    HigherPriority,
    /// The wake-up's own way.
    WakeUpPath,
}

/// What the lab says of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabAnswer {
    /// The lab has such a path, long enough.
    Agrees,
    /// No such path of the lab is long enough.
    Longer,
    /// The lab has none, or cannot tell.
    NotSeen,
}

/// Why the lab has no such path, or cannot tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotSeenReason {
    /// The recording names no path.
    NoPath,
    /// Nothing of this kind ran in the lab.
    NoneOfKind,
    /// Not at this place.
    NotAtPlace,
    /// At this place, and not for so long.
    ShorterAtPlace,
    /// Longer than one section, but not than one of each CPU: a lock's waiter waits for the others.
    OtherCpus,
    /// The length grows with a number.
    Grows(String),
    /// The lab's kernel has no such function.
    OtherCode(String),
    /// Work of a program that is not the load.
    OtherProgram(String),
    /// The lab's kernel preempts otherwise.
    OtherModel,
}

/// A judgement of one span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// What the lab says.
    pub answer: LabAnswer,
    /// Why it was not seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<NotSeenReason>,
    /// The lab's longest path at this place; if it has none there, its longest of this kind.
    pub lab: Option<LabPath>,
    /// Whether `lab` is at this place.
    pub is_at_place: bool,
    /// The lab's longest of this kind, wherever it is.
    pub longest: Option<LabPath>,
    /// The time that it takes here at most.
    pub allows_ns: Option<Nanos>,
    /// All of it in words.
    pub words: String,
}

/// The lab's side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabSide {
    /// The run's folder.
    pub run: String,
    /// The subject.
    pub subject: String,
    /// Its preemption model.
    pub preempt: String,
    /// The load.
    pub load: String,
    /// The cells, by name.
    pub cells: Vec<String>,
    /// The CPUs of its machine.
    pub cpus: u32,
}

/// What the record of this machine tells besides the recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostSide {
    /// Time that the hypervisor took from the CPU while the cell was measured, where it is counted.
    pub steal_ns: Option<Nanos>,
    /// What an ordinary wake-up takes: the cell's median. No instruction takes the part that timer and hypervisor have in it.
    pub ordinary_ns: Nanos,
    /// CPUs online.
    pub cpus: u32,
    /// The slowest that the lab's instructions are taken to be here, in ps each.
    #[serde(skip)]
    pub slowest_ps: u64,
}

impl HostSide {
    /// The time that so many instructions take at most.
    pub(crate) fn at_most(&self, instructions: Instructions) -> Nanos {
        Nanos((u128::from(instructions.0) * u128::from(self.slowest_ps) / 1_000) as u64)
    }
}

/// A breakdown of this machine against the lab.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Confrontation {
    schema: &'static str,
    /// The lab's side.
    pub lab: LabSide,
    /// This machine's.
    pub machine: HostSide,
    /// The upper rate.
    pub ns_per_instruction: f64,
    /// The place of the span in the list that the breakdown blames.
    pub cause: Option<usize>,
    /// A judgement of each span, in their order.
    pub judgements: Vec<Judgement>,
    /// The breakdown.
    pub breakdown: Breakdown,
}

impl Confrontation {
    /// Judges each span of a breakdown.
    pub(crate) fn of(breakdown: Breakdown, lab: &LabPaths, side: &LabSide, machine: &HostSide) -> Confrontation {
        let spans = breakdown.spans();
        let judge = judge::Judge {
            lab,
            machine,
            is_same_model: side.preempt == breakdown.sample().preempt,
            has_fewer_cpus: side.cpus < machine.cpus,
        };
        // Until then the timer's interrupt had not come.
        let came = spans.iter().position(|s| {
            matches!(
                s.what,
                SpanKind::IrqPending | SpanKind::IrqEntry | SpanKind::IrqHandler | SpanKind::WakeUp
            )
        });
        let judgements = spans
            .iter()
            .enumerate()
            .map(|(at, span)| judge.of(span, came.is_some_and(|came| at < came)))
            .collect();
        Confrontation {
            schema: SCHEMA,
            lab: side.clone(),
            machine: machine.clone(),
            ns_per_instruction: machine.slowest_ps as f64 / 1e3,
            cause: blamed(&breakdown),
            judgements,
            breakdown,
        }
    }

    /// The span that is blamed, and its judgement.
    pub fn of_cause(&self) -> Option<(&Span, &Judgement)> {
        let at = self.cause?;
        Some((self.breakdown.spans().get(at)?, self.judgements.get(at)?))
    }
}

/// The longest span of the cause's mechanism.
fn blamed(breakdown: &Breakdown) -> Option<usize> {
    let mechanism = breakdown.cause().mechanism;
    let of_it = breakdown.spans().iter().enumerate();
    let of_it = of_it.filter(|(_, span)| Mechanism::of(&span.what) == mechanism);
    of_it.max_by_key(|(_, span)| span.length_ns).map(|(at, _)| at)
}
