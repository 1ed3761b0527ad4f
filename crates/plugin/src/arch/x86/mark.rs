//! Recognising the guest's marks: the no-op that carries the kind, and the store behind it.
//!
//! The two need not stand in one block: after a fault of the store, or an interrupt between them, the store
//! begins a block of its own. Then the seven bytes before it tell, read from the page that it lies on; only if
//! the no-op reaches back into another page, its address is remembered instead.

use std::collections::HashMap;
use worstcase_logs::mark::{MAGIC, MarkKind, nop_bytes};

/// Length of a mark's no-op.
pub(crate) const NOP_LEN: usize = 7;

const PAGE: u64 = 4096;

/// Finds marks in the stream of translated instructions.
#[derive(Default)]
pub(crate) struct Marks {
    /// Kind of the no-op that ended just before the next instruction of this block.
    armed: Option<MarkKind>,
    /// No-ops that end so near the beginning of a page that they cannot be found from it: their end's address.
    across_pages: HashMap<u64, MarkKind>,
}

impl Marks {
    /// A new block begins at `vaddr`; `bytes_before` are the seven bytes before it, if they are on its page.
    pub(crate) fn begin_block(&mut self, vaddr: u64, bytes_before: Option<&[u8; NOP_LEN]>) {
        self.armed = match bytes_before {
            Some(bytes) => kind_of(bytes),
            None => self.across_pages.get(&vaddr).copied(),
        };
    }

    /// The block's next instruction; tells the kind of mark whose store it is.
    pub(crate) fn instruction(&mut self, vaddr: u64, bytes: &[u8]) -> Option<MarkKind> {
        let store_of = self.armed.take();
        if let Ok(nop) = <&[u8; NOP_LEN]>::try_from(bytes) {
            self.armed = kind_of(nop);
        }
        let end = vaddr + bytes.len() as u64;
        if let Some(kind) = self.armed
            && end % PAGE < NOP_LEN as u64
        {
            self.across_pages.insert(end, kind);
        }
        store_of
    }
}

fn kind_of(bytes: &[u8; NOP_LEN]) -> Option<MarkKind> {
    let kind = MarkKind::from_u8(bytes[3])?;
    debug_assert_eq!(MAGIC & 0xff, 0, "the kind is the magic number's low byte");
    (*bytes == nop_bytes(kind)).then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: [u8; NOP_LEN] = nop_bytes(MarkKind::Sample);
    const STORE: [u8; 3] = [0x48, 0x89, 0x03];

    #[test]
    fn in_one_block() {
        let mut marks = Marks::default();
        marks.begin_block(0x1000, None);
        assert_eq!(marks.instruction(0x1000, &STORE), None);
        assert_eq!(marks.instruction(0x1003, &NOP), None);
        assert_eq!(marks.instruction(0x100a, &STORE), Some(MarkKind::Sample));
        assert_eq!(marks.instruction(0x100d, &STORE), None);
    }

    #[test]
    fn the_store_begins_a_block() {
        let mut marks = Marks::default();
        marks.begin_block(0x100a, Some(&NOP));
        assert_eq!(marks.instruction(0x100a, &STORE), Some(MarkKind::Sample));
        marks.begin_block(0x100a, Some(&[0x90; NOP_LEN]));
        assert_eq!(marks.instruction(0x100a, &STORE), None);
    }

    #[test]
    fn across_a_page_border() {
        let mut marks = Marks::default();
        marks.begin_block(0xffc, Some(&[0x90; NOP_LEN]));
        assert_eq!(marks.instruction(0xffc, &NOP), None);
        marks.begin_block(0x1003, None);
        assert_eq!(marks.instruction(0x1003, &STORE), Some(MarkKind::Sample));
        marks.begin_block(0x2003, None);
        assert_eq!(marks.instruction(0x2003, &STORE), None);
    }

    #[test]
    fn no_mark_of_an_unknown_kind() {
        let mut bytes = NOP;
        bytes[3] = 99;
        let mut marks = Marks::default();
        marks.begin_block(0, None);
        marks.instruction(0, &bytes);
        assert_eq!(marks.instruction(7, &STORE), None);
    }
}
