//! `irq`: how long an interrupt takes to be answered by a process; by an oscilloscope's method, or by a counter.
//!
//! ```text
//! generator (another CPU)      sleeps until the round is due; before = clock; ends a strobe pulse: the edge out
//! process   (the probe's CPU)  waits for the parallel port's interrupt; writes a pulse back: the edge back; now = clock
//! ```
//! sample = now - before. The generator is not on the CPU that answers: its edge comes whatever runs there, also where the
//! kernel does not let go of the CPU.

mod counter;
mod wires;

use super::remote::{self, Way};
use super::{BenchError, BenchResult, Details, Instrumented, Observer, Request};
use crate::sys::parport::{self, Parport};
use crate::sys::serial::Serial;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use wires::Loop;
pub(super) use wires::Wire;

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

/// The simulated chip of the lab's machine is its only one.
const SIMULATED: Pins = Pins {
    chip: 0,
    output: 0,
    input: 1,
};

impl Instrumented for Line {
    fn has_helpers(&self) -> bool {
        matches!(self, Line::Parport | Line::Gpio(_) | Line::Serial(_))
    }

    fn check(&self, request: &Request<'_>) -> Result<(), BenchError> {
        check(*self, request)
    }

    fn measure(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Result<BenchResult, BenchError> {
        measure(*self, request, observer)
    }
}

/// Refuses what this machine cannot do.
fn check(line: Line, request: &Request<'_>) -> Result<(), BenchError> {
    match line {
        Line::Hpet => counter::check(request),
        Line::Parport | Line::Gpio(_) | Line::Serial(_) => check_loop(request),
    }
}

/// Takes the samples.
fn measure(line: Line, request: &Request<'_>, observer: &mut dyn Observer) -> Result<BenchResult, BenchError> {
    check(line, request)?;
    let wire = |doing: &'static str, wire: io::Result<Box<dyn Wire>>| wire.map_err(BenchError::system(doing));
    let wire = match line {
        Line::Hpet => return counter::measure(request, observer),
        Line::Parport => wire("cannot use the parallel port", boxed(Parport::claim()))?,
        Line::Gpio(pins) => wire("cannot use the GPIO lines", boxed(Loop::of(pins.unwrap_or(SIMULATED))))?,
        Line::Serial(port) => {
            let port = PathBuf::from(format!("/dev/ttyS{port}"));
            wire("cannot use the serial port", boxed(Serial::open(&port)))?
        }
    };
    let played = remote::play(Way::Wire(wire), request, request.priority, observer)?;
    Ok(BenchResult {
        samples: played.samples,
        details: Details::Irq(played.details),
        warnings: played.warnings,
    })
}

fn boxed(wire: io::Result<impl Wire + 'static>) -> io::Result<Box<dyn Wire>> {
    Ok(Box::new(wire?))
}

/// A setting that says to which CPUs the line's interrupt goes, where the line has an interrupt of its own.
pub fn affinity(line: Line) -> Option<io::Result<PathBuf>> {
    (line == Line::Parport).then(parport::affinity)
}

/// Sends the line's interrupt to one CPU, on a machine that is all ours: that of a timer which is not there yet goes where new
/// interrupts go.
pub fn send_interrupts_to(line: Line, cpu: u32) -> Result<(), BenchError> {
    const OF_NEW_ONES: &str = "/proc/irq/default_smp_affinity";
    let sent = match (line, affinity(line)) {
        (Line::Hpet, _) => fs::write(OF_NEW_ONES, format!("{:x}", 1_u64 << cpu)),
        (_, Some(path)) => path.and_then(|path| fs::write(path, cpu.to_string())),
        (_, None) => Ok(()),
    };
    sent.map_err(BenchError::system("cannot choose the CPU of the line's interrupt"))
}

fn check_loop(request: &Request<'_>) -> Result<(), BenchError> {
    if request.cpus.len() < 2 {
        return Err(BenchError::Limit(
            "irq has its pulses from another CPU, and there is one CPU only: give it two (lab: --cpus 2; host: --cpus 0,1)"
                .into(),
        ));
    }
    remote::check_rounds("irq", request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_logs::Nanos;

    #[test]
    fn one_cpu_is_not_enough() {
        let request = Request {
            repetitions: 1,
            start: Nanos(0),
            period: Nanos::from_millis(1),
            priority: 98,
            cpus: &[0],
            ..Request::default()
        };
        assert!(
            check(Line::Parport, &request)
                .unwrap_err()
                .to_string()
                .contains("--cpus 2")
        );
    }
}
