//! What was seen of the CPUs of a cycle besides what they ran: it tells why code took longer, and how long that was is not known.

use std::collections::BTreeSet;
use worstcase_contract::Nanos;

/// Something that changes how fast a CPU gets on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuNote {
    /// It had not the highest of its frequencies all the time.
    Frequencies {
        /// The CPU.
        cpu: u32,
        /// In kHz, each with its begin.
        steps: Vec<(Nanos, u32)>,
    },
    /// A hypervisor took some of its time.
    Stolen(StolenTime),
}

/// Time that a hypervisor took from a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StolenTime {
    /// The CPU.
    pub cpu: u32,
    /// Between this reading of the kernel's count
    pub from: Nanos,
    /// and this one.
    pub to: Nanos,
    /// By so much it grew, in whole ticks.
    pub time: Nanos,
}

/// Late cycles of whose CPUs something was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotedCycles {
    /// A hypervisor took time.
    pub stolen: u64,
    /// The frequency was not the highest.
    pub slowed: u64,
}

impl NotedCycles {
    /// Counts a late cycle.
    pub(super) fn add(&mut self, kinds: NoteKinds) {
        self.stolen += u64::from(kinds.stolen);
        self.slowed += u64::from(kinds.slowed);
    }
}

/// Which notes a cycle has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NoteKinds {
    stolen: bool,
    slowed: bool,
}

impl NoteKinds {
    pub fn of(notes: &[CpuNote]) -> NoteKinds {
        NoteKinds {
            stolen: notes.iter().any(|note| matches!(note, CpuNote::Stolen(_))),
            slowed: notes.iter().any(|note| matches!(note, CpuNote::Frequencies { .. })),
        }
    }
}

/// The CPUs of which a cycle's parts tell.
pub(super) fn cpus(parts: &[super::Part]) -> BTreeSet<u32> {
    parts.iter().filter_map(|part| part.cpu).collect()
}
