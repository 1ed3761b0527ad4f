//! What is so on arm64.

use crate::paging::EntryTarget;
use std::ffi::{CStr, c_int};

/// The architecture, in QEMU's words.
#[cfg(not(test))]
macro_rules! target {
    () => {
        "aarch64"
    };
}
#[cfg(not(test))]
pub(crate) use target;

/// Addresses below this are the user's.
pub(crate) const USER_END: u64 = 1 << 52;

/// Where memory begins on the board `virt`.
const MEMORY: u64 = 0x4000_0000;
/// Of an entry of a page table: it leads somewhere.
const VALID: u64 = 1;
/// Of an entry: it leads to the next table, or from the last table to a page, not to a large page.
const TABLE: u64 = 1 << 1;
/// Of an entry: the physical address.
const ADDRESS: u64 = 0x0000_ffff_ffff_f000;

/// Where an entry of a page table leads; the pages themselves are of level 0.
pub(crate) fn leads_to(entry: u64, level: u32) -> Option<EntryTarget> {
    let address = (entry & ADDRESS).checked_sub(MEMORY)?;
    match (entry & VALID != 0, entry & TABLE != 0) {
        (true, true) if level > 0 => Some(EntryTarget::Table(address)),
        (true, is_page) if is_page == (level == 0) => Some(EntryTarget::Memory(address)),
        _ => None,
    }
}

/// The longest instruction, and the shortest.
pub(crate) const MAX_LEN: usize = 4;

/// Whether a timer that is so far away, as QEMU has it, is one: 7.2 sets one that is over to the latest instant there is.
pub(crate) fn is_due(ns: i64) -> bool {
    (0..=1 << 61).contains(&ns)
}

/// For what QEMU leaves a CPU's execution at a PAUSE: `EXCP_YIELD`.
pub(crate) const LEFT_AT_PAUSE: i32 = 0x1_0004;

/// QEMU's function for one of the registers of gdb.
pub(crate) const READS_REGISTER: &CStr = c"aarch64_cpu_gdb_read_register";

/// The number of the flags among them, which hold the mode: behind 31 registers, the stack pointer and the place of the code.
pub(crate) const FLAGS: c_int = 33;

/// Whether the CPU takes interrupts with these flags: I is clear.
pub(crate) fn allow_interrupts(flags: u64) -> bool {
    flags & 1 << 7 == 0
}

/// Whether these flags are of the kernel's code: of another exception level than 0.
pub(crate) fn are_of_kernel(flags: u64) -> bool {
    flags & 3 << 2 != 0
}

/// What the CPU was in before it entered at an address in a table of vectors, which begins at a multiple of its length: whether the
/// kernel, and whether it took interrupts, where the entry tells.
pub(crate) fn before_entry(at: u64) -> (bool, Option<bool>) {
    const INTERRUPT: [u64; 2] = [1, 2];
    let slot = at >> 7 & 15;
    match slot >= 8 {
        true => (false, Some(true)),
        false => (true, INTERRUPT.contains(&(slot % 4)).then_some(true)),
    }
}

/// Whether the kernel halts a CPU that takes no interrupts.
pub(crate) const HALTS_WITHOUT_INTERRUPTS: bool = true;

/// Where in the vectors an interrupt of the kernel's own code begins, and one of user code.
const INTERRUPTS: [u64; 2] = [0x280, 0x480];

/// Whether an interrupt begins here.
pub(crate) fn is_interrupt(vectors: u64, at: u64) -> bool {
    INTERRUPTS.contains(&at.wrapping_sub(vectors))
}

/// An instruction as a word; none has another length.
pub(crate) fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

/// Whether an instruction reads the clock: `mrs xN, cntvct_el0`.
pub(crate) fn reads_clock(bytes: &[u8]) -> bool {
    word(bytes) & !0x1f == 0xd53b_e040
}

/// Whether an instruction is what PAUSE is on x86: `yield` or `wfe`.
pub(crate) fn pauses(bytes: &[u8]) -> bool {
    matches!(word(bytes), 0xd503_203f | 0xd503_205f)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The entry of a page table that leads there.
    pub(crate) fn entry(target: EntryTarget, level: u32) -> u64 {
        const ACCESSED: u64 = 1 << 10;
        match target {
            EntryTarget::Table(at) => (at + MEMORY) | VALID | TABLE,
            EntryTarget::Memory(at) if level == 0 => (at + MEMORY) | VALID | TABLE | ACCESSED | 1 << 54,
            EntryTarget::Memory(at) => (at + MEMORY) | VALID | ACCESSED | 1 << 54,
        }
    }

    #[test]
    fn what_leads_out_of_memory_leads_nowhere() {
        assert!(leads_to(0x4000_0000 | VALID | TABLE, 1).is_some());
        assert!(leads_to(0x3fff_f000 | VALID | TABLE, 1).is_none(), "a device");
        assert!(leads_to(0x4000_0000 | VALID, 0).is_none(), "no page: reserved");
        assert!(leads_to(0x4000_0000 | TABLE, 0).is_none());
    }

    #[test]
    fn instructions_are_known_by_their_bits() {
        assert!(reads_clock(&0xd53b_e055_u32.to_le_bytes())); // mrs x21, cntvct_el0
        assert!(!reads_clock(&0xd53b_e001_u32.to_le_bytes())); // mrs x1, cntfrq_el0
        assert!(pauses(&[0x3f, 0x20, 0x03, 0xd5]) && pauses(&[0x5f, 0x20, 0x03, 0xd5]));
        assert!(!pauses(&[0x7f, 0x20, 0x03, 0xd5])); // wfi
    }

    #[test]
    fn flags_tell_the_mode_and_vectors_what_was_before() {
        assert!(
            allow_interrupts(0x6000_0000) && !are_of_kernel(0x6000_0000),
            "user code"
        );
        assert!(allow_interrupts(0x6000_0305) && !allow_interrupts(0x6000_03c5), "DAIF");
        assert!(are_of_kernel(0x0040_03c5));
        let before = |slot: u64| before_entry(0xffff_8000_8001_0800 + 0x80 * slot);
        assert_eq!([4, 5].map(before), [(true, None), (true, Some(true))]);
        assert_eq!([8, 9, 12].map(before), [(false, Some(true)); 3]);
    }

    #[test]
    fn two_of_the_vectors_are_of_interrupts() {
        let begins: Vec<u64> = (0..16).map(|n| n * 0x80).filter(|at| is_interrupt(0, *at)).collect();
        assert_eq!(begins, INTERRUPTS);
    }
}
