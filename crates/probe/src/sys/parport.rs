//! The parallel port of a PC: its lines by the CPU's own port instructions, its interrupt through the driver `ppdev`.
//!
//! The port's interrupt is that of the line ACK. In QEMU the edge that raises it is the end of a strobe pulse, while the
//! port's interrupt is switched on: a loop that is closed from strobe to ACK.

use super::check;
use super::signal;
use crate::units::Nanos;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

const DEVICE: &str = "/dev/parport0";
/// `_IO('p', 0x8b)`, `_IOR('p', 0x93, int)`.
const PPCLAIM: libc::c_ulong = 0x708b;
const PPCLRIRQ: libc::c_ulong = 0x8004_7093;

/// The first port's registers and interrupt.
const DATA: u16 = 0x378;
const STATUS: u16 = DATA + 1;
const CONTROL: u16 = DATA + 2;
const IRQ: u32 = 7;

/// Control: the printer is selected and not reset, the interrupt is on.
const READY: u8 = 0x1c;
const STROBE: u8 = 0x01;

/// The port, claimed. Who has it, and threads started since, may use its registers.
#[derive(Debug)]
pub struct Parport(File);

impl Parport {
    /// Claims the port, and sends its interrupt to one CPU.
    pub fn claim(cpu: u32) -> io::Result<Parport> {
        let says = |what: String| move |e: io::Error| io::Error::new(e.kind(), format!("{what}: {e}"));
        let device = File::options().read(true).write(true).open(DEVICE);
        let device = device.map_err(says(DEVICE.into()))?;
        // SAFETY: this request takes no argument.
        check(unsafe { libc::ioctl(device.as_raw_fd(), PPCLAIM, 0) }).map_err(says(format!("{DEVICE} is in use")))?;
        // SAFETY: ioperm changes only which ports this thread may use.
        check(unsafe { libc::ioperm(DATA.into(), 3, 1) }).map_err(says("the port's registers".into()))?;
        let affinity = format!("/proc/irq/{IRQ}/smp_affinity_list");
        fs::write(&affinity, cpu.to_string()).map_err(says(affinity))?;
        Ok(Parport(device))
    }

    /// Begins a strobe pulse.
    #[inline(always)]
    pub fn raise(&self) {
        out8(CONTROL, READY | STROBE);
    }

    /// Ends it: the edge that interrupts.
    #[inline(always)]
    pub fn fall(&self) {
        out8(CONTROL, READY);
    }

    /// A pulse on the first data line. A look at the status before it takes back the interrupt: QEMU's port raises one that is
    /// pending again at any access.
    #[inline(always)]
    pub fn answer(&self) {
        in8(STATUS);
        out8(DATA, 1);
        out8(DATA, 0);
    }

    /// Waits for an interrupt that nobody has forgotten; false if none came in time.
    pub fn wait(&self, patience: Nanos) -> io::Result<bool> {
        signal::readable_within(self.0.as_fd(), patience)
    }

    /// Forgets the interrupts so far; how many they were.
    pub fn forget(&self) -> io::Result<u32> {
        let mut count: libc::c_int = 0;
        // SAFETY: the request fills one int.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), PPCLRIRQ, &raw mut count) })?;
        Ok(count.unsigned_abs())
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn out8(port: u16, value: u8) {
    // SAFETY: `Parport::claim` got these ports, and nobody else uses the device.
    unsafe {
        core::arch::asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack, preserves_flags));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn in8(port: u16) -> u8 {
    let value: u8;
    // SAFETY: as in `out8`.
    unsafe {
        core::arch::asm!("in al, dx", out("al") value, in("dx") port, options(nomem, nostack, preserves_flags));
    }
    value
}

#[cfg(not(target_arch = "x86_64"))]
fn out8(_port: u16, _value: u8) {}

#[cfg(not(target_arch = "x86_64"))]
fn in8(_port: u16) -> u8 {
    0
}
