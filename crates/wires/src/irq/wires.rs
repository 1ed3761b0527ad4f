//! The wires of `irq`: how a pulse is made, waited for and answered.

use super::line::Pins;
use crate::sys::gpio::Gpio;
use crate::sys::parport::Parport;
use crate::sys::serial::Serial;
use std::io;
use std::path::PathBuf;
use worstcase_instruments::bench::Wire;
use worstcase_logs::Nanos;

/// A pulse that nobody answers for so long never will be.
pub const PATIENCE: Nanos = Nanos::from_millis(1_000);

impl Wire for Parport {
    #[inline(always)]
    fn prepare(&self) -> io::Result<()> {
        self.raise();
        Ok(())
    }

    #[inline(always)]
    fn send(&self) -> io::Result<()> {
        self.fall();
        Ok(())
    }

    fn forget(&self) -> io::Result<()> {
        Parport::forget(self).map(drop)
    }

    #[inline(always)]
    fn receive(&self) -> io::Result<Option<Nanos>> {
        match self.wait(PATIENCE)? {
            true => {
                self.answer();
                Ok(None)
            }
            false => Err(silent("the parallel port", "strobe, pin 1, to ACK, pin 10")),
        }
    }
}

/// Lines of a GPIO chip.
#[derive(Debug)]
pub(crate) struct Loop {
    gpio: Gpio,
    pins: Pins,
}

impl Loop {
    /// Requests them.
    pub(crate) fn of(pins: Pins) -> io::Result<Loop> {
        let chip = PathBuf::from(format!("/dev/gpiochip{}", pins.chip));
        Ok(Loop {
            gpio: Gpio::request(&chip, pins.output.into(), pins.input.into())?,
            pins,
        })
    }
}

impl Wire for Loop {
    #[inline(always)]
    fn prepare(&self) -> io::Result<()> {
        self.gpio.set(false)
    }

    #[inline(always)]
    fn send(&self) -> io::Result<()> {
        self.gpio.set(true)
    }

    fn forget(&self) -> io::Result<()> {
        self.gpio.forget()
    }

    #[inline(always)]
    fn receive(&self) -> io::Result<Option<Nanos>> {
        match self.gpio.wait(PATIENCE)? {
            Some(seen) => Ok(Some(seen)),
            None => {
                let Pins { chip, output, input } = self.pins;
                Err(silent(
                    &format!("gpiochip{chip}"),
                    &format!("line {output} to line {input}"),
                ))
            }
        }
    }
}

impl Wire for Serial {
    fn prepare(&self) -> io::Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn send(&self) -> io::Result<()> {
        self.set(true)
    }

    /// CTS may still be about to fall: whoever is woken by that finds no new pulse, and waits again.
    fn forget(&self) -> io::Result<()> {
        self.set(false)
    }

    #[inline(always)]
    fn receive(&self) -> io::Result<Option<Nanos>> {
        self.wait().map(|()| None)
    }
}

fn silent(of: &str, connect: &str) -> io::Error {
    io::Error::other(format!(
        "no interrupt of {of} within {PATIENCE}: is the loop closed ({connect})?"
    ))
}
