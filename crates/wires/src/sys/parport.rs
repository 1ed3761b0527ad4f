//! The parallel port of a PC: its lines by the CPU's own port instructions, its interrupt through the driver `ppdev`.
//!
//! The port's interrupt is that of the line ACK. In QEMU the edge that raises it is the end of a strobe pulse, while the
//! port's interrupt is switched on: a loop that is closed from strobe to ACK.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use worstcase_instruments::sys::{check, say, signal};
use worstcase_logs::Nanos;

const DEVICE: &str = "/dev/parport0";
/// `_IO('p', 0x8b)`, `_IOR('p', 0x93, int)`.
const PPCLAIM: libc::c_ulong = 0x708b;
const PPCLRIRQ: libc::c_ulong = 0x8004_7093;

/// The first port's registers, where every PC has them.
const DATA: u16 = 0x378;
const STATUS: u16 = DATA + 1;
const CONTROL: u16 = DATA + 2;

/// Control: the printer is selected and not reset, the interrupt is on.
const READY: u8 = 0x1c;
const STROBE: u8 = 0x01;

/// The port, claimed. Who has it, and threads started since, may use its registers.
#[derive(Debug)]
pub struct Parport(File);

impl Parport {
    /// Claims the port.
    pub(crate) fn claim() -> io::Result<Parport> {
        let says = |what: String| move |e: io::Error| say(&e, format!("{what}: {e}"));
        let device = File::options().read(true).write(true).open(DEVICE);
        let device = device.map_err(|e| match e.raw_os_error() {
            Some(libc::ENOENT) => says(format!(
                "{DEVICE} (a parallel port, and the modules parport_pc and ppdev)"
            ))(e),
            _ => says(DEVICE.into())(e),
        })?;
        let base = setting("base-addr")?;
        if base.split_whitespace().next() != Some(&DATA.to_string()) {
            return Err(io::Error::other(format!(
                "{DEVICE} is at {}, and not at {DATA}",
                base.trim()
            )));
        }
        // SAFETY: this request takes no argument.
        check(unsafe { libc::ioctl(device.as_raw_fd(), PPCLAIM, 0) })
            .map_err(says(format!("{DEVICE} is in use (by lp? rmmod lp)")))?;
        use_registers().map_err(says("the port's registers".into()))?;
        Ok(Parport(device))
    }

    /// Begins a strobe pulse.
    #[inline(always)]
    pub fn raise(&self) {
        out8(CONTROL, READY | STROBE);
    }

    /// Ends it: the edge that interrupts.
    #[inline(always)]
    pub(crate) fn fall(&self) {
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

/// The port's registers alone, for pulses that nobody answers but the driver.
#[derive(Debug)]
pub struct Strobe(());

impl Strobe {
    /// Gets the right to use them.
    pub(crate) fn open() -> io::Result<Strobe> {
        use_registers()?;
        Ok(Strobe(()))
    }

    /// A pulse, and its interrupt.
    pub fn pulse(&self) {
        in8(STATUS);
        out8(CONTROL, READY | STROBE);
        out8(CONTROL, READY);
    }
}

/// Lets this thread, and those that it starts, use the port's registers.
#[cfg(target_arch = "x86_64")]
fn use_registers() -> io::Result<()> {
    // SAFETY: ioperm changes only which ports this thread may use.
    check(unsafe { libc::ioperm(DATA.into(), 3, 1) })?;
    Ok(())
}

/// Where the driver tells of the port.
const SETTINGS: &str = "/proc/sys/dev/parport/parport0";

fn setting(name: &str) -> io::Result<String> {
    let path = format!("{SETTINGS}/{name}");
    fs::read_to_string(&path).map_err(|e| say(&e, format!("{path}: {e}")))
}

/// The setting that says to which CPUs the port's interrupt goes.
pub fn affinity() -> io::Result<PathBuf> {
    let number = setting("irq")?;
    match number.trim().parse::<u32>() {
        Ok(number) => Ok(PathBuf::from(format!("/proc/irq/{number}/smp_affinity_list"))),
        Err(_) => Err(io::Error::other(format!(
            "{DEVICE} has no interrupt (irq {}): load parport_pc with irq=7",
            number.trim()
        ))),
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn out8(port: u16, value: u8) {
    // SAFETY: `use_registers` got these ports, and nobody else uses the device.
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
fn use_registers() -> io::Result<()> {
    let what = "only PCs have a parallel port whose registers a program may use";
    Err(io::Error::new(io::ErrorKind::Unsupported, what))
}

#[cfg(not(target_arch = "x86_64"))]
fn out8(_port: u16, _value: u8) {}

#[cfg(not(target_arch = "x86_64"))]
fn in8(_port: u16) -> u8 {
    0
}
