//! An instruction as callbacks are told of it.

use crate::count::Place;
use crate::untimed::count_at;

/// An instruction as one number: its address, and its place in its block.
#[derive(Clone, Copy)]
pub(crate) struct PackedInstruction(pub u64);

impl PackedInstruction {
    /// Of this address.
    pub(crate) fn new(vaddr: u64, place: Place) -> PackedInstruction {
        // Canonical addresses: the sixteenth bit from the top is copied into those above.
        PackedInstruction(vaddr << Place::BITS | place.bits())
    }

    /// Its address.
    pub(crate) fn address(self) -> u64 {
        (self.0 as i64 >> Place::BITS) as u64
    }

    /// Instructions completed when it starts.
    pub(crate) fn start(self) -> u64 {
        count_at(Place::of_bits(self.0))
    }

    /// Instructions completed when it is complete.
    pub(crate) fn end(self) -> u64 {
        self.start() + 1
    }
}
