//! What an instruction means for the census, by its bits.

use super::meaning::Meaning;
use crate::arch;
use crate::decode::stores;
use worstcase_logs::census::facts::Facts;

/// Instructions between reading a word and testing it.
const REACH: usize = 6;

/// In an immediate for `daifset` and `daifclr`: interrupts.
const INTERRUPTS: u32 = 2;

/// The number that is the stack pointer or zero.
const NO_POINTER: u32 = 31;

/// One of a block's instructions.
pub(crate) fn decode(bytes: &[u8], _address: u64) -> A64 {
    A64(arch::word(bytes))
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct A64(u32);

/// What the first of these instructions means; the others follow it in its block.
pub(crate) fn meaning(instructions: &[A64], facts: &Facts) -> Option<Meaning> {
    let (first, rest) = instructions.split_first()?;
    let immediate = first.0 >> 8 & 0xf;
    match () {
        () if first.is(0xd503_40df, 0xffff_f0ff) && immediate & INTERRUPTS != 0 => Some(Meaning::InterruptsOff),
        () if first.is(0xd503_40ff, 0xffff_f0ff) && immediate & INTERRUPTS != 0 => Some(Meaning::InterruptsOn),
        // msr daif, xN; eret, and those that authenticate a pointer.
        () if first.is(0xd51b_4220, !31) || first.is(0xd69f_03e0, 0xffff_fbff) || first.0 == 0xd69f_0bff => {
            Some(Meaning::SetsState)
        }
        // wfi, and with a timeout
        () if first.0 == 0xd503_207f || first.is(0xd503_1020, !31) => Some(Meaning::Halts),
        // msr sp_el0, xN
        () if first.is(0xd518_4100, !31) => Some(Meaning::MovesCurrent),
        () if first.stores_word_at(facts.preempt_offset) => {
            Some(Meaning::MayWriteCount(if facts.count_is_long { 8 } else { 4 }))
        }
        () if first.loads(facts.preempt_offset) => first.compared(rest).map(Meaning::MayCompareCount),
        () if first.loads(0) && first.is_polled(rest, facts) => Some(Meaning::ReadsFlags),
        () => None,
    }
}

impl A64 {
    fn is(self, bits: u32, mask: u32) -> bool {
        self.0 & mask == bits
    }

    /// The register that is loaded, stored or made, and often the one that is tested.
    fn target(self) -> u32 {
        self.0 & 31
    }

    fn source(self) -> u32 {
        self.0 >> 5 & 31
    }

    fn offset(self, bytes: u64) -> u64 {
        u64::from(self.0 >> 10 & 0xfff) * bytes
    }

    /// `str wN, [xM, #offset]`
    fn stores_word_at(self, offset: u64) -> bool {
        self.is(0xb900_0000, 0xffc0_0000) && self.source() != NO_POINTER && self.offset(4) == offset
    }

    /// `ldr xN, [xM, #offset]`
    fn loads(self, offset: u64) -> bool {
        self.is(0xf940_0000, 0xffc0_0000) && self.source() != NO_POINTER && self.offset(8) == offset
    }

    /// What one of the next instructions tells of the register that this one loads, which they leave as it is until then.
    fn told<T>(self, rest: &[A64], tells: impl Fn(A64) -> Option<T>) -> Option<T> {
        let mut next = rest.iter().copied().take(REACH);
        next.find_map(|it| match tells(it) {
            Some(told) => Some(Some(told)),
            None => (it.target() == self.target() && !stores(it.0)).then_some(None),
        })?
    }

    /// The value with which the whole word is compared.
    fn compared(self, rest: &[A64]) -> Option<u16> {
        self.told(rest, |it| match () {
            // cbz and cbnz; cmp; ccmp
            () if it.is(0xb400_0000, 0xfe00_0000) => (it.target() == self.target()).then_some(0),
            () if it.source() != self.target() => None,
            () if it.is(0xf100_001f, 0xffc0_001f) => Some((it.0 >> 10 & 0xfff) as u16),
            () if it.is(0xfa40_0800, 0xffe0_0c10) => Some((it.0 >> 16 & 31) as u16),
            () => None,
        })
    }

    /// Whether the bit that asks for rescheduling is looked at.
    fn is_polled(self, rest: &[A64], facts: &Facts) -> bool {
        let asks = facts.resched_mask & facts.resched_mask.wrapping_neg();
        let bit = asks.trailing_zeros();
        let told = self.told(rest, |it| match () {
            // tbz and tbnz
            () if it.is(0x3600_0000, 0x7e00_0000) && it.target() == self.target() => {
                Some(it.0 >> 26 & 0x20 | it.0 >> 19 & 31).map(|tested| tested == bit)
            }
            () if it.source() != self.target() => None,
            // and, ands (tst)
            () if it.is(0x1200_0000, 0x7f80_0000) || it.is(0x7200_0000, 0x7f80_0000) => Some(it.mask() & asks != 0),
            // ubfx, lsr
            () if it.is(0x5300_0000, 0x7f80_0000) => Some(it.0 >> 16 & 0x3f).map(|from| from == bit),
            () => None,
        });
        asks != 0 && told == Some(true)
    }

    /// The mask of an instruction of logic: so many ones, turned, again and again.
    fn mask(self) -> u64 {
        let (ones, turned) = (self.0 >> 10 & 0x3f, self.0 >> 16 & 0x3f);
        let Some(length) = ((self.0 >> 22 & 1) << 6 | (!ones & 0x3f)).checked_ilog2() else {
            return 0;
        };
        let length = 1 << length;
        let (ones, turned) = (ones & (length - 1), turned & (length - 1));
        let run = u64::MAX >> (63 - ones);
        let once = match turned {
            0 => run,
            _ => (run >> turned | run << (length - turned)) & u64::MAX >> (64 - length),
        };
        (0..64 / length).fold(0, |mask, part| mask | once << (part * length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[u32]) -> Option<Meaning> {
        let facts = Facts {
            preempt_offset: 8,
            resched_mask: 6,
            count_is_long: true,
            ..Facts::default()
        };
        let all: Vec<A64> = words.iter().map(|word| decode(&word.to_le_bytes(), 0)).collect();
        meaning(&all, &facts)
    }

    #[test]
    fn what_changes_flags_and_mode() {
        assert_eq!(of(&[0xd503_43df]), Some(Meaning::InterruptsOff)); // msr daifset, #3
        assert_eq!(of(&[0xd503_4fdf]), Some(Meaning::InterruptsOff)); // msr daifset, #0xf
        assert_eq!(of(&[0xd503_48df]), None); // msr daifset, #8
        assert_eq!(of(&[0xd503_43ff]), Some(Meaning::InterruptsOn)); // msr daifclr, #3
        assert_eq!(of(&[0xd503_44ff]), None); // msr daifclr, #4
        assert_eq!(of(&[0xd51b_422b]), Some(Meaning::SetsState)); // msr daif, x11
        assert_eq!(of(&[0xd53b_422b]), None); // mrs x11, daif
        assert_eq!(of(&[0xd69f_03e0]), Some(Meaning::SetsState)); // eret
        assert_eq!(of(&[0xd69f_0bff]), Some(Meaning::SetsState)); // eretaa
        assert_eq!(of(&[0xd65f_03c0]), None); // ret
        assert_eq!(of(&[0xd503_207f]), Some(Meaning::Halts)); // wfi
        assert_eq!(of(&[0xd503_205f]), None); // wfe
        assert_eq!(of(&[0xd518_4101]), Some(Meaning::MovesCurrent)); // msr sp_el0, x1
        assert_eq!(of(&[0xd538_4101]), None); // mrs x1, sp_el0
    }

    #[test]
    fn the_kernels_count() {
        assert_eq!(of(&[0xb900_0840]), Some(Meaning::MayWriteCount(8))); // str w0, [x2, #8]
        assert_eq!(of(&[0xb900_0c40]), None); // str w0, [x2, #12]
        assert_eq!(of(&[0xb900_0be0]), None); // str w0, [sp, #8]
        assert_eq!(of(&[0xb940_0840]), None); // ldr w0, [x2, #8]
        let load = 0xf940_0660; // ldr x0, [x19, #8]
        assert_eq!(of(&[load, 0xb500_0060]), Some(Meaning::MayCompareCount(0))); // cbnz x0
        assert_eq!(of(&[load, 0xb500_0061]), None); // cbnz x1
        assert_eq!(of(&[load, 0x3500_0060]), None); // cbnz w0
        assert_eq!(of(&[load, 0xf100_041f]), Some(Meaning::MayCompareCount(1))); // cmp x0, #1
        let in_lock = [0xf940_0421, 0xb940_0002, 0x7103_fc5f, 0xfa41_9824]; // ldr x1; ldr w2; cmp w2, #0xff; ccmp x1, #1
        assert_eq!(of(&in_lock), Some(Meaning::MayCompareCount(1)));
        // sub x0, x0, #1; str w0, [x1, #8]; cbz x0: the count goes down first.
        assert_eq!(of(&[load, 0xd100_0400, 0xb900_0820, 0xb400_0060]), None);
    }

    #[test]
    fn polls_of_the_flags() {
        let load = 0xf940_0000; // ldr x0, [x0]
        assert_eq!(of(&[load, 0x370f_fac0]), Some(Meaning::ReadsFlags)); // tbnz w0, #1
        assert_eq!(of(&[load, 0x3617_fac0]), None); // tbz w0, #2: those who can wait ask by it
        assert_eq!(of(&[load, 0x370f_fac1]), None); // tbnz w1, #1
        assert_eq!(of(&[load, 0xd503_201f, 0x370f_fac0]), Some(Meaning::ReadsFlags)); // nop between
        assert_eq!(of(&[load, 0xf940_0040, 0x370f_fac0]), None); // ldr x0, [x2] between
        assert_eq!(of(&[load, 0xf900_0040, 0x370f_fac0]), Some(Meaning::ReadsFlags)); // str x0, [x2] between
        assert_eq!(of(&[load, 0xf240_081f]), Some(Meaning::ReadsFlags)); // tst x0, #7
        assert_eq!(of(&[load, 0xf27d_001f]), None); // tst x0, #8
        assert_eq!(of(&[load, 0xd341_0400]), Some(Meaning::ReadsFlags)); // ubfx x0, x0, #1, #1
        assert_eq!(of(&[0xf940_03e0, 0x370f_fac0]), None, "the stack");
        assert_eq!(of(&[load]), None);
    }

    #[test]
    fn masks_are_ones_that_repeat() {
        let mask = |word: u32| A64(word).mask();
        assert_eq!(mask(0xf240_081f), 7); // tst x0, #7
        assert_eq!(mask(0x721f_041f), 0x6_0000_0006); // tst w0, #6
        assert_eq!(mask(0xf200_f01f), 0x5555_5555_5555_5555); // tst x0, #0x5555555555555555
        assert_eq!(mask(0xf241_041f), 0x8000_0000_0000_0001); // tst x0, #0x8000000000000001
    }
}
