//! What is to be known of an instruction, by its bits: all have the same length, and none is repeated.

use crate::arch::word;

/// How many words of 16 bits an instruction fetches from a port: there are none.
pub(crate) fn words_from_port(_bytes: &[u8]) -> Option<u64> {
    None
}

/// Whether an instruction writes where one of its registers points, and neither to the stack nor into what the register points to:
/// there lock functions find a task's count of reasons not to preempt.
pub(crate) fn writes_to_pointer(bytes: &[u8]) -> bool {
    let word = word(bytes);
    /// The register that points.
    const STACK: u32 = 31;
    let has_offset = word & 0x3b00_0000 == 0x3900_0000 && word >> 10 & 0xfff != 0;
    stores(word) && !has_offset && word >> 5 & 31 != STACK
}

/// Whether an instruction is a store, an exclusive one, or an atomic change of memory.
pub(crate) fn stores(word: u32) -> bool {
    // Exclusive and ordered (`stxr`, `stlr`): bit 22 is a load. `cas` has bits 23 and 21, and its bit 22 orders it.
    let exclusive = word & 0x3f00_0000 == 0x0800_0000 && (word & 1 << 22 == 0 || word & 0x00a0_0000 == 0x00a0_0000);
    // `ldadd`, `swp` and the like.
    let atomic = word & 0x3f20_0c00 == 0x3820_0000;
    // One register by an offset (bits 22 and 23 are the kind, 0 stores), two registers (bit 22 is a load).
    let one = word & 0x3b00_0000 == 0x3900_0000 || (word & 0x3b00_0000 == 0x3800_0000 && !atomic);
    let single = one && word >> 22 & 3 == 0;
    let pair = word & 0x3a00_0000 == 0x2800_0000 && word & 1 << 22 == 0;
    exclusive || atomic || single || pair
}

/// Whether an instruction stores a zero in the byte that a register points to, as unlocking does: `stlrb wzr` or `strb wzr`.
pub(crate) fn clears_byte(bytes: &[u8]) -> bool {
    let word = word(bytes);
    let stores = word & 0xffff_fc00 == 0x089f_fc00 || word & 0xffc0_0000 == 0x3900_0000;
    stores && word & 31 == 31 && writes_to_pointer(bytes)
}

/// Whether these bytes are only the beginning of an instruction: none crosses a page.
#[cfg_attr(feature = "api-v4", allow(dead_code, reason = "only QEMU 7.2 lists such"))]
pub(crate) fn is_cut_short(_bytes: &[u8]) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_to_locks() {
        for word in [
            0x8805_7c02_u32, // stxr w5, w2, [x0]
            0x88e0_fc01,     // casal w0, w1, [x0]
            0x089f_fc1f,     // stlrb wzr, [x0]
            0xb821_0002,     // ldadd w1, w2, [x0]
            0x78a1_8002,     // swpah w1, w2, [x0]
            0xb900_0013,     // str w19, [x0]
            0xb800_4413,     // str w19, [x0], #4
            0xa900_0400,     // stp x0, x1, [x0]
        ] {
            assert!(writes_to_pointer(&word.to_le_bytes()), "{word:x}");
        }
        for word in [
            0x885f_fc01_u32, // ldaxr w1, [x0]
            0x88df_fc01,     // ldar w1, [x0]
            0xb940_0013,     // ldr w19, [x0]
            0xa940_0400,     // ldp x0, x1, [x0]
            0xf900_07e0,     // str x0, [sp, #8]
            0xa9bf_7bfd,     // stp x29, x30, [sp, #-16]!
            0xb900_0841,     // str w1, [x2, #8]
            0x8b01_0000,     // add x0, x0, x1
        ] {
            assert!(!writes_to_pointer(&word.to_le_bytes()), "{word:x}");
        }
        assert!(clears_byte(&0x089f_fc1f_u32.to_le_bytes()) && clears_byte(&0x3900_001f_u32.to_le_bytes()));
        assert!(!clears_byte(&0x3900_0001_u32.to_le_bytes()), "of a register");
        assert!(!clears_byte(&0xb900_001f_u32.to_le_bytes()), "a word");
    }
}
