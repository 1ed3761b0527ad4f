//! `irq`: how long an interrupt takes to be answered by a process; by an oscilloscope's method, or by a counter.
//!
//! ```text
//! generator (another CPU)      sleeps until the round is due; before = clock; ends a strobe pulse: the edge out
//! process   (the probe's CPU)  waits for the parallel port's interrupt; writes a pulse back: the edge back; now = clock
//! ```
//! sample = now - before. The generator is not on the CPU that answers: its edge comes whatever runs there, also where the
//! kernel does not let go of the CPU.

mod counter;
mod line;
mod wires;

pub use line::{Line, Pins};

use crate::sys::parport::{self, Parport};
use crate::sys::serial::Serial;
use std::fs;
use std::io;
use std::path::PathBuf;
use wires::Loop;
use worstcase_instruments::bench::{
    BenchError, BenchResult, Instrumented, Observer, RemoteDetails, Request, Wire, check_rounds, play_on_wire,
};

/// The simulated chip of the lab's machine is its only one.
const SIMULATED: Pins = Pins {
    chip: 0,
    output: 0,
    input: 1,
};

impl Instrumented for Line {
    type Details = RemoteDetails;

    fn has_helpers(&self) -> bool {
        matches!(self, Line::Parport | Line::Gpio(_) | Line::Serial(_))
    }

    fn check(&self, request: &Request<'_>) -> Result<(), BenchError> {
        check(*self, request)
    }

    fn measure(
        &self,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BenchResult<RemoteDetails>, BenchError> {
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
fn measure(
    line: Line,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<RemoteDetails>, BenchError> {
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
    play_on_wire(wire, request, observer)
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
    check_rounds("irq", request)
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
