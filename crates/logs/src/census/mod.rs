//! The census: every stretch of a run in which the CPU could not answer a wake-up at once.
//!
//! `facts` is what the controller tells the plugin of a kernel; `log` is what the plugin found. `docs/census.md` has the method.

pub mod facts;
pub mod log;

/// Why the CPU could not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u64)]
pub enum Kind {
    /// Interrupts were off (the flag in the CPU).
    InterruptsOff = 0,
    /// Preemption was off (the kernel's count was not 0), interrupt handlers included.
    PreemptionOff = 1,
    /// Either, or a kernel that does not preempt was in the kernel, or a thread of higher priority ran: what delays a
    /// wake-up. Cut where the kernel would have gone on to the probe had it been asked to.
    NonPreemptible = 2,
    /// A thread ran whose priority is the probe's or higher.
    HigherPriority = 3,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [
        Kind::InterruptsOff,
        Kind::PreemptionOff,
        Kind::NonPreemptible,
        Kind::HigherPriority,
    ];

    /// The kind with this number.
    pub(crate) fn from_u64(n: u64) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u64 == n)
    }
}
