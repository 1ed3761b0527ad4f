//! The periodic interrupt of the real-time clock, as Realfeel uses it.
//!
//! Since Linux 2.6.39 the kernel makes it with a timer of its own (`rtc_pie_update_irq`, drivers/rtc/interface.c), every
//! `1_000_000_000 / hz` ns from the moment at which it was switched on, rounded down.

use super::sched::Policy;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::Path;
use worstcase_logs::Nanos;

/// `_IOW('p', 0x0c, unsigned long)`, `_IO('p', 0x05)`, `_IO('p', 0x06)`.
const RTC_IRQP_SET: libc::c_ulong = 0x4008_700c;
const RTC_PIE_ON: libc::c_ulong = 0x7005;
const RTC_PIE_OFF: libc::c_ulong = 0x7006;

/// The clock's device: where udev makes links, that of the clock that keeps the time.
const DEVICES: [&str; 2] = ["/dev/rtc", "/dev/rtc0"];
/// Interrupts a second that the kernel offers.
const HZ: std::ops::RangeInclusive<u64> = 2..=8_192;

/// The clock's device, where there is one.
pub fn device() -> Option<&'static Path> {
    DEVICES.map(Path::new).into_iter().find(|path| path.exists())
}

/// How often a second the clock ticks if its ticks are so far apart; none if it cannot.
pub fn hz(interval: Nanos) -> Option<u32> {
    let hz = nearest_hz(interval);
    (tick(hz) == interval).then_some(hz)
}

/// The distance of ticks that is nearest to this one.
pub fn nearest(interval: Nanos) -> Nanos {
    tick(nearest_hz(interval))
}

fn nearest_hz(interval: Nanos) -> u32 {
    let hz = (1_000_000_000 + interval.0 / 2) / interval.0.max(1);
    hz.clamp(*HZ.start(), *HZ.end()) as u32
}

/// The distance of so many ticks a second.
pub fn tick(hz: u32) -> Nanos {
    Nanos(1_000_000_000 / u64::from(hz))
}

/// The clock with its periodic interrupt switched on, and off again when dropped.
#[derive(Debug)]
pub struct Rtc(File);

impl Rtc {
    /// Opens the device and switches the interrupt on.
    pub fn open(interval: Nanos) -> io::Result<Rtc> {
        let hz = hz(interval).ok_or_else(|| {
            let nearest = nearest(interval);
            io::Error::other(format!(
                "the RTC does not tick every {interval}; the nearest is {nearest}"
            ))
        })?;
        let device = device().ok_or_else(|| io::Error::other("this machine has no /dev/rtc0"))?;
        let file = File::open(device).map_err(explain)?;
        // SAFETY: this request takes an unsigned long by value.
        super::check(unsafe { libc::ioctl(file.as_raw_fd(), RTC_IRQP_SET, libc::c_ulong::from(hz)) })
            .map_err(explain)?;
        // SAFETY: this request takes no argument.
        super::check(unsafe { libc::ioctl(file.as_raw_fd(), RTC_PIE_ON, 0) }).map_err(explain)?;
        Ok(Rtc(file))
    }

    /// Waits for the next interrupt; how many came since the last call.
    pub fn wait(&mut self) -> io::Result<u64> {
        interrupts(&mut self.0)
    }
}

/// What the usual errors of this device mean.
fn explain(error: io::Error) -> io::Error {
    let why = match error.raw_os_error() {
        Some(libc::EBUSY) => "another process uses it; end that one first",
        Some(libc::EACCES) => {
            "without root its rate ends at /sys/class/rtc/rtc0/max_user_freq, usually 64 a second: be root, raise it, or ask for a longer interval"
        }
        _ => return error,
    };
    super::say(&error, format!("the RTC: {error}: {why}"))
}

/// One read of the device: the count is above the byte of flags.
fn interrupts(device: &mut impl Read) -> io::Result<u64> {
    let mut word = [0; 8];
    device.read_exact(&mut word)?;
    Ok(u64::from_ne_bytes(word) >> 8)
}

impl Drop for Rtc {
    fn drop(&mut self) {
        // The kernel waits for its timer's function in a loop that does not sleep, and with PREEMPT_RT that function runs in a
        // thread, which a reader of higher priority has interrupted: as an ordinary thread we let it end.
        let policy = Policy::current();
        let is_ordinary = Policy::OTHER.apply().is_ok();
        // SAFETY: this request takes no argument. The device may be gone: there is nothing else to undo.
        unsafe { libc::ioctl(self.0.as_raw_fd(), RTC_PIE_OFF, 0) };
        if let Ok(policy) = policy
            && is_ordinary
        {
            // The right to it may have been taken away meanwhile: then the rest runs as an ordinary thread.
            let _ = policy.apply();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_distances_are_possible_and_the_nearest_one_is_told() {
        assert_eq!(hz(Nanos(488_281)), Some(2_048));
        assert_eq!(hz(Nanos(500_000_000)), Some(2));
        assert_eq!(hz(Nanos(1_000_000)), Some(1_000));
        for (wrong, right) in [
            (488_000, 488_042),
            (10_000, 122_070),
            (2_000_000_000, 500_000_000),
            (0, 122_070),
        ] {
            assert_eq!(hz(Nanos(wrong)), None, "{wrong}");
            assert_eq!(nearest(Nanos(wrong)), Nanos(right));
            assert!(hz(Nanos(right)).is_some());
        }
    }
    #[test]
    fn the_count_is_above_the_flags() {
        let word = (3_u64 << 8 | 0xc0).to_ne_bytes();
        assert_eq!(super::interrupts(&mut word.as_slice()).unwrap(), 3);
        assert!(super::interrupts(&mut [0_u8; 4].as_slice()).is_err());
    }
}
