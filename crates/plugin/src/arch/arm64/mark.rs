//! Recognising the guest's marks: two moves to the zero register that carry the kind, and the store behind them.
//!
//! A block can begin at any of the three: after a fault of the store, or an interrupt between them. Then the two instructions
//! before it tell, read from the page that it lies on; only if they are not all there, what was translated before it is
//! remembered by the address.

use crate::arch::word;
use std::collections::HashMap;
use worstcase_logs::mark::{MarkKind, moves};

/// Length of a mark's moves.
pub(crate) const NOP_LEN: usize = 8;
/// Of an instruction.
const LEN: u64 = 4;
const PAGE: u64 = 4096;

/// Finds marks in the stream of translated instructions.
#[derive(Default)]
pub(crate) struct Marks {
    /// The two instructions before the next one of this block.
    before: [u32; 2],
    /// First and second moves that end so near the beginning of a page that they cannot be found from it: what stands before
    /// their end's address.
    across_pages: HashMap<u64, [u32; 2]>,
}

impl Marks {
    /// A new block begins at `vaddr`; `bytes_before` are the eight bytes before it, if they are on its page.
    pub(crate) fn begin_block(&mut self, vaddr: u64, bytes_before: Option<&[u8; NOP_LEN]>) {
        self.before = match bytes_before {
            Some(bytes) => [word(&bytes[..4]), word(&bytes[4..])],
            None => self.across_pages.get(&vaddr).copied().unwrap_or_default(),
        };
    }

    /// The block's next instruction; tells the kind of mark whose store it is.
    pub(crate) fn instruction(&mut self, vaddr: u64, bytes: &[u8]) -> Option<MarkKind> {
        let store_of = kind_of(self.before);
        self.before = [self.before[1], word(bytes)];
        let end = vaddr + LEN;
        if end % PAGE < NOP_LEN as u64 && (is_first(self.before[1]) || kind_of(self.before).is_some()) {
            self.across_pages.insert(end, self.before);
        }
        store_of
    }
}

fn is_first(word: u32) -> bool {
    word == moves(MarkKind::Begin)[0]
}

fn kind_of(before: [u32; 2]) -> Option<MarkKind> {
    // The kind is the lowest byte of the number that is moved.
    let kind = MarkKind::from_u8((before[1] >> 5) as u8)?;
    (before == moves(kind)).then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: u32 = 0xf900_0013;

    /// Blocks, each with its address and whether the bytes before it can be read; where marks' stores were seen.
    fn found(memory: &[(u64, u32)], blocks: &[(u64, usize, bool)]) -> Vec<(u64, MarkKind)> {
        let at = |vaddr: u64| memory.iter().find(|(at, _)| *at == vaddr).map_or(0, |(_, word)| *word);
        let (mut marks, mut found) = (Marks::default(), Vec::new());
        for (start, instructions, seen) in blocks {
            let mut before = [0; NOP_LEN];
            before[..4].copy_from_slice(&at(start - 8).to_le_bytes());
            before[4..].copy_from_slice(&at(start - 4).to_le_bytes());
            marks.begin_block(*start, seen.then_some(&before));
            for vaddr in (*start..).step_by(4).take(*instructions) {
                found.extend(
                    marks
                        .instruction(vaddr, &at(vaddr).to_le_bytes())
                        .map(|kind| (vaddr, kind)),
                );
            }
        }
        found
    }

    fn mark(start: u64) -> [(u64, u32); 3] {
        let [first, second] = moves(MarkKind::Sample);
        [(start, first), (start + 4, second), (start + 8, STORE)]
    }

    #[test]
    fn wherever_a_block_begins() {
        let expected = vec![(0x1018, MarkKind::Sample)];
        let memory = mark(0x1010);
        assert_eq!(found(&memory, &[(0x1008, 6, true)]), expected);
        assert_eq!(found(&memory, &[(0x1008, 3, true), (0x1014, 4, true)]), expected);
        assert_eq!(found(&memory, &[(0x1018, 1, true)]), expected);
        assert_eq!(found(&memory, &[(0x101c, 1, true)]), []);
    }

    #[test]
    fn across_a_page_border() {
        for start in [0xff8, 0xffc] {
            let memory = mark(start);
            let expected = vec![(start + 8, MarkKind::Sample)];
            let blocks = |cut: usize| {
                let next = start + 4 * cut as u64;
                [(start, cut, true), (next, 3 - cut, next % PAGE >= NOP_LEN as u64)]
            };
            for cut in [1, 2] {
                assert_eq!(found(&memory, &blocks(cut)), expected, "{start:x} {cut}");
            }
        }
    }

    #[test]
    fn no_mark_of_an_unknown_kind() {
        let mut memory = mark(0x1010);
        memory[1].1 = 0xd280_001f | (0x4d00 + 99) << 5;
        assert_eq!(found(&memory, &[(0x1010, 3, true)]), []);
    }
}
