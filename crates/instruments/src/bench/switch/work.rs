//! What a member does with the token before it passes it on.

use crate::sys::clock;
use crate::sys::memory::{Mapping, page_size};
use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use worstcase_logs::Nanos;

/// Words that are added up without a branch between them.
const UNROLLED: usize = 16;

/// Working sets of one process: fresh memory, present in small pages.
pub(super) struct WorkingSets {
    mapping: Option<Mapping>,
    words: usize,
    stride: usize,
}

impl WorkingSets {
    /// `count` sets of `size` bytes, each in pages of its own.
    pub(super) fn new(count: usize, size: usize) -> io::Result<WorkingSets> {
        let stride = size.next_multiple_of(page_size());
        let mapping = match size {
            0 => None,
            _ => Some(Mapping::private(count * stride)?),
        };
        if let Some(mapping) = &mapping {
            mapping.use_small_pages();
            for word in mapping.words() {
                word.store(1, Ordering::Relaxed);
            }
        }
        Ok(WorkingSets {
            mapping,
            words: size / size_of::<u64>(),
            stride: stride / size_of::<u64>(),
        })
    }

    fn words(&self, set: usize) -> &[AtomicU64] {
        match &self.mapping {
            Some(mapping) => &mapping.words()[set * self.stride..][..self.words],
            None => &[],
        }
    }

    /// Reads every word of one of them. (Atomic reads are neither left out nor joined by the compiler.)
    #[inline(always)]
    pub(super) fn read(&self, set: usize) {
        let read = |sum: u64, word: &AtomicU64| sum.wrapping_add(word.load(Ordering::Relaxed));
        let (chunks, rest) = self.words(set).as_chunks::<UNROLLED>();
        let sum = chunks.iter().fold(0, |sum, chunk| chunk.iter().fold(sum, read));
        black_box(rest.iter().fold(sum, read));
    }
}

/// Spends so much CPU time of this thread, and two reads of its CPU clock.
#[inline(always)]
pub(super) fn spend(time: Nanos) {
    let begin = clock::thread_cpu_time();
    let mut left = time;
    loop {
        // Wall time is never less than CPU time, and much quicker read.
        let until = clock::monotonic() + left;
        while clock::monotonic() < until {}
        let spent = clock::thread_cpu_time().saturating_sub(begin);
        if spent >= time {
            return;
        }
        left = time - spent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_set_is_there_and_no_other() {
        let sets = WorkingSets::new(3, 5000).unwrap();
        assert_eq!(sets.words(2).len(), 625);
        let sum = |set| sets.words(set).iter().map(|w| w.load(Ordering::Relaxed)).sum::<u64>();
        assert_eq!([sum(0), sum(1), sum(2)], [625; 3]);
        assert!(!std::ptr::eq(&sets.words(0)[0], &sets.words(1)[0]));
        assert!(WorkingSets::new(2, 0).unwrap().words(1).is_empty());
    }

    #[test]
    fn cpu_time_is_spent() {
        let before = clock::thread_cpu_time();
        spend(Nanos::from_millis(3));
        assert!(clock::thread_cpu_time() - before >= Nanos::from_millis(3));
    }
}
