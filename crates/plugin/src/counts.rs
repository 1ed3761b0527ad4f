//! What each CPU has executed. CPUs run in slices, one after the other: the sum of its slices, and of the one that runs.

use crate::scheduler::SLICE;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use worstcase_logs::machine::MOST_CPUS;

/// What each CPU has executed.
pub(crate) struct Counts {
    /// Until its last slice ended, with what it has waited.
    own: [AtomicU64; MOST_CPUS],
    /// All of them, without.
    all: AtomicU64,
    running: AtomicUsize,
    /// Whether a CPU has run.
    begun: AtomicBool,
}

/// Of the machine's CPUs.
pub(crate) static COUNTS: Counts = Counts {
    own: [const { AtomicU64::new(0) }; MOST_CPUS],
    all: AtomicU64::new(0),
    running: AtomicUsize::new(0),
    begun: AtomicBool::new(false),
};

impl Counts {
    /// A CPU begins to run.
    pub(crate) fn begin(&self, cpu: usize) {
        self.begun.store(true, Relaxed);
        self.running.store(cpu, Relaxed);
    }

    /// It has stopped, has executed so much, and has waited as long as `more` instructions take.
    pub(crate) fn end(&self, cpu: usize, executed: i64, more: i64) {
        let add = |count: &AtomicU64, more| count.store(count.load(Relaxed).wrapping_add_signed(more), Relaxed);
        add(&self.all, executed);
        add(&self.own[cpu], executed + more);
    }
}

/// What the CPU that runs, or ran last, is charged with: what it has executed, and the block that runs, to its end
/// ([`crate::count`]).
pub(crate) fn charged() -> u64 {
    executed(running()).wrapping_add_signed(SLICE.executed())
}

/// What all CPUs are charged with.
pub(crate) fn charged_of_all() -> u64 {
    COUNTS.all.load(Relaxed).wrapping_add_signed(SLICE.executed())
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
