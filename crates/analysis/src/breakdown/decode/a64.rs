//! A64, by bits: all instructions have four bytes.

use super::{Decoded, Flag, Leave};

/// The bit of an interrupt that is masked, in an immediate for `daifset` and `daifclr`.
const IRQ: u32 = 2;
/// The same in a register.
const IRQ_IN_REGISTER: u32 = 1 << 7;

/// How far back the value is looked for that goes to the flags: it is made just before.
const BACK: usize = 4;

/// Decodes a block's instructions.
pub(super) fn decode<'a>(codes: impl Iterator<Item = &'a [u8]>, decoded: &mut Decoded) {
    let all: Vec<A64> = codes.map(A64::of).collect();
    for (number, instruction) in all.iter().enumerate() {
        if let Some(flag) = instruction.flag(&all[..number]) {
            decoded.flags.push((number, flag));
        }
        decoded.halts |= instruction.halts();
        decoded.leave = instruction.leave(decoded.starts[number]);
    }
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct A64(u32);

impl A64 {
    /// From its bytes; what is no instruction has no meaning.
    fn of(bytes: &[u8]) -> A64 {
        A64(bytes.try_into().map_or(0, u32::from_le_bytes))
    }

    fn is(self, bits: u32, mask: u32) -> bool {
        self.0 & mask == bits
    }

    /// A target, of so many bits from `shift` on, in instructions.
    fn target(self, address: u64, shift: u32, bits: u32) -> Option<u64> {
        let unused = 32 - bits;
        let offset = ((self.0 >> shift) << unused) as i32 >> unused;
        Some(address.wrapping_add_signed(i64::from(offset) * 4))
    }

    /// How it is left.
    fn leave(self, address: u64) -> Leave {
        let jump = |target, conditional| Leave::Jump { target, conditional };
        let branches = || self.is(0xd61f_0000, 0xfe1f_0000);
        match self.0 >> 21 & 0xf {
            // br, blr, ret, eret; with bit 24 or 11 those that authenticate a pointer.
            0 | 8 if branches() => return jump(None, false),
            1 | 9 if branches() => return Leave::Call,
            2 if branches() => return Leave::Return,
            4 if branches() => return Leave::InterruptReturn,
            _ => {}
        }
        match () {
            () if self.is(0x1400_0000, 0xfc00_0000) => jump(self.target(address, 0, 26), false),
            () if self.is(0x9400_0000, 0xfc00_0000) => Leave::Call,
            // b.cond, cbz and cbnz, tbz and tbnz.
            () if self.is(0x5400_0000, 0xff00_0000) => jump(self.target(address, 5, 19), true),
            () if self.is(0x3400_0000, 0x7e00_0000) => jump(self.target(address, 5, 19), true),
            () if self.is(0x3600_0000, 0x7e00_0000) => jump(self.target(address, 5, 14), true),
            () if self.is(0xd400_0001, 0xffe0_001f) => Leave::Syscall,
            () => Leave::Next,
        }
    }

    /// Whether it waits for an interrupt: `wfi`.
    fn halts(self) -> bool {
        self.0 == 0xd503_207f
    }

    /// What it does to the interrupt flag, after these instructions.
    fn flag(self, before: &[A64]) -> Option<Flag> {
        let immediate = self.0 >> 8 & 0xf;
        if self.is(0xd503_40df, 0xffff_f0ff) && immediate & IRQ != 0 {
            return Some(Flag::Off);
        }
        if self.is(0xd503_40ff, 0xffff_f0ff) && immediate & IRQ != 0 {
            return Some(Flag::On);
        }
        // msr daif, xN
        let register = self.0 & 31;
        self.is(0xd51b_4220, !31).then(|| match value(register, before) {
            Some(value) if value & IRQ_IN_REGISTER != 0 => Flag::Off,
            Some(_) => Flag::On,
            None => Flag::Restored,
        })
    }
}

/// What a register holds, if it was made from a constant just before.
fn value(register: u32, before: &[A64]) -> Option<u32> {
    const ZERO: u32 = 31;
    if register == ZERO {
        return Some(0);
    }
    // movz, of either width
    let made = |it: &&A64| it.is(0x5280_0000 | register, 0x7fe0_001f);
    let made = before.iter().rev().take(BACK).find(made)?;
    Some(made.0 >> 5 & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leave(word: u32) -> Leave {
        A64(word).leave(0x1000)
    }

    #[test]
    fn the_bits_tell_how_an_instruction_is_left() {
        let jump = |target, conditional| Leave::Jump { target, conditional };
        for (word, expected) in [
            (0x9400_0004_u32, Leave::Call),           // bl +16
            (0xd63f_0020, Leave::Call),               // blr x1
            (0xd73f_0822, Leave::Call),               // blraa x1, x2
            (0xd65f_03c0, Leave::Return),             // ret
            (0xd65f_0bff, Leave::Return),             // retaa
            (0xd69f_03e0, Leave::InterruptReturn),    // eret
            (0xd400_0001, Leave::Syscall),            // svc #0
            (0x17ff_ffff, jump(Some(0x0ffc), false)), // b -4
            (0x5400_0041, jump(Some(0x1008), true)),  // b.ne +8
            (0xb5ff_ffe0, jump(Some(0x0ffc), true)),  // cbnz x0, -4
            (0x3707_ffe1, jump(Some(0x0ffc), true)),  // tbnz w1, #0, -4
            (0xd61f_0220, jump(None, false)),         // br x17
            (0xd503_201f, Leave::Next),               // nop
            (0xd400_0002, Leave::Next),               // hvc #0
        ] {
            assert_eq!(leave(word), expected, "{word:x}");
        }
    }

    #[test]
    fn interrupts_go_off_and_on() {
        let flag = |words: &[u32]| {
            let all: Vec<A64> = words.iter().copied().map(A64).collect();
            let (last, before) = all.split_last().unwrap();
            last.flag(before)
        };
        assert_eq!(flag(&[0xd503_43df]), Some(Flag::Off)); // msr daifset, #3
        assert_eq!(flag(&[0xd503_43ff]), Some(Flag::On)); // msr daifclr, #3
        assert_eq!(flag(&[0xd503_44ff]), None); // msr daifclr, #4
        assert_eq!(flag(&[0xd51b_4220]), Some(Flag::Restored)); // msr daif, x0
        assert_eq!(flag(&[0xd51b_423f]), Some(Flag::On)); // msr daif, xzr
        assert_eq!(flag(&[0xd280_1800, 0xd51b_4220]), Some(Flag::Off)); // mov x0, #0xc0; msr daif, x0
        assert_eq!(flag(&[0xd280_1801, 0xd51b_4220]), Some(Flag::Restored)); // mov x1, #0xc0; msr daif, x0
        assert!(A64(0xd503_207f).halts() && !A64(0xd503_205f).halts());
    }
}
