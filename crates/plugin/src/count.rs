//! Where the instruction counter is advanced, so that it agrees with virtual time to the instruction.
//!
//! Adding a block's length when it starts is cheap and wrong: a block that is left by a fault in its middle
//! is counted whole, and its rest again when it is resumed. So the counter is advanced at each instruction that
//! can leave the block ([`Class::MayLeave`]), by what has been completed since the last advance, and at the
//! block's last instruction. Additions can only be placed *before* an instruction or after a memory access,
//! so the last instruction itself is counted after its access if it has exactly one that decides its
//! success, and before it starts otherwise.
//!
//! QEMU executes an access to a device in the middle of a block again, in a block of its own, in which it
//! leaves out everything but the additions after accesses: they count that instruction, once.

use crate::decode::{Access, Class};

/// What is to be done at one instruction of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Instructions of this block completed when this one starts, but not yet in the counter then.
    pub(crate) pending: u16,
    /// To add when this instruction starts (0: nothing).
    pub(crate) before: u16,
    /// After this access, add one: the instruction itself.
    pub(crate) after: Option<Access>,
}

impl Placement {
    /// Whether the instruction counts itself before it starts.
    pub(crate) fn counts_itself_early(&self) -> bool {
        self.before > self.pending
    }
}

/// Decides for the instructions of one block.
pub(crate) fn place(classes: &[Class]) -> Vec<Placement> {
    let mut pending = 0;
    let mut placements = Vec::with_capacity(classes.len());
    for (i, class) in classes.iter().enumerate() {
        let last = i + 1 == classes.len();
        let (before, after) = match *class {
            Class::MayLeave {
                completes: Some(access),
            } if last => (pending, Some(access)),
            _ if last => (pending + 1, None),
            Class::MayLeave { .. } => (pending, None),
            Class::Stays => (0, None),
        };
        placements.push(Placement { pending, before, after });
        pending = pending + 1 - before.min(pending + 1);
    }
    placements
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAYS: Class = Class::Stays;
    const LOAD: Class = Class::MayLeave {
        completes: Some(Access::Only),
    };
    const OPAQUE: Class = Class::MayLeave { completes: None };

    fn adds(classes: &[Class]) -> Vec<(u16, Option<Access>)> {
        place(classes).iter().map(|p| (p.before, p.after)).collect()
    }

    #[test]
    fn a_block_without_accesses_is_one_addition() {
        assert_eq!(adds(&[STAYS, STAYS, STAYS]), [(0, None), (0, None), (3, None)]);
    }

    #[test]
    fn what_may_leave_is_preceded_by_what_was_completed() {
        assert_eq!(
            adds(&[STAYS, LOAD, LOAD, STAYS, STAYS, OPAQUE]),
            [(0, None), (1, None), (1, None), (0, None), (0, None), (4, None)]
        );
        assert_eq!(adds(&[LOAD, STAYS]), [(0, None), (2, None)]);
    }

    #[test]
    fn a_last_access_is_counted_once_it_succeeded() {
        assert_eq!(adds(&[STAYS, LOAD]), [(0, None), (1, Some(Access::Only))]);
        assert_eq!(adds(&[LOAD]), [(0, Some(Access::Only))]);
        assert_eq!(adds(&[OPAQUE]), [(1, None)]);
    }

    /// Every mixture of classes up to six instructions: left before instruction `i`, or run to the end, the
    /// counter plus the pending part is the number of completed instructions.
    #[test]
    fn the_counter_is_right_wherever_the_block_is_left() {
        let kinds = [STAYS, LOAD, OPAQUE];
        for len in 1..=6u32 {
            for code in 0..3usize.pow(len) {
                let block: Vec<_> = (0..len).map(|i| kinds[code / 3usize.pow(i) % 3]).collect();
                let mut counter = 0;
                for (i, (p, class)) in place(&block).iter().zip(&block).enumerate() {
                    assert_eq!(counter + p.pending as usize, i, "seen from a callback");
                    counter += p.before as usize;
                    if *class != STAYS && !p.counts_itself_early() {
                        assert_eq!(counter, i, "left by a fault");
                    }
                    counter += usize::from(p.after.is_some());
                }
                assert_eq!(counter, block.len(), "run to the end");
            }
        }
    }
}
