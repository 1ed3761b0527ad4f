//! `irq`: how long an interrupt takes to be answered by a process; by an oscilloscope's method, or by a counter.
//!
//! ```text
//! generator (another CPU)      sleeps until the round is due; before = clock; ends a strobe pulse: the edge out
//! process   (the probe's CPU)  waits for the parallel port's interrupt; writes a pulse back: the edge back; now = clock
//! ```
//! sample = now - before. The generator is not on the CPU that answers: its edge comes whatever runs there, also where the
//! kernel does not let go of the CPU.

mod counter;

use super::remote::{self, Way};
use super::{BenchError, BenchResult, Details, Line, Observer, Request};
use crate::sys::parport::Parport;
use crate::units::Nanos;

/// A pulse that nobody answers for so long never will be.
const PATIENCE: Nanos = Nanos::from_millis(1_000);

/// Refuses what this machine cannot do.
pub fn check(line: Line, request: &Request<'_>) -> Result<(), BenchError> {
    match line {
        Line::Parport => check_loop(request),
        Line::Hpet => counter::check(request),
    }
}

/// Takes the samples.
pub fn measure(line: Line, request: &Request<'_>, observer: &mut dyn Observer) -> Result<BenchResult, BenchError> {
    check(line, request)?;
    match line {
        Line::Parport => play(request, observer),
        Line::Hpet => counter::measure(request, observer),
    }
}

fn check_loop(request: &Request<'_>) -> Result<(), BenchError> {
    if request.cpus.len() < 2 {
        return Err(BenchError::Limit(
            "irq has its pulses from another CPU, and there is one CPU only: give it two (--cpus 2)".into(),
        ));
    }
    remote::check_rounds("irq", request)
}

fn play(request: &Request<'_>, observer: &mut dyn Observer) -> Result<BenchResult, BenchError> {
    let port = Parport::claim(request.cpus[0]).map_err(BenchError::system("cannot use the parallel port"))?;
    let played = remote::play(Way::Port(port, PATIENCE), request, observer)?;
    Ok(BenchResult {
        samples: played.samples,
        details: Details::Irq(played.details),
        warnings: played.warnings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cpu_is_not_enough() {
        let request = Request {
            repetitions: 1,
            start: Nanos(0),
            period: Nanos::from_millis(1),
            priority: 98,
            cpus: &[0],
        };
        assert!(
            check(Line::Parport, &request)
                .unwrap_err()
                .to_string()
                .contains("--cpus 2")
        );
    }
}
