//! The lines of `irq`, and its name with each.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What interrupts, and how long the answer took is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Line {
    /// A pulse on the parallel port: from edge to edge.
    Parport,
    /// A timer of the HPET at a known count: by its counter.
    Hpet,
    /// A pulse from one line of a GPIO chip to another; no lines: those of a simulated chip.
    Gpio(Option<Pins>),
    /// A pulse from RTS to CTS of a serial port, by its number.
    Serial(u16),
}

/// Lines of a GPIO chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pins {
    /// The chip's number.
    pub chip: u16,
    /// The line that is set.
    pub output: u16,
    /// The line that it is wired to.
    pub input: u16,
}

impl Line {
    /// Its word in a probe's name.
    pub fn word(self) -> &'static str {
        match self {
            Line::Parport => "parport",
            Line::Hpet => "hpet",
            Line::Gpio(_) => "gpio",
            Line::Serial(_) => "serial",
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Parport => f.pad("irq"),
            Line::Gpio(Some(Pins { chip, output, input })) => write!(f, "irq:{chip}x{output}x{input}+gpio"),
            Line::Serial(port) => write!(f, "irq:{port}+serial"),
            line => write!(f, "irq+{}", line.word()),
        }
    }
}
