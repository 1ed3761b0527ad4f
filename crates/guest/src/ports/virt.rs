//! QEMU's `virt` board, of arm64: fw_cfg is a page of registers, and what leaves the machine goes into memory that is a file of
//! the controller's (`ivshmem-plain`).

use super::mailbox;
use crate::GuestError;
use std::arch::asm;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use worstcase_instruments::sys::memory::{Mapping, page_size};

/// The virtual timer's handler. The interrupt's first instruction is that of a vector, which all interrupts share.
pub(crate) const TIMER_ENTRY: &str = "arch_timer_handler_virt";
/// The entry of all interrupts.
pub(crate) const VECTORS: Option<&str> = Some("vectors");

/// Physical address of fw_cfg, and where in it the selector is (16 bits, big endian); the data comes first.
const FW_CFG: u64 = 0x0902_0000;
const SELECTOR: usize = 8;
/// The device with the memory.
const MAILBOX: &str = "/sys/bus/pci/devices/0000:00:06.0";

/// Nothing: what it takes is in file systems that are not mounted yet.
#[expect(clippy::unnecessary_wraps, reason = "another board has something to prepare")]
pub(crate) fn prepare() -> Result<(), GuestError> {
    Ok(())
}

/// The registers of fw_cfg.
fn fw_cfg() -> *mut u8 {
    static REGISTERS: OnceLock<Mapping> = OnceLock::new();
    let registers = REGISTERS.get_or_init(|| {
        let map = || Mapping::of_file(&open("/dev/mem")?, FW_CFG, page_size());
        map().unwrap_or_else(|e| panic!("/dev/mem, the registers of fw_cfg: {e}"))
    });
    registers.as_ptr()
}

/// Selects an item of fw_cfg, by its key.
pub(crate) fn select(key: u16) {
    // SAFETY: a register within the mapped page, aligned; a store to it changes the device only.
    unsafe { fw_cfg().add(SELECTOR).cast::<u16>().write_volatile(key.to_be()) }
}

/// The selected item's next byte.
pub(crate) fn next() -> u8 {
    // SAFETY: the first register of the mapped page.
    unsafe { fw_cfg().read_volatile() }
}

/// Sends bytes to the controller.
pub(crate) fn send(bytes: &[u8]) {
    if let Err(e) = try_to_send(bytes) {
        // Who should have been told cannot be: the console is what is left.
        let _ = fs::write("/dev/console", format!("{MAILBOX}, where records go: {e}\n"));
        crate::stop::power_off();
    }
}

fn try_to_send(bytes: &[u8]) -> io::Result<()> {
    let device = Device::enable(MAILBOX)?;
    let memory = open(&format!("{MAILBOX}/resource2"))?;
    let size = memory.metadata()?.len() as usize;
    let filled = mailbox::filled(Mapping::of_file(&memory, 0, page_size())?.words());
    let map = |bytes: &[u8]| {
        let used = mailbox::used(filled, bytes.len());
        Mapping::of_file(&memory, 0, used.next_multiple_of(page_size()))
    };
    match mailbox::used(filled, bytes.len()) <= size {
        true => mailbox::append(map(bytes)?.words(), bytes),
        false => {
            let error = format!("WCERR\0there are {} bytes to tell, and {size} for all\n", bytes.len());
            mailbox::append(map(error.as_bytes())?.words(), error.as_bytes());
        }
    }
    device.disable()
}

/// The device with the memory, while it answers.
///
/// QEMU refuses to load a snapshot if shared memory (which is not in it) was placed elsewhere when it was saved, also if it
/// answers no more. A machine that has just started has not placed it yet: its address is 0. So that is the last that it is
/// told.
struct Device {
    configuration: File,
    /// The base address, as the kernel chose it.
    base: [u8; 8],
}

impl Device {
    /// Of the configuration: the command and its bit with which memory answers, and the base address of the third resource.
    const COMMAND: u64 = 4;
    const MEMORY_ANSWERS: u8 = 2;
    const BASE: u64 = 0x18;

    fn enable(folder: &str) -> io::Result<Device> {
        let configuration = open(&format!("{folder}/config"))?;
        let mut base = [0; 8];
        configuration.read_exact_at(&mut base, Device::BASE)?;
        configuration.write_all_at(&[Device::MEMORY_ANSWERS, 0], Device::COMMAND)?;
        Ok(Device { configuration, base })
    }

    fn disable(self) -> io::Result<()> {
        let (low, high) = self.base.split_at(4);
        let set = |low: &[u8], high: &[u8]| {
            self.configuration.write_all_at(low, Device::BASE)?;
            self.configuration.write_all_at(high, Device::BASE + 4)
        };
        set(&[0; 4], &[0; 4])?;
        self.configuration.write_all_at(&[0; 2], Device::COMMAND)?;
        set(low, high)
    }
}

/// The counter of virtual time, in ns: the lab's machine has its frequency for that (`cntfrq`).
pub(crate) fn counter() -> u64 {
    let value: u64;
    // SAFETY: Linux lets user code read the virtual counter, which changes nothing.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", out(reg) value, options(nostack, preserves_flags)) }
    value
}

/// The register that stops the machine.
pub(crate) struct StopRegister {
    page: Mapping,
    at: usize,
}

impl StopRegister {
    /// Stores to it.
    pub(crate) fn write_stop(&self, value: u8) {
        self.page.write_stop_at(self.at, value);
    }
}

/// The register that stops the machine, of the device whose page this is. Without firmware the kernel puts small devices side by
/// side into one page.
pub(crate) fn stop_register(page: Mapping, folder: &str) -> io::Result<StopRegister> {
    let places = fs::read_to_string(format!("{folder}/resource"))?;
    let start = places.strip_prefix("0x").and_then(|text| text.split(' ').next());
    let start = start.and_then(|digits| usize::from_str_radix(digits, 16).ok());
    let at = start.ok_or_else(|| io::Error::other("its resource has no address"))? % page_size();
    // The page is there, and dirty, before time is taken: the first store to a clean one is a fault.
    page.write(at, 0);
    Ok(StopRegister { page, at })
}

fn open(path: &str) -> io::Result<File> {
    File::options().read(true).write(true).open(path)
}
