//! What is so on x86-64.

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
