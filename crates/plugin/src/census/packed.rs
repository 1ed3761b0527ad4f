//! An instruction as callbacks are told of it.

use crate::api;
use crate::count::Placement;

/// An instruction as one number: its address, what is pending when it starts, and whether it counts itself early.
#[derive(Clone, Copy)]
pub(crate) struct PackedInstruction(pub u64);

impl PackedInstruction {
    const PENDING_BITS: u32 = 10;

    /// Of this address.
    pub(crate) fn new(vaddr: u64, placement: &Placement) -> PackedInstruction {
        let early = u64::from(placement.counts_itself_early());
        // Canonical addresses: the sixteenth bit from the top is copied into those above.
        PackedInstruction(vaddr << (Self::PENDING_BITS + 1) | u64::from(placement.pending) << 1 | early)
    }

    /// Its address.
    pub(crate) fn address(self) -> u64 {
        (self.0 as i64 >> (Self::PENDING_BITS + 1)) as u64
    }

    /// Instructions completed when it starts, seen from a callback at its start.
    pub(crate) fn start(self) -> u64 {
        api::count() + (self.0 >> 1 & ((1 << Self::PENDING_BITS) - 1))
    }

    /// Instructions completed when it is complete, seen from a callback of its access to memory.
    pub(crate) fn end_from_access(self) -> u64 {
        api::count() - (self.0 & 1) + 1
    }
}
