//! A serial port's modem lines: RTS, an output, that is wired to CTS, an input whose changes interrupt.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;
use worstcase_instruments::sys::{check, say};

/// The level has changed at the latest so long after it was set.
const SETTLE: Duration = Duration::from_millis(10);

/// The port, whose loop is closed.
#[derive(Debug)]
pub struct Serial(File);

impl Serial {
    /// Opens a port, and looks whether CTS follows RTS.
    pub(crate) fn open(port: &Path) -> io::Result<Serial> {
        let named = |e: io::Error, what: &str| say(&e, format!("{}: {e}{what}", port.display()));
        let mut options = File::options();
        options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK);
        let serial = Serial(options.open(port).map_err(|e| named(e, ""))?);
        for high in [false, true, false] {
            let no_lines = |e| named(e, ": a port with modem lines is wanted");
            serial.set(high).map_err(no_lines)?;
            sleep(SETTLE);
            if serial.cts().map_err(no_lines)? != high {
                return Err(io::Error::other(format!(
                    "{}: CTS does not follow RTS: connect them (pins 7 and 8 of a 9-pin plug)",
                    port.display()
                )));
            }
        }
        Ok(serial)
    }

    /// Sets RTS.
    #[inline(always)]
    pub fn set(&self, high: bool) -> io::Result<()> {
        let request = if high { libc::TIOCMBIS } else { libc::TIOCMBIC };
        let line = libc::TIOCM_RTS;
        // SAFETY: the request reads one int.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), request, &raw const line) })?;
        Ok(())
    }

    /// Waits for a change of CTS.
    #[inline(always)]
    pub fn wait(&self) -> io::Result<()> {
        // SAFETY: the request takes an int by value.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), libc::TIOCMIWAIT, libc::TIOCM_CTS) })?;
        Ok(())
    }

    fn cts(&self) -> io::Result<bool> {
        let mut lines: libc::c_int = 0;
        // SAFETY: the request fills one int.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), libc::TIOCMGET, &raw mut lines) })?;
        Ok(lines & libc::TIOCM_CTS != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_serial_port_is_refused() {
        let error = Serial::open(Path::new("/dev/null")).unwrap_err().to_string();
        assert!(
            error.starts_with("/dev/null: ") && error.ends_with("a port with modem lines is wanted"),
            "{error}"
        );
        // A pseudo-terminal has no modem lines.
        let error = Serial::open(Path::new("/dev/ptmx")).unwrap_err().to_string();
        assert!(error.ends_with("a port with modem lines is wanted"), "{error}");
    }
}
