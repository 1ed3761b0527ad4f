//! What takes longer than its instructions: a PAUSE, and words that INS fetches from a port.

use super::settings::settings;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// A PAUSE, which a CPU executes while it waits for another one, takes as long as so many instructions. On hardware it is
/// 40 to 140 cycles. It also ends the slice: the other CPU's turn comes sooner.
pub(super) const PAUSE: i64 = 50;

/// The CPU that runs has executed a PAUSE.
pub(super) static PAUSED: AtomicBool = AtomicBool::new(false);

/// Words that an INS which has started is to fetch, and those that it has fetched.
static TO_FETCH: AtomicU64 = AtomicU64::new(0);
static FETCHED: AtomicU64 = AtomicU64::new(0);

/// An INS starts that is to fetch so many words, or the next round of one that is repeated.
pub(super) fn await_words(words: u64) {
    TO_FETCH.store(words, Relaxed);
}

/// A write to memory by what comes after the start of an INS. What follows the INS itself is passed over: QEMU 7.2 calls for
/// more than was asked for. QEMU makes two writes of one.
pub(crate) fn fetched() {
    FETCHED.store(TO_FETCH.load(Relaxed), Relaxed);
}

/// What a CPU executed last took so many ns more than its instructions.
pub(super) fn port_time() -> i64 {
    TO_FETCH.store(0, Relaxed);
    let words = FETCHED.swap(0, Relaxed);
    words.cast_signed() * settings().port.unwrap_or(0)
}

/// The CPU that runs executes a PAUSE.
pub(crate) fn paused() {
    PAUSED.store(true, Relaxed);
}
