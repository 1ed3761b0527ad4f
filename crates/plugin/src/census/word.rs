//! How the kernel's count of reasons not to preempt is laid out.

/// Soft interrupts are being handled.
const SOFT: u64 = 0x100;

/// The count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Until 7.2.
    Bits32(u32),
    /// From 7.3 on.
    Bits64(u64),
}

impl Word {
    /// The count; the word's highest bit says only that nobody asked to reschedule.
    fn count(self) -> u64 {
        match self {
            Word::Bits32(word) => u64::from(word & (u32::MAX >> 1)),
            Word::Bits64(word) => word & (u64::MAX >> 1),
        }
    }

    /// Whether the kernel may be preempted.
    pub(crate) fn is_preemptible(self) -> bool {
        self.count() == 0
    }

    /// Whether a hard interrupt is being handled.
    pub(crate) fn in_hard_interrupt(self) -> bool {
        let mask = match self {
            Word::Bits32(_) => 0x00ff_0000,
            Word::Bits64(_) => 0xff00_0000,
        };
        self.count() & mask != 0
    }

    /// Whether soft interrupts are being handled.
    pub(crate) fn in_soft_interrupt(self) -> bool {
        self.count() & SOFT != 0
    }

    /// Whether a hard or soft interrupt is being handled.
    pub(crate) fn in_interrupt(self) -> bool {
        self.in_hard_interrupt() || self.in_soft_interrupt()
    }

    /// Reasons other than that soft interrupts are being handled.
    pub(crate) fn beside_soft_interrupt(self) -> u64 {
        self.count() & !SOFT
    }

    /// Whether the count is this.
    pub(crate) fn is(self, count: u64) -> bool {
        self.count() == count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_of_the_count_are_read() {
        assert!(Word::Bits32(0x8000_0000).is_preemptible() && Word::Bits64(1 << 63).is_preemptible());
        assert!(!Word::Bits32(0x8000_0001).is_preemptible() && !Word::Bits64(1).is_preemptible());
        assert!(Word::Bits32(1 << 16).in_hard_interrupt() && !Word::Bits64(1 << 16).in_interrupt());
        assert!(Word::Bits64(1 << 24).in_hard_interrupt());
        assert!(Word::Bits32(0x8000_0201).is(0x201) && !Word::Bits32(0x8000_0201).is(1));
    }

    #[test]
    fn soft_interrupts_off_are_not_soft_interrupts_handled() {
        assert!(Word::Bits32(0x101).in_soft_interrupt() && !Word::Bits32(0x201).in_interrupt());
        assert_eq!(Word::Bits64(1 << 63 | 0x101).beside_soft_interrupt(), 1);
    }
}
