//! x86 I/O ports from user space.

use crate::GuestError;
use std::arch::asm;

/// Asks the kernel for all ports; must come before any other call of this module.
pub(crate) fn allow() -> Result<(), GuestError> {
    // SAFETY: iopl changes only this process's I/O privilege.
    if unsafe { libc::iopl(3) } != 0 {
        return Err(GuestError::os("no access to I/O ports (iopl)"));
    }
    Ok(())
}

/// Writes a 16-bit word to a port.
pub(crate) fn out16(port: u16, value: u16) {
    // SAFETY: `allow` was called first; the ports used belong to devices that QEMU made for this guest.
    unsafe { asm!("out dx, ax", in("dx") port, in("ax") value, options(nomem, nostack, preserves_flags)) }
}

/// Reads a byte from a port.
pub(crate) fn in8(port: u16) -> u8 {
    let value: u8;
    // SAFETY: as in `out16`.
    unsafe { asm!("in al, dx", out("al") value, in("dx") port, options(nomem, nostack, preserves_flags)) }
    value
}

/// Writes all bytes to a port, in order.
pub(crate) fn out_all(port: u16, bytes: &[u8]) {
    // SAFETY: as in `out16`; `rep outsb` reads exactly `bytes.len()` bytes from `bytes`.
    unsafe {
        asm!(
            "rep outsb",
            in("dx") port,
            inout("rsi") bytes.as_ptr() => _,
            inout("rcx") bytes.len() => _,
            options(readonly, nostack, preserves_flags),
        )
    }
}

/// The time-stamp counter: in the lab, virtual time in ns.
pub(crate) fn tsc() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: rdtsc only reads the counter.
    unsafe { asm!("rdtsc", out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags)) }
    u64::from(high) << 32 | u64::from(low)
}
