//! A measurement as plain lines on standard error.

use super::words;
use worstcase_base::format::{grouped, micros_exact};
use worstcase_base::say;
use worstcase_contract::Nanos;
use worstcase_contract::Probe;
use worstcase_host::HostSpec;
use worstcase_host::message::{CpuStats, Message};
use worstcase_host::run::MeasurementObserver;

/// Between two lines of one measurement.
const EVERY: Nanos = Nanos(10_000_000_000);

/// Shows only the necessary messages.
pub(crate) struct Quiet;

impl MeasurementObserver for Quiet {
    fn note(&mut self, note: &str) {
        say!("worstcase: {note}");
    }
}

/// A line when a measurement begins, one every ten seconds, one at its end.
#[derive(Debug, Default)]
pub(crate) struct ProgressLines {
    /// When the next line is due.
    next: Nanos,
    latest: Option<String>,
}

impl ProgressLines {
    /// The line that a message is worth now.
    fn line(&mut self, spec: &HostSpec, message: &Message) -> Option<String> {
        let Message::Tick { elapsed, cpus, .. } = message else {
            return None;
        };
        let line = progress(spec, *elapsed, cpus);
        self.latest = Some(line.clone());
        if *elapsed < self.next {
            return None;
        }
        self.next = Nanos((elapsed.0 / EVERY.0 + 1) * EVERY.0);
        Some(line)
    }
}

impl MeasurementObserver for ProgressLines {
    fn note(&mut self, note: &str) {
        Quiet.note(note);
    }

    fn begin(&mut self, nth: usize, of: usize, spec: &HostSpec) {
        (self.next, self.latest) = (EVERY, None);
        let (title, method) = (words::title(spec), words::method(spec));
        say!("{nth}/{of} {title}: {method}, for {}", words::amount(spec));
    }

    fn message(&mut self, spec: &HostSpec, message: &Message) {
        if let Some(line) = self.line(spec, message) {
            say!("  {line}");
        }
    }

    fn end(&mut self) {
        if let Some(line) = self.latest.take() {
            say!("  ended at {line}");
        }
    }
}

fn progress(spec: &HostSpec, elapsed: Nanos, cpus: &[CpuStats]) -> String {
    let taken = grouped(cpus.iter().map(|c| c.taken).sum());
    let max = micros_exact(Nanos(cpus.iter().map(|c| c.max_ns).max().unwrap_or(0)));
    let time = words::clock(elapsed);
    let lost = match cpus.iter().map(|c| c.lost).sum() {
        0 => String::new(),
        lost => format!(", {} lost", grouped(lost)),
    };
    match spec.probe {
        Probe::Noise => format!("{time}: {taken} gaps, max single {max} us{lost}"),
        _ => {
            let missed = grouped(cpus.iter().map(|c| c.missed).sum());
            format!("{time}: {taken} taken, max {max} us, {missed} missed{lost}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::host::live::examples;

    #[test]
    fn a_line_every_ten_seconds() {
        let spec = examples::spec(Probe::Wakeup, 1);
        let mut lines = ProgressLines {
            next: EVERY,
            latest: None,
        };
        let seconds = [1, 9, 10, 11, 19, 35, 36, 40];
        let said: Vec<u64> = seconds
            .into_iter()
            .filter(|s| {
                let tick = examples::tick(&spec, Nanos(s * 1_000_000_000));
                lines.line(&spec, &tick).is_some()
            })
            .collect();
        assert_eq!(said, [10, 35, 40]);
        assert!(lines.latest.is_some_and(|line| line.starts_with("0:40: ")));
    }

    #[test]
    fn gaps_and_samples() {
        let mut cpu = CpuStats::default();
        for (index, ns) in [(0, 5_000), (3, 90_412)] {
            cpu.add(index, ns);
        }
        cpu.missed = 2;
        let line = |probe, cpu: &CpuStats| {
            progress(
                &examples::spec(probe, 1),
                Nanos(65_000_000_000),
                std::slice::from_ref(cpu),
            )
        };
        assert_eq!(line(Probe::Wakeup, &cpu), "1:05: 2 taken, max 90.412 us, 2 missed");
        assert_eq!(line(Probe::Noise, &cpu), "1:05: 2 gaps, max single 90.412 us");
        cpu.lost = 7;
        assert_eq!(
            line(Probe::Wakeup, &cpu),
            "1:05: 2 taken, max 90.412 us, 2 missed, 7 lost"
        );
    }
}
