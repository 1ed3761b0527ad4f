//! The count at an instruction of a block. QEMU charges a block when it starts, whole, and gives back what was not executed
//! when the block is left before its end ([`crate::scheduler`] reads its number): while a block runs, what is still to come of
//! it is to be taken off.

/// An instruction's place in its block, seen from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Instructions of the block that are not complete when this one starts: itself, and what follows.
    to_come: u16,
    /// The block is of code that takes no time after code that takes none.
    shared: bool,
}

impl Place {
    /// So many bits hold a place: a block has at most 512 instructions.
    pub(crate) const BITS: u32 = 11;

    /// Of all instructions of a block, in order.
    pub(crate) fn of_block(instructions: usize, shared: bool) -> impl Iterator<Item = Place> + Clone {
        (1..=instructions as u16)
            .rev()
            .map(move |to_come| Place { to_come, shared })
    }

    /// As a number.
    pub(crate) fn bits(self) -> u64 {
        u64::from(self.to_come) << 1 | u64::from(self.shared)
    }

    /// Of a number that has a place in its lowest bits.
    pub(crate) fn of_bits(bits: u64) -> Place {
        Place {
            to_come: (bits & ((1 << Place::BITS) - 1)) as u16 >> 1,
            shared: bits & 1 != 0,
        }
    }

    /// What is complete when this instruction starts, of a count with which its block is charged. In a block that takes no
    /// time no count goes on.
    pub(crate) fn start(self, charged: u64, takes_no_time: bool) -> u64 {
        match self.shared && takes_no_time {
            true => charged,
            false => charged.saturating_sub(self.to_come.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest block that QEMU makes.
    const LONGEST: usize = 512;

    #[test]
    fn a_block_is_charged_when_it_starts() {
        let starts: Vec<u64> = Place::of_block(3, false).map(|place| place.start(103, true)).collect();
        assert_eq!(starts, [100, 101, 102]);
    }

    #[test]
    fn shared_code_is_charged_unless_it_takes_no_time() {
        let starts = |free| Place::of_block(2, true).map(move |place| place.start(102, free));
        assert_eq!(starts(false).collect::<Vec<_>>(), [100, 101]);
        assert_eq!(starts(true).collect::<Vec<_>>(), [102, 102]);
    }

    #[test]
    fn a_place_is_a_number_among_others() {
        for shared in [false, true] {
            for place in Place::of_block(LONGEST, shared) {
                assert!(place.bits() < 1 << Place::BITS);
                assert_eq!(Place::of_bits(7 << Place::BITS | place.bits()), place);
            }
        }
    }
}
