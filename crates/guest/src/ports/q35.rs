//! The board of x86: I/O ports. What leaves the machine goes to QEMU's debug port.

use crate::GuestError;
use std::arch::asm;
use std::io;
use worstcase_instruments::sys::memory::Mapping;

/// The entry of the local APIC timer's interrupt, from 5.8 on.
pub(crate) const TIMER_ENTRY: &str = "asm_sysvec_apic_timer_interrupt";
/// The entry of all interrupts: there is none.
pub(crate) const VECTORS: Option<&str> = None;

/// Of fw_cfg.
const SELECTOR: u16 = 0x510;
const DATA: u16 = 0x511;
/// The debug port. SeaBIOS talks on 0x402; this one is ours.
const DEBUG: u16 = 0xe9;

/// Asks the kernel for all ports.
pub(crate) fn prepare() -> Result<(), GuestError> {
    // SAFETY: iopl changes only this process's I/O privilege.
    if unsafe { libc::iopl(3) } != 0 {
        return Err(GuestError::os("no access to I/O ports (iopl)"));
    }
    Ok(())
}

/// Selects an item of fw_cfg, by its key.
pub(crate) fn select(key: u16) {
    // SAFETY: `prepare` was called first; the ports used belong to devices that QEMU made for this guest.
    unsafe { asm!("out dx, ax", in("dx") SELECTOR, in("ax") key, options(nomem, nostack, preserves_flags)) }
}

/// The selected item's next byte.
pub(crate) fn next() -> u8 {
    let value: u8;
    // SAFETY: as in `select`.
    unsafe { asm!("in al, dx", out("al") value, in("dx") DATA, options(nomem, nostack, preserves_flags)) }
    value
}

/// Sends bytes to the controller.
pub(crate) fn send(bytes: &[u8]) {
    // SAFETY: as in `select`; `rep outsb` reads exactly `bytes.len()` bytes from `bytes`.
    unsafe {
        asm!(
            "rep outsb",
            in("dx") DEBUG,
            inout("rsi") bytes.as_ptr() => _,
            inout("rcx") bytes.len() => _,
            options(readonly, nostack, preserves_flags),
        )
    }
}

/// The time-stamp counter: in the lab, virtual time in ns.
pub(crate) fn counter() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: rdtsc only reads the counter.
    unsafe { asm!("rdtsc", out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags)) }
    u64::from(high) << 32 | u64::from(low)
}

/// Of the device that stops the machine, its first register, at the beginning of its page.
pub(crate) type StopRegister = Mapping;

/// The register that stops the machine, of the device whose page this is.
#[inline(always)]
#[expect(clippy::unnecessary_wraps, reason = "another board has to look for it")]
pub(crate) fn stop_register(page: Mapping, _folder: &str) -> io::Result<StopRegister> {
    // The page is there before time is taken.
    page.read(0);
    Ok(page)
}
