//! What one sees while this machine is measured: lines on standard error, or nothing in a pipe.

use crate::duration;
use crate::host::run::Watch;
use crate::report::format::micros_exact;
use std::io::IsTerminal;
use worstcase_host::HostSpec;
use worstcase_host::message::Message;
use worstcase_probe::Nanos;

/// A line a measurement.
pub struct Lines {
    shown: bool,
}

impl Lines {
    /// Lines on a terminal, nothing elsewhere.
    pub fn new() -> Lines {
        Lines {
            shown: std::io::stderr().is_terminal(),
        }
    }
}

impl Watch for Lines {
    fn note(&mut self, note: &str) {
        eprintln!("worstcase: {note}");
    }

    fn begin(&mut self, nth: usize, of: usize, spec: &HostSpec) {
        if self.shown {
            eprintln!(
                "{nth}/{of} {} under {}, {} CPUs, {}",
                spec.probe,
                spec.load,
                spec.cpus.len(),
                duration::show(spec.length())
            );
        }
    }

    fn message(&mut self, _spec: &HostSpec, message: &Message) {
        if let Message::Tick { elapsed, cpus, .. } = message
            && self.shown
        {
            let worst = cpus.iter().map(|c| c.max_ns).max().unwrap_or(0);
            eprint!("\r{} max {} us ", duration::show(*elapsed), micros_exact(Nanos(worst)));
        }
    }

    fn end(&mut self) {
        if self.shown {
            eprintln!();
        }
    }
}
