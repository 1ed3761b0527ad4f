//! The periodic interrupt of the real-time clock, as Realfeel uses it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::Path;

/// `_IOW('p', 0x0c, unsigned long)`, `_IO('p', 0x05)`, `_IO('p', 0x06)`.
const RTC_IRQP_SET: libc::c_ulong = 0x4008_700c;
const RTC_PIE_ON: libc::c_ulong = 0x7005;
const RTC_PIE_OFF: libc::c_ulong = 0x7006;

/// The clock with its periodic interrupt switched on, and off again when dropped.
#[derive(Debug)]
pub struct Rtc(File);

impl Rtc {
    /// Opens the device; `hz` is a power of two up to 8192.
    pub fn open(device: &Path, hz: u32) -> io::Result<Rtc> {
        let file = File::open(device)?;
        // SAFETY: this request takes an unsigned long by value.
        super::check(unsafe { libc::ioctl(file.as_raw_fd(), RTC_IRQP_SET, libc::c_ulong::from(hz)) })?;
        // SAFETY: this request takes no argument.
        super::check(unsafe { libc::ioctl(file.as_raw_fd(), RTC_PIE_ON, 0) })?;
        Ok(Rtc(file))
    }

    /// Waits for the next interrupt; how many came since the last call.
    pub fn wait(&mut self) -> io::Result<u64> {
        interrupts(&mut self.0)
    }
}

/// One read of the device: the count is above the byte of flags.
fn interrupts(device: &mut impl Read) -> io::Result<u64> {
    let mut word = [0; 8];
    device.read_exact(&mut word)?;
    Ok(u64::from_ne_bytes(word) >> 8)
}

impl Drop for Rtc {
    fn drop(&mut self) {
        // SAFETY: this request takes no argument. The device may be gone: there is nothing else to undo.
        unsafe { libc::ioctl(self.0.as_raw_fd(), RTC_PIE_OFF, 0) };
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_count_is_above_the_flags() {
        let word = (3_u64 << 8 | 0xc0).to_ne_bytes();
        assert_eq!(super::interrupts(&mut word.as_slice()).unwrap(), 3);
        assert!(super::interrupts(&mut [0_u8; 4].as_slice()).is_err());
    }
}
