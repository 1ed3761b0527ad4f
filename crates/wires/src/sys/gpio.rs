//! Two lines of a GPIO chip, an output that is wired to an input: gpiolib's character device (version 2, Linux 5.10).
//!
//! A chip of the driver gpio-sim has no wire. There the level of the input is what its attribute `pull` says.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd};
use std::path::{Path, PathBuf};
use worstcase_instruments::sys::{check, say, signal};
use worstcase_logs::Nanos;

/// `_IOWR(0xb4, 0x07, struct gpio_v2_line_request)`, `_IOWR(0xb4, 0x0f, struct gpio_v2_line_values)`.
const GPIO_V2_GET_LINE: libc::c_ulong = 0xc250_b407;
const GPIO_V2_LINE_SET_VALUES: libc::c_ulong = 0xc010_b40f;

const INPUT: u64 = 1 << 2;
const OUTPUT: u64 = 1 << 3;
const EDGE_RISING: u64 = 1 << 4;

const CONSUMER: &CStr = c"worstcase";

/// The kernel's `struct gpio_v2_line_request`, with its `config` without attributes.
#[repr(C)]
struct LineRequest {
    offsets: [u32; 64],
    consumer: [u8; 32],
    flags: u64,
    attributes: u32,
    padding: [u32; 5],
    attribute: [[u64; 3]; 10],
    lines: u32,
    event_buffer: u32,
    padding_too: [u32; 5],
    fd: i32,
}

/// `struct gpio_v2_line_values`.
#[repr(C)]
struct LineValues {
    bits: u64,
    mask: u64,
}

/// `struct gpio_v2_line_event`: when it was, and what is not looked at.
const EVENT: usize = 48;

/// What sets the level of the input.
#[derive(Debug)]
enum Level {
    /// An output that is wired to it.
    Output(File),
    /// A simulated chip's attribute.
    Pull(File),
}

/// The lines, requested.
#[derive(Debug)]
pub struct Gpio {
    level: Level,
    input: File,
}

impl Gpio {
    /// Requests both lines of a chip: an output, and an input that tells of rising edges.
    pub(crate) fn request(chip: &Path, output: u32, input: u32) -> io::Result<Gpio> {
        let device = File::options().read(true).write(true).open(chip);
        let device = device.map_err(|e| say(&e, format!("{}: {e}", chip.display())))?;
        let line = |offset: u32, flags: u64| {
            line(&device, offset, flags).map_err(|e| {
                let why = match e.raw_os_error() {
                    Some(libc::EBUSY) => ": somebody else has it (gpioinfo tells who)",
                    Some(libc::EINVAL) => ": the chip has no such line",
                    Some(libc::ENXIO | libc::EOPNOTSUPP) => ": it cannot interrupt",
                    _ => "",
                };
                say(&e, format!("{}, line {offset}: {e}{why}", chip.display()))
            })
        };
        let level = match pull_of(chip, input) {
            Some(pull) => Level::Pull(File::options().write(true).open(pull)?),
            None => Level::Output(line(output, OUTPUT)?),
        };
        Ok(Gpio {
            level,
            input: line(input, INPUT | EDGE_RISING)?,
        })
    }

    /// Sets the level of the input.
    #[inline(always)]
    pub fn set(&self, high: bool) -> io::Result<()> {
        match &self.level {
            Level::Output(line) => {
                let mut values = LineValues {
                    bits: high.into(),
                    mask: 1,
                };
                // SAFETY: the request reads one structure of this form.
                check(unsafe { libc::ioctl(line.as_raw_fd(), GPIO_V2_LINE_SET_VALUES, &raw mut values) })?;
                Ok(())
            }
            Level::Pull(pull) => {
                let mut pull = pull;
                pull.rewind()?;
                pull.write_all(if high { b"pull-up" } else { b"pull-down" })
            }
        }
    }

    /// Waits for an edge; when the kernel saw it, on CLOCK_MONOTONIC, or none if there was none in time.
    #[inline(always)]
    pub fn wait(&self, patience: Nanos) -> io::Result<Option<Nanos>> {
        if !signal::readable_within(self.input.as_fd(), patience)? {
            return Ok(None);
        }
        let mut event = [0; EVENT];
        (&self.input).read_exact(&mut event)?;
        let (time, _) = event.split_at(8);
        Ok(Some(Nanos(u64::from_ne_bytes(time.try_into().unwrap_or_default()))))
    }

    /// Forgets the edges so far.
    pub fn forget(&self) -> io::Result<()> {
        while self.wait(Nanos(0))?.is_some() {}
        Ok(())
    }
}

fn line(chip: &File, offset: u32, flags: u64) -> io::Result<File> {
    let mut request = LineRequest {
        offsets: [0; 64],
        consumer: [0; 32],
        flags,
        attributes: 0,
        padding: [0; 5],
        attribute: [[0; 3]; 10],
        lines: 1,
        event_buffer: 0,
        padding_too: [0; 5],
        fd: -1,
    };
    request.offsets[0] = offset;
    let name = CONSUMER.to_bytes();
    request.consumer[..name.len()].copy_from_slice(name);
    // SAFETY: the request reads and fills one structure of this form, and gives a new descriptor that is ours.
    Ok(unsafe {
        check(libc::ioctl(chip.as_raw_fd(), GPIO_V2_GET_LINE, &raw mut request))?;
        File::from_raw_fd(request.fd)
    })
}

/// Where a simulated chip has the level of a line.
fn pull_of(chip: &Path, line: u32) -> Option<PathBuf> {
    let name = chip.file_name()?;
    let device = fs::canonicalize(Path::new("/sys/bus/gpio/devices").join(name)).ok()?;
    let pull = device.parent()?.join(name).join(format!("sim_gpio{line}/pull"));
    pull.exists().then_some(pull)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_size_that_the_requests_name() {
        let size = |request: libc::c_ulong| (request >> 16 & 0x3fff) as usize;
        assert_eq!(size_of::<LineRequest>(), size(GPIO_V2_GET_LINE));
        assert_eq!(size_of::<LineValues>(), size(GPIO_V2_LINE_SET_VALUES));
    }

    #[test]
    fn a_chip_that_is_not_there_is_named() {
        let error = Gpio::request(Path::new("/dev/gpiochip9999"), 0, 1).unwrap_err();
        assert!(error.to_string().starts_with("/dev/gpiochip9999: "), "{error}");
    }
}
