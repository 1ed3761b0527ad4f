//! The page that forked workers (of a load, of a probe) and the probe share: counters, and room for one error message.

use crate::sys::memory::{Mapping, page_size};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use worstcase_logs::prng::SplitMix64;

/// Most things that one load counts.
const COUNTERS: usize = 9;
/// 0: no message; 1: one is being written; else its length in bytes plus 2.
const MESSAGE_STATE: usize = COUNTERS;
/// Workers that are set up.
const READY: usize = COUNTERS + 1;
/// Whether a thread of the probe's own process is to end.
const END: usize = COUNTERS + 2;
/// A seed that the probe gave after the start; 0 if none.
const SEED: usize = COUNTERS + 3;
const MESSAGE: usize = COUNTERS + 4;
/// Longest message in bytes.
const MESSAGE_LEN: usize = 1024;

/// Counters and message, shared with every process forked after it was made.
#[derive(Debug)]
pub struct Board(Mapping);

impl Board {
    /// Nothing counted, no message.
    pub fn new() -> io::Result<Board> {
        Ok(Board(Mapping::shared(page_size())?))
    }

    fn word(&self, i: usize) -> &AtomicU64 {
        &self.0.words()[i]
    }

    /// Adds to counter `unit` (its place in [`super::LoadInfo::units`]).
    pub fn add(&self, unit: usize, n: u64) {
        self.add_up(unit, n);
    }

    /// The same, and returns the sum.
    pub(crate) fn add_up(&self, unit: usize, n: u64) -> u64 {
        assert!(unit < COUNTERS);
        self.word(unit).fetch_add(n, Ordering::Relaxed) + n
    }

    /// Counter `unit` so far.
    pub(crate) fn count(&self, unit: usize) -> u64 {
        assert!(unit < COUNTERS);
        self.word(unit).load(Ordering::Relaxed)
    }

    /// One more worker has set up what it works on.
    pub fn set_up(&self) {
        self.word(READY).fetch_add(1, Ordering::Relaxed);
    }

    /// How many workers have.
    pub fn ready(&self) -> u64 {
        self.word(READY).load(Ordering::Relaxed)
    }

    /// Asks a worker that is a thread to end.
    pub(crate) fn ask_for_end(&self) {
        self.word(END).store(1, Ordering::Relaxed);
    }

    /// Whether it is asked to.
    pub(crate) fn end_is_asked_for(&self) -> bool {
        self.word(END).load(Ordering::Relaxed) != 0
    }

    /// Gives the workers a seed: see [`super::Draws`].
    pub(crate) fn give_seed(&self, seed: u64) {
        let given = SplitMix64::new(seed).next_u64() | 1;
        self.word(SEED).store(given, Ordering::Relaxed);
    }

    /// The seed that was given, as a number other than 0.
    pub(crate) fn given_seed(&self) -> u64 {
        self.word(SEED).load(Ordering::Relaxed)
    }

    /// Leaves a message for the probe; the first one stays.
    pub fn report(&self, message: &str) {
        let state = self.word(MESSAGE_STATE);
        if state
            .compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed)
            .is_err()
        {
            return;
        }
        let bytes = &message.as_bytes()[..message.len().min(MESSAGE_LEN)];
        for (i, chunk) in bytes.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(MESSAGE + i)
                .store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
        state.store(bytes.len() as u64 + 2, Ordering::Release);
    }

    /// The message, once it is complete.
    pub fn message(&self) -> Option<String> {
        let len = self.word(MESSAGE_STATE).load(Ordering::Acquire).checked_sub(2)? as usize;
        let bytes: Vec<u8> = (0..len.div_ceil(8))
            .flat_map(|i| self.word(MESSAGE + i).load(Ordering::Relaxed).to_le_bytes())
            .take(len)
            .collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count_and_the_first_message_stays() {
        let board = Board::new().unwrap();
        assert_eq!((board.count(1), board.message()), (0, None));
        board.add(1, 3);
        board.add(1, 4);
        board.report("first");
        board.report("second");
        board.set_up();
        assert_eq!((board.count(0), board.count(1), board.ready()), (0, 7, 1));
        assert_eq!(board.message().as_deref(), Some("first"));
    }

    #[test]
    fn a_long_message_is_cut_and_an_empty_one_is_one() {
        let board = Board::new().unwrap();
        board.report(&"x".repeat(5000));
        assert_eq!(board.message().map(|m| m.len()), Some(MESSAGE_LEN));
        let board = Board::new().unwrap();
        board.report("");
        assert_eq!(board.message().as_deref(), Some(""));
    }
}
