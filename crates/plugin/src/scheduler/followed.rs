//! Which CPU measures, and which one a replay follows.

use super::settings::{is_alone, settings};
use crate::counts::running;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use worstcase_logs::machine::MOST_CPUS;

/// The CPU that measures; none before the first mark.
static MEASURES: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The CPU that runs begins to measure.
pub(crate) fn measures() {
    MEASURES.store(running(), Relaxed);
}

/// The CPU that a replay follows: the one that measures, once one does, or the one that was asked for.
pub(crate) fn followed() -> Option<usize> {
    let measures = Some(MEASURES.load(Relaxed)).filter(|cpu| *cpu < MOST_CPUS);
    settings().follow.or(measures)
}

/// Whether the CPU that runs is the one that a replay follows.
pub(crate) fn is_followed() -> bool {
    is_alone() || followed() == Some(running())
}

/// Whether the CPU that runs is the one that measures; of one CPU alone that is known before it does. Counts of several CPUs
/// would not be in order in a log, so none is told of before one begins to measure.
pub(crate) fn is_measured() -> bool {
    is_alone() || running() == MEASURES.load(Relaxed)
}
