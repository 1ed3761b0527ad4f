//! What each CPU has executed. CPUs run in slices, one after the other: the sum of its slices, and of the one that runs.

use crate::scheduler::{RunningSlice, SLICE};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
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
    /// How often a slice began or ended, twice; odd while one does: what another thread reads then does not belong together.
    changes: AtomicU64,
}

/// Of the machine's CPUs.
pub(crate) static COUNTS: Counts = Counts::new();

impl Counts {
    const fn new() -> Counts {
        Counts {
            own: [const { AtomicU64::new(0) }; MOST_CPUS],
            all: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            begun: AtomicBool::new(false),
            changes: AtomicU64::new(0),
        }
    }

    /// From here on, until it is settled, a slice begins or ends.
    fn change(&self) {
        self.changes.store(self.changes.load(Relaxed) + 1, Relaxed);
        fence(Release);
    }

    /// A slice begins.
    pub(crate) fn begin_slice(&self, begin: impl FnOnce()) {
        self.change();
        begin();
        self.settle();
    }

    fn settle(&self) {
        self.changes.store(self.changes.load(Relaxed) + 1, Release);
    }

    /// A slice ends; [`Counts::end`] follows.
    pub(crate) fn end_slice<T>(&self, end: impl FnOnce() -> T) -> T {
        self.change();
        end()
    }

    /// What all CPUs have executed until the last slice ended, and in this one.
    fn with(&self, slice: &RunningSlice) -> u64 {
        self.all.load(Relaxed).wrapping_add_signed(slice.executed())
    }

    /// What all CPUs have executed, for another thread than the CPUs'; none while a slice begins or ends.
    pub(crate) fn seen(&self, slice: &RunningSlice) -> Option<u64> {
        let before = self.changes.load(Acquire);
        let count = self.with(slice);
        fence(Acquire);
        let is_settled = before.is_multiple_of(2) && self.changes.load(Relaxed) == before;
        is_settled.then_some(count)
    }

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
        self.settle();
    }
}

/// What the CPU that runs, or ran last, is charged with: what it has executed, and the block that runs, to its end
/// ([`crate::count`]).
pub(crate) fn charged() -> u64 {
    executed(running()).wrapping_add_signed(SLICE.executed())
}

/// What all CPUs are charged with.
pub(crate) fn charged_of_all() -> u64 {
    COUNTS.with(&SLICE)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::Fields;

    #[test]
    fn another_thread_sees_no_slice_that_begins_or_ends() {
        let (counts, slice) = (Counts::new(), RunningSlice::new());
        let fields: &Fields = Box::leak(Box::new(Fields::of_test(100)));
        counts.begin_slice(|| {
            slice.begin(fields);
            assert_eq!(counts.seen(&slice), None);
        });
        fields.charge(30);
        assert_eq!(counts.seen(&slice), Some(30));
        let executed = counts.end_slice(|| slice.end());
        assert_eq!(counts.seen(&slice), None);
        counts.end(0, executed.timed, 7);
        assert_eq!(counts.seen(&slice), Some(30), "without what it waited");
    }
}
