//! What each CPU has executed: QEMU's counter is one of all CPUs, which run one after the other.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use worstcase_logs::machine::MOST_CPUS;

/// What each CPU has executed.
pub(crate) struct Counts {
    own: [AtomicU64; MOST_CPUS],
    /// What the counter of all CPUs shows more than that of the CPU that runs.
    others: AtomicU64,
    running: AtomicUsize,
    /// Whether a CPU has run.
    begun: AtomicBool,
}

/// Of the machine's CPUs.
pub(crate) static COUNTS: Counts = Counts {
    own: [const { AtomicU64::new(0) }; MOST_CPUS],
    others: AtomicU64::new(0),
    running: AtomicUsize::new(0),
    begun: AtomicBool::new(false),
};

impl Counts {
    /// A CPU begins to run while the counter of all shows `all`.
    pub(crate) fn begin(&self, cpu: usize, all: u64) {
        self.begun.store(true, Relaxed);
        self.running.store(cpu, Relaxed);
        self.others
            .store(all.wrapping_sub(self.own[cpu].load(Relaxed)), Relaxed);
    }

    /// It stops, and has waited as long as `more` instructions take.
    pub(crate) fn end(&self, cpu: usize, all: u64, more: u64) {
        let own = all.wrapping_sub(self.others.load(Relaxed)) + more;
        self.own[cpu].store(own, Relaxed);
        self.others.store(all.wrapping_sub(own), Relaxed);
    }
}

/// Of what the counter of all CPUs shows, the part of the CPU that runs, or ran last.
pub(crate) fn own(all: u64) -> u64 {
    all.wrapping_sub(COUNTS.others.load(Relaxed))
}

/// The CPU that runs, or ran last.
pub(crate) fn running() -> usize {
    COUNTS.running.load(Relaxed)
}

/// What a CPU that does not run has executed.
pub(crate) fn executed(cpu: usize) -> u64 {
    COUNTS.own.get(cpu).map_or(0, |own| own.load(Relaxed))
}

/// Whether the CPUs are scheduled here.
pub(crate) fn has_begun() -> bool {
    COUNTS.begun.load(Relaxed)
}
