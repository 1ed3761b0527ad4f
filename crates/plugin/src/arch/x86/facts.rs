//! What is so on x86-64.

use crate::paging::EntryTarget;
use std::ffi::{CStr, c_int};

/// The architecture, in QEMU's words.
#[cfg(not(test))]
macro_rules! target {
    () => {
        "x86_64"
    };
}
#[cfg(not(test))]
pub(crate) use target;

/// Addresses below this are the user's.
pub(crate) const USER_END: u64 = 1 << 47;

/// Of an entry of a page table: it leads somewhere.
const PRESENT: u64 = 1;
/// Of an entry: it leads to a large page, not to the next table.
const LARGE: u64 = 1 << 7;
/// Of an entry: the physical address.
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

/// Where an entry of a page table leads; the pages themselves are of level 0.
pub(crate) fn leads_to(entry: u64, level: u32) -> Option<EntryTarget> {
    let address = entry & ADDRESS;
    match entry & PRESENT != 0 {
        true if level == 0 || entry & LARGE != 0 => Some(EntryTarget::Memory(address)),
        true => Some(EntryTarget::Table(address)),
        false => None,
    }
}

/// QEMU's function for one of the registers of gdb.
pub(crate) const READS_REGISTER: &CStr = c"x86_cpu_gdb_read_register";

/// The number of the flags among them: behind sixteen registers and the instruction pointer.
pub(crate) const FLAGS: c_int = 17;

/// Whether the CPU takes interrupts with these flags.
pub(crate) fn allow_interrupts(flags: u64) -> bool {
    flags & 1 << 9 != 0
}

/// Whether the kernel halts a CPU that takes no interrupts.
pub(crate) const HALTS_WITHOUT_INTERRUPTS: bool = false;

/// The longest instruction.
pub(crate) const MAX_LEN: usize = 15;

/// Whether a timer that is so far away, as QEMU has it, is one.
#[inline(always)]
pub(crate) fn is_due(ns: i64) -> bool {
    ns >= 0
}

/// For what QEMU leaves a CPU's execution at a PAUSE: `EXCP_INTERRUPT`.
pub(crate) const LEFT_AT_PAUSE: i32 = 0x1_0000;

/// `rdtsc` and `rdtscp`.
const CLOCK_READS: [&[u8]; 2] = [&[0x0f, 0x31], &[0x0f, 0x01, 0xf9]];

/// Whether an instruction reads the clock.
#[inline(always)]
pub(crate) fn reads_clock(bytes: &[u8]) -> bool {
    CLOCK_READS.contains(&bytes)
}

const PAUSE: &[u8] = &[0xf3, 0x90];

/// Whether an instruction is PAUSE.
#[inline(always)]
pub(crate) fn pauses(bytes: &[u8]) -> bool {
    bytes == PAUSE
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The entry of a page table that leads there.
    pub(crate) fn entry(target: EntryTarget, level: u32) -> u64 {
        match target {
            EntryTarget::Table(at) => at | PRESENT,
            EntryTarget::Memory(at) if level == 0 => at | PRESENT | 1 << 63,
            EntryTarget::Memory(at) => at | PRESENT | LARGE,
        }
    }
}
