//! The sample that a breakdown is of.

use serde::{Deserialize, Serialize};
use worstcase_contract::Nanos;

/// The event with which a sample's time begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Since {
    /// The probe's timer is due.
    #[default]
    Due,
    /// The probe's timer is due, and the kernel may be late by the slack of an ordinary thread's timer.
    DueWithSlack,
    /// The probe's timer is due, and another CPU waits for it.
    DueElsewhere,
    /// A thread on another CPU is about to wake the probe.
    Woken,
    /// A thread on another CPU is about to send a pulse on the wire that interrupts this one.
    Pulsed,
    /// The device's timer for which the probe waits is due.
    DueDevice,
    /// The probe makes the system call that is measured.
    Called,
}

impl Since {
    /// The event in words.
    pub fn moment(self) -> &'static str {
        match self {
            Since::Due | Since::DueWithSlack | Since::DueElsewhere | Since::DueDevice => "the timer was due",
            Since::Woken => "the probe was woken",
            Since::Pulsed => "the pulse was sent",
            Since::Called => "the probe made its call",
        }
    }

    /// Whether the time since then is the probe's lateness.
    pub fn is_lateness(self) -> bool {
        self != Since::Called
    }

    /// Whether a device's handler wakes the probe.
    pub(crate) fn is_device(self) -> bool {
        matches!(self, Since::Pulsed | Since::DueDevice)
    }

    /// Whether a timer of the probe's own CPU wakes it.
    pub(crate) fn is_own_timer(self) -> bool {
        matches!(self, Since::Due | Since::DueWithSlack)
    }

    fn is_due(&self) -> bool {
        *self == Since::Due
    }
}

/// The sample that a breakdown explains.
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
    /// Whether that model was compiled in: no boot parameter gives another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preempt_fixed: bool,
    /// The unit of times, e.g. `virtual us at 1000 MIPS`.
    pub unit: String,
    /// Number of the period.
    pub index: u32,
    /// How late the sample was, or how long it took.
    pub latency_ns: Nanos,
    /// The event from which its time counts.
    #[serde(default, skip_serializing_if = "Since::is_due")]
    pub since: Since,
    /// The scheduler of tasks that was loaded; none is the kernel's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
}

impl ExplainedSample {
    /// Whether its kernel gives the waiting thread the CPU at any instruction at which preemption is on. A lazy one does so for
    /// real-time threads alone: for an ordinary one the kernel's code runs on until it ends or the next tick comes.
    pub(in crate::breakdown) fn is_of_preempting_kernel(&self) -> bool {
        let is_ordinary = self.since == Since::DueWithSlack;
        preempts(&self.preempt) && !(is_ordinary && self.preempt.ends_with("lazy"))
    }
}

/// Whether a preemption model gives a real-time thread the CPU at any instruction at which preemption is on.
pub(in crate::breakdown) fn preempts(model: &str) -> bool {
    ["full", "lazy", "rt", "rt lazy"].contains(&model)
}
