//! The mechanism of a first cause; [`cause`](crate::breakdown::cause) finds it.

use super::kind::SpanKind;
use crate::breakdown::lines::SourceLine;
use serde::{Deserialize, Serialize};
use worstcase_contract::Nanos;

/// Why a wake-up is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Interrupts are off.
    InterruptsOff,
    /// Preemption is off, by a spin lock or by itself.
    PreemptionOff,
    /// This kernel gives the CPU away only at certain points.
    NoReschedulePoint,
    /// Another CPU holds a spin lock that this one waits for.
    SpinsForLock,
    /// Another thread runs first.
    OtherThread,
    /// The probe waits for something else than its timer.
    Waits,
    /// Another thread holds a lock that ours needs.
    LockOwner,
    /// Soft interrupts run first.
    SoftInterrupt,
    /// Other timers' functions run first.
    OtherTimer,
    /// The kernel puts its timers off.
    TimersHeldBack,
    /// Other interrupts run first.
    OtherInterrupt,
    /// The wake-up itself is deferred.
    NotWoken,
    /// Other CPUs are called, and waited for.
    OtherCpus,
    /// The probe does work on its way out of the kernel that was put off until then.
    ExitWork,
    /// The wake-up's own way, with nothing else in it.
    WakeUpPath,
    /// The breakdown does not tell.
    Unexplained,
}

impl Mechanism {
    /// The title that readers see.
    pub fn title(self) -> &'static str {
        match self {
            Mechanism::InterruptsOff => "interrupts off",
            Mechanism::PreemptionOff => "preemption off",
            Mechanism::NoReschedulePoint => "no reschedule point",
            Mechanism::SpinsForLock => "a lock of another CPU",
            Mechanism::ExitWork => "work on the way out",
            Mechanism::OtherThread => "a thread that runs first",
            Mechanism::Waits => "a wait of the probe",
            Mechanism::LockOwner => "a lock's owner",
            Mechanism::SoftInterrupt => "soft interrupts",
            Mechanism::OtherTimer => "other timers",
            Mechanism::TimersHeldBack => "timers held back",
            Mechanism::OtherInterrupt => "other interrupts",
            Mechanism::NotWoken => "the wake-up is deferred",
            Mechanism::OtherCpus => "calls of other CPUs",
            Mechanism::WakeUpPath => "the wake-up path itself",
            Mechanism::Unexplained => "unexplained",
        }
    }

    /// The mechanism that a kind of span is part of.
    pub fn of(kind: &SpanKind) -> Mechanism {
        match kind {
            SpanKind::IrqsOff { .. } => Mechanism::InterruptsOff,
            SpanKind::PreemptOff { .. } => Mechanism::PreemptionOff,
            SpanKind::NoReschedulePoint => Mechanism::NoReschedulePoint,
            SpanKind::SpinsFor { .. } => Mechanism::SpinsForLock,
            SpanKind::ExitWork => Mechanism::ExitWork,
            SpanKind::Waits { .. } => Mechanism::Waits,
            SpanKind::OtherThread { owns_lock: true, .. } => Mechanism::LockOwner,
            SpanKind::OtherThread { .. } => Mechanism::OtherThread,
            SpanKind::SoftIrq => Mechanism::SoftInterrupt,
            SpanKind::OtherTimer { .. } => Mechanism::OtherTimer,
            SpanKind::TimersHeldBack { .. } => Mechanism::TimersHeldBack,
            SpanKind::OtherIrq { .. } => Mechanism::OtherInterrupt,
            SpanKind::RunsOn => Mechanism::NotWoken,
            SpanKind::CallsCpus => Mechanism::OtherCpus,
            SpanKind::Unexplained => Mechanism::Unexplained,
            _ => Mechanism::WakeUpPath,
        }
    }
}

/// The same load and probe on another subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The subject, for sentences: `6.1.0-50-amd64 full`.
    pub subject: String,
    /// Its preemption model.
    pub preempt: String,
    /// The highest latency of all its cells.
    pub maximum: Nanos,
}

/// The first cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The mechanism of the cause.
    pub mechanism: Mechanism,
    /// The function that caused it.
    pub function: Option<String>,
    /// The caller of the function.
    pub caller: Option<String>,
    /// The line in the function, if the source is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
    /// The system call in which the function ran.
    pub system_call: Option<String>,
    /// Time of all spans of this mechanism.
    pub length_ns: Nanos,
    /// The cause in one sentence.
    pub sentence: String,
    /// The change that would remove the cause.
    pub remedy: String,
}
