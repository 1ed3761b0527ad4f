//! One round: what is to be worked in it, and what happened.

use crate::sys::clock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use worstcase_logs::Nanos;

/// What is known of the current round.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// How long low works while it owns the first mutex.
    section: AtomicU64,
    /// How long middle works.
    middle: AtomicU64,
    /// Threads, without high, that are not yet done.
    left: AtomicU32,
    ready_at: AtomicU64,
    /// High was made ready while it had to wait.
    contended: AtomicBool,
    /// High owned the mutex that it waited for.
    served: AtomicBool,
    /// Middle began before high owned the mutex.
    inverted: AtomicBool,
}

impl Round {
    /// A round begins in which so many threads beside high take part.
    pub fn begin(&self, section: Nanos, middle: Nanos, others: u32) {
        self.section.store(section.0, Ordering::Relaxed);
        self.middle.store(middle.0, Ordering::Relaxed);
        self.contended.store(false, Ordering::Relaxed);
        self.served.store(false, Ordering::Relaxed);
        self.inverted.store(false, Ordering::Relaxed);
        self.left.store(others, Ordering::Release);
    }

    /// One thread other than high is done; true for the last one.
    pub fn leave(&self) -> bool {
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Low works.
    pub(crate) fn work_section(&self) {
        work(Nanos(self.section.load(Ordering::Relaxed)));
    }

    /// Middle works; where it began tells whether this is an inversion.
    pub(crate) fn work_middle(&self) {
        self.inverted
            .store(!self.served.load(Ordering::Acquire), Ordering::Relaxed);
        work(Nanos(self.middle.load(Ordering::Relaxed)));
    }

    /// High is about to be made ready.
    #[inline(always)]
    pub(crate) fn set_ready(&self, contended: bool) {
        self.contended.store(contended, Ordering::Relaxed);
        self.ready_at.store(clock::monotonic().0, Ordering::Release);
    }

    /// When high was made ready.
    #[inline(always)]
    pub(crate) fn ready_at(&self) -> Nanos {
        Nanos(self.ready_at.load(Ordering::Acquire))
    }

    /// High owns what it waited for.
    #[inline(always)]
    pub fn serve(&self) {
        self.served.store(true, Ordering::Release);
    }

    /// Whether high was made ready while it had to wait.
    pub(crate) fn was_contended(&self) -> bool {
        self.contended.load(Ordering::Relaxed)
    }

    /// Whether middle began before high owned the mutex.
    pub(crate) fn was_inverted(&self) -> bool {
        self.inverted.load(Ordering::Relaxed)
    }
}

/// Takes `time` of CPU time.
fn work(time: Nanos) {
    let end = clock::thread_cpu_time() + time;
    while clock::thread_cpu_time() < end {}
}
