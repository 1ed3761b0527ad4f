//! Marks: an instruction pair that does nothing but store, and that the lab's QEMU plugin recognises.
//!
//! A mark is `nopl MAGIC|kind(%rax)` directly followed by a store; on arm64 the no-op is two moves to the
//! zero register, of the number's halves. The plugin finds the no-op when it translates the block and watches
//! the store behind it; the stored-to address tells which slot of the sample array, and so which sample, the
//! mark speaks of. On every other machine a mark costs one store.

use std::sync::atomic::AtomicU64;

/// What a mark says. The numbers are part of the guest's and the plugin's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MarkKind {
    /// Measuring begins; stored to slot 0 before any sample.
    Begin = 1,
    /// A sample was taken; stored to the sample's slot.
    Sample = 2,
    /// Measuring is over; stored to slot 0.
    End = 3,
    /// The machine stops for its snapshot; stored to the device that stops it.
    Stop = 4,
}

impl MarkKind {
    /// The kind with this number, if there is one.
    pub const fn from_u8(n: u8) -> Option<MarkKind> {
        match n {
            1 => Some(MarkKind::Begin),
            2 => Some(MarkKind::Sample),
            3 => Some(MarkKind::End),
            4 => Some(MarkKind::Stop),
            _ => None,
        }
    }
}

/// The displacement of the no-op, whose low byte is the [`MarkKind`] ("WCM" above it).
pub const MAGIC: u32 = 0x5743_4d00;

/// The machine code of the no-op of a mark, `0f 1f 80` and the displacement, little endian.
pub const fn nop_bytes(kind: MarkKind) -> [u8; 7] {
    let d = (MAGIC | kind as u32).to_le_bytes();
    [0x0f, 0x1f, 0x80, d[0], d[1], d[2], d[3]]
}

/// The machine code of a mark's moves on arm64.
pub const fn moves(kind: MarkKind) -> [u32; 2] {
    const TO_ZERO: u32 = 0xd280_001f;
    const SHIFTED: u32 = 1 << 21;
    let number = MAGIC | kind as u32;
    [TO_ZERO | SHIFTED | number >> 16 << 5, TO_ZERO | (number & 0xffff) << 5]
}

/// Stores `value` to `slot` with a mark of the kind `KIND` (a [`MarkKind`] as its number).
#[inline(always)]
pub fn mark<const KIND: u8>(slot: &mut u64, value: u64) {
    // SAFETY: the slot is borrowed exclusively.
    unsafe { store::<KIND>(slot, value) }
}

/// As [`mark`], for a slot that several threads use.
#[inline(always)]
pub fn mark_shared<const KIND: u8>(slot: &AtomicU64, value: u64) {
    // SAFETY: on x86-64 an aligned store is what a relaxed store of an atomic is.
    unsafe { store::<KIND>(slot.as_ptr(), value) }
}

/// # Safety
/// `slot` must be valid for a store, and whoever else uses it at the same time must use it as an atomic.
#[inline(always)]
unsafe fn store<const KIND: u8>(slot: *mut u64, value: u64) {
    const {
        assert!(MarkKind::from_u8(KIND).is_some());
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a long no-op touches no memory; the caller answers for the store.
    unsafe {
        core::arch::asm!(
            ".byte 0x0f, 0x1f, 0x80",
            ".long {magic} + {kind}",
            "mov qword ptr [{slot}], {value}",
            magic = const MAGIC,
            kind = const KIND,
            slot = in(reg) slot,
            value = in(reg) value,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a move to the zero register does nothing; the caller answers for the store.
    unsafe {
        core::arch::asm!(
            "movz xzr, #{magic}, lsl #16",
            "movz xzr, #{kind}",
            "str {value}, [{slot}]",
            magic = const MAGIC >> 16,
            kind = const (MAGIC & 0xffff) + KIND as u32,
            slot = in(reg) slot,
            value = in(reg) value,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: the caller answers for the store.
    unsafe {
        AtomicU64::from_ptr(slot).store(value, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Stores a byte to a device with the mark [`MarkKind::Stop`].
///
/// # Safety
/// `device` must be mapped for writing, and whatever the device does at this address must be allowed.
#[cfg(target_arch = "x86_64")]
pub unsafe fn stop(device: *mut u8, value: u8) {
    // SAFETY: a long no-op touches no memory; the caller answers for the store.
    unsafe {
        core::arch::asm!(
            ".byte 0x0f, 0x1f, 0x80",
            ".long {magic} + {kind}",
            "mov byte ptr [{device}], {value}",
            magic = const MAGIC,
            kind = const MarkKind::Stop as u8,
            device = in(reg) device,
            value = in(reg_byte) value,
            options(nostack, preserves_flags),
        );
    }
}

/// Stores a byte to a device with the mark [`MarkKind::Stop`].
///
/// # Safety
/// As above.
#[cfg(target_arch = "aarch64")]
pub unsafe fn stop(device: *mut u8, value: u8) {
    // SAFETY: a move to the zero register does nothing; the caller answers for the store.
    unsafe {
        core::arch::asm!(
            "movz xzr, #{magic}, lsl #16",
            "movz xzr, #{kind}",
            "strb {value:w}, [{device}]",
            magic = const MAGIC >> 16,
            kind = const (MAGIC & 0xffff) + MarkKind::Stop as u32,
            device = in(reg) device,
            value = in(reg) value,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stores_its_value() {
        let mut slot = 0;
        mark::<{ MarkKind::Sample as u8 }>(&mut slot, 42);
        assert_eq!(slot, 42);
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn a_stop_stores_one_byte() {
        let mut bytes = [0u8; 3];
        // SAFETY: the address is within an array of this test.
        unsafe { stop(&raw mut bytes[1], 7) };
        assert_eq!(bytes, [0, 7, 0]);
    }

    #[test]
    fn the_nop_is_the_documented_bytes() {
        assert_eq!(nop_bytes(MarkKind::Sample), [0x0f, 0x1f, 0x80, 2, 0x4d, 0x43, 0x57]);
        assert_eq!(
            moves(MarkKind::Sample),
            [0xd2a0_0000 | 0x5743 << 5 | 31, 0xd280_0000 | 0x4d02 << 5 | 31]
        );
    }
}
