//! Samples as words: a measuring thread writes them to its ring, and files of samples hold them.
//!
//! A word is `periods since the last sample << 40 | latency`, both unsigned. Where one of them does not fit, the word is 0 and
//! two words follow: periods, latency. Two samples in a row differ by 1 period, so 0 means nothing else.

const LATENCY_BITS: u32 = 40;
const LATENCY_MASK: u64 = (1 << LATENCY_BITS) - 1;

/// The words of a sample, and how many of them count.
#[inline(always)]
pub(crate) fn pack(step: u64, latency: u64) -> ([u64; 3], usize) {
    if latency <= LATENCY_MASK && step < 1 << (64 - LATENCY_BITS) {
        ([step << LATENCY_BITS | latency, 0, 0], 1)
    } else {
        (wide(step, latency), 3)
    }
}

/// Any two numbers as three words.
#[inline(always)]
pub fn wide(first: u64, second: u64) -> [u64; 3] {
    [0, first, second]
}

/// Joins words to samples; they may come in any portions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unpacker {
    open: Vec<u64>,
}

impl Unpacker {
    /// The (periods since the last sample, latency) that `word` completes.
    pub fn push(&mut self, word: u64) -> Option<(u64, u64)> {
        if self.open.is_empty() && word != 0 {
            return Some((word >> LATENCY_BITS, word & LATENCY_MASK));
        }
        self.open.push(word);
        let &[_, step, latency] = self.open.as_slice() else {
            return None;
        };
        self.open.clear();
        Some((step, latency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_back() {
        let samples = [
            (1, 0),
            (1, 5_000),
            (7, LATENCY_MASK),
            (1 << 30, 3),
            (1, u64::MAX),
            (2, LATENCY_MASK + 1),
        ];
        let mut unpacker = Unpacker::default();
        let mut back = Vec::new();
        for (step, latency) in samples {
            let (words, used) = pack(step, latency);
            back.extend(words[..used].iter().filter_map(|word| unpacker.push(*word)));
        }
        assert_eq!(back, samples);
        assert!(unpacker.open.is_empty());
        assert_eq!(pack(1, 5_000).1, 1);
    }
}
