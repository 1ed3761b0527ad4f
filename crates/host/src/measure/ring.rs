//! A ring of words from one measuring thread to the collector: no lock, no system call, no page fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

struct SharedRing {
    words: Box<[AtomicU64]>,
    written: AtomicUsize,
    read: AtomicUsize,
    refused: AtomicU64,
}

/// The end that a measuring thread writes.
pub struct RingWriter {
    shared: Arc<SharedRing>,
    written: usize,
    /// The reader's position when the writer last looked.
    read: usize,
}

/// The end that the collector reads.
pub struct RingReader {
    shared: Arc<SharedRing>,
}

/// A ring for at least `words` words; every page of it is present.
pub fn ring(words: usize) -> (RingWriter, RingReader) {
    let words = words.next_power_of_two();
    // Each word is written once, because untouched zeroed memory would have no pages yet.
    let words: Box<[AtomicU64]> = (0..words as u64).map(AtomicU64::new).collect();
    let shared = Arc::new(SharedRing {
        words,
        written: AtomicUsize::new(0),
        read: AtomicUsize::new(0),
        refused: AtomicU64::new(0),
    });
    let writer = RingWriter {
        shared: shared.clone(),
        written: 0,
        read: 0,
    };
    (writer, RingReader { shared })
}

impl RingWriter {
    /// Adds all of `words`, or counts one refusal.
    #[inline(always)]
    pub fn push(&mut self, words: &[u64]) -> bool {
        let mask = self.shared.words.len() - 1;
        if self.written + words.len() - self.read > mask {
            self.read = self.shared.read.load(Ordering::Acquire);
            if self.written + words.len() - self.read > mask {
                self.shared.refused.fetch_add(1, Ordering::Release);
                return false;
            }
        }
        for (i, word) in words.iter().enumerate() {
            self.shared.words[(self.written + i) & mask].store(*word, Ordering::Relaxed);
        }
        self.written += words.len();
        self.shared.written.store(self.written, Ordering::Release);
        true
    }
}

impl RingReader {
    /// Hands over the words that were written since the last call.
    pub fn drain(&mut self, mut each: impl FnMut(u64)) {
        let mask = self.shared.words.len() - 1;
        let from = self.shared.read.load(Ordering::Relaxed);
        let to = self.shared.written.load(Ordering::Acquire);
        for at in from..to {
            each(self.shared.words[at & mask].load(Ordering::Relaxed));
        }
        self.shared.read.store(to, Ordering::Release);
    }

    /// How often there was no room.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_in_order() {
        let (mut writer, mut reader) = ring(64);
        let writing = std::thread::spawn(move || {
            let mut next = 0_u64;
            while next < 20_000 {
                if writer.push(&[next, next + 1]) {
                    next += 2;
                } else {
                    std::thread::yield_now();
                }
            }
        });
        let mut seen = 0_u64;
        while seen < 20_000 {
            reader.drain(|word| {
                assert_eq!(word, seen);
                seen += 1;
            });
        }
        writing.join().unwrap();
    }

    #[test]
    fn a_full_ring_takes_nothing_in_part() {
        let (mut writer, mut reader) = ring(8);
        let taken = (0..20).filter(|n| writer.push(&[*n, *n, *n])).count();
        let mut words = 0;
        reader.drain(|_| words += 1);
        assert_eq!(words, taken * 3);
        assert!((1..4).contains(&taken));
        assert_eq!(reader.refused(), 20 - taken as u64);
        assert!(writer.push(&[1, 2, 3]));
    }
}
