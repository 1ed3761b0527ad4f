//! A timer of the HPET (High Precision Event Timer), as its driver gives it: a counter that everybody can read, and an
//! interrupt each time that the counter reaches a known count.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::NonNull;
use worstcase_instruments::sys::{check, say, signal};
use worstcase_logs::Nanos;

const DEVICE: &str = "/dev/hpet";
/// How often a second an ordinary user may have it interrupt.
const MOST_HZ: &str = "/proc/sys/dev/hpet/max-user-freq";

/// `_IO('h', 1)`, `_IOR('h', 3, struct hpet_info)`, `_IO('h', 4)`, `_IOW('h', 6, unsigned long)`.
const HPET_IE_ON: libc::c_ulong = 0x6801;
const HPET_INFO: libc::c_ulong = 0x8018_6803;
const HPET_EPI: libc::c_ulong = 0x6804;
const HPET_IRQFREQ: libc::c_ulong = 0x4008_6806;

/// Registers: the upper half of the capabilities is the length of a tick in femtoseconds; of the counter and of the
/// comparators the lower half does, whose differences hold some seconds.
const TICK_FS: usize = 0x004;
const COUNTER: usize = 0x0f0;
const COMPARATORS: usize = 0x108;
const COMPARATOR_STEP: usize = 0x20;
const PAGE: usize = 4_096;

/// Of a second.
const FEMTOSECONDS: u64 = 1_000_000_000_000_000;

/// The kernel's `struct hpet_info`.
#[repr(C)]
#[derive(Default)]
struct Info {
    ticks: libc::c_ulong,
    flags: libc::c_ulong,
    hpet: libc::c_ushort,
    timer: libc::c_ushort,
}

/// The registers, for reading.
#[derive(Debug)]
struct Registers(NonNull<libc::c_void>);

impl Registers {
    fn map(device: &File) -> io::Result<Registers> {
        // SAFETY: a new mapping of a device's page, which nothing else has a pointer to.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                PAGE,
                libc::PROT_READ,
                libc::MAP_SHARED,
                device.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(start).filter(|start| start.as_ptr() != libc::MAP_FAILED) {
            Some(start) => Ok(Registers(start)),
            None => Err(io::Error::last_os_error()),
        }
    }

    #[inline(always)]
    fn read(&self, offset: usize) -> u32 {
        // SAFETY: all offsets are aligned and within the page, which is mapped as long as this is there.
        unsafe { self.0.cast::<u32>().byte_add(offset).read_volatile() }
    }
}

impl Drop for Registers {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody reads it any more.
        unsafe { libc::munmap(self.0.as_ptr(), PAGE) };
    }
}

/// A timer that interrupts again and again; it stops when dropped.
#[derive(Debug)]
pub struct Hpet {
    device: File,
    registers: Registers,
    /// Length of a tick.
    tick_fs: u64,
    /// Ticks of a period.
    period: u32,
    comparator: usize,
}

impl Hpet {
    /// Starts a timer that interrupts so many times a second.
    pub(crate) fn start(hz: u32) -> io::Result<Hpet> {
        let device = File::open(DEVICE).map_err(|e| match e.raw_os_error() {
            Some(libc::ENOENT) => say(
                &e,
                format!("{DEVICE}: this machine has no HPET, or its kernel was told not to use it"),
            ),
            Some(libc::EBUSY) => say(&e, format!("{DEVICE}: all of its timers are taken")),
            _ => say(&e, format!("{DEVICE}: {e}")),
        })?;
        let registers = Registers::map(&device).map_err(|e| {
            say(
                &e,
                format!("{DEVICE} cannot be mapped ({e}): boot with hpet_mmap=1, and be root"),
            )
        })?;
        let ask = |request: libc::c_ulong, argument: libc::c_ulong, what: &str| {
            // SAFETY: these requests take nothing or an unsigned long by value.
            check(unsafe { libc::ioctl(device.as_raw_fd(), request, argument) })
                .map_err(|e| say(&e, format!("{DEVICE}: {what}: {e}")))
        };
        ask(
            HPET_IRQFREQ,
            hz.into(),
            &format!("{hz} Hz are refused; without root {MOST_HZ} is the limit"),
        )?;
        let mut info = Info::default();
        // SAFETY: the request fills one structure of this form.
        check(unsafe { libc::ioctl(device.as_raw_fd(), HPET_INFO, &raw mut info) })
            .map_err(|e| say(&e, format!("{DEVICE}: {e}")))?;
        ask(HPET_EPI, 0, "its timer is not periodic")?;
        ask(HPET_IE_ON, 0, "its interrupt is refused")?;
        let tick_fs = u64::from(registers.read(TICK_FS)).max(1);
        let ticks = FEMTOSECONDS / tick_fs;
        Ok(Hpet {
            device,
            tick_fs,
            // As the driver rounds.
            period: ((ticks + u64::from(hz) / 2) / u64::from(hz)) as u32,
            comparator: COMPARATORS + usize::from(info.timer) * COMPARATOR_STEP,
            registers,
        })
    }

    /// The counter now.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.registers.read(COUNTER)
    }

    /// The count at which the next interrupt is due.
    pub fn next(&self) -> u32 {
        self.registers.read(self.comparator)
    }

    /// Ticks of a period.
    pub(crate) fn period(&self) -> u32 {
        self.period
    }

    /// So many ticks as time.
    pub fn time_of(&self, ticks: u32) -> Nanos {
        Nanos((u128::from(ticks) * u128::from(self.tick_fs) / 1_000_000) as u64)
    }

    /// Waits for an interrupt that nobody has asked for; false if none came in time.
    #[inline(always)]
    pub fn wait(&self, patience: Nanos) -> io::Result<bool> {
        signal::readable_within(self.device.as_fd(), patience)
    }

    /// How many interrupts came that nobody has asked for.
    pub fn interrupts(&mut self) -> io::Result<u32> {
        let mut word = [0; 8];
        self.device.read_exact(&mut word)?;
        Ok(u64::from_ne_bytes(word) as u32)
    }
}
