//! Progress as it is shown: a bar on a terminal, a line every ten seconds in a pipe, nothing with `--quiet`.

mod count;
mod pipe;

use count::ProgressCount;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use worstcase_base::format::{self, plain};
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_base::say;

/// Whether `--quiet` was given.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Shows no progress from now on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether no progress is shown.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// A boot takes as long as some cells; the estimate of the time left needs a common measure.
const BOOT_WEIGHT: u64 = 5;

/// Progress on standard error.
pub struct ProgressDisplay {
    target: ProgressTarget,
    counted: Arc<Mutex<ProgressCount>>,
}

enum ProgressTarget {
    Terminal(ProgressBar),
    Pipe,
    Nothing,
}

impl Default for ProgressDisplay {
    fn default() -> ProgressDisplay {
        ProgressDisplay::new()
    }
}

impl ProgressDisplay {
    /// A display on standard error.
    pub fn new() -> ProgressDisplay {
        let target = match (is_quiet(), std::io::stderr().is_terminal()) {
            (true, _) => ProgressTarget::Nothing,
            (false, true) => {
                ProgressTarget::Terminal(ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()))
            }
            (false, false) => ProgressTarget::Pipe,
        };
        ProgressDisplay::on(target)
    }

    fn on(target: ProgressTarget) -> ProgressDisplay {
        let counted = Arc::default();
        if let ProgressTarget::Pipe = target {
            pipe::tell(Arc::downgrade(&counted));
        }
        ProgressDisplay { target, counted }
    }

    /// Does something that writes to the terminal.
    pub(crate) fn suspended<T>(&self, what: impl FnOnce() -> T) -> T {
        match &self.target {
            ProgressTarget::Terminal(bar) => bar.suspend(what),
            ProgressTarget::Pipe | ProgressTarget::Nothing => what(),
        }
    }

    fn counted(&self) -> MutexGuard<'_, ProgressCount> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the place and the last line.
    fn show(&self, counted: &mut ProgressCount, last: &str) {
        counted.last = last.to_string();
        match &self.target {
            ProgressTarget::Terminal(bar) => {
                bar.set_position(counted.weight_done);
                bar.set_message(counted.message());
            }
            ProgressTarget::Pipe => {
                if let Some(line) = counted.line(Instant::now()) {
                    pipe::say(&line);
                }
            }
            ProgressTarget::Nothing => {}
        }
    }
}

impl Progress for ProgressDisplay {
    fn note(&self, text: &str) {
        self.line(&format!("note: {text}"));
    }

    fn line(&self, text: &str) {
        self.suspended(|| say!("worstcase: {}", plain(text)));
    }

    fn ahead(&self, text: &str) {
        if !matches!(self.target, ProgressTarget::Nothing) {
            self.line(text);
        }
    }

    fn begin(&self, work: &CountedWork<'_>) {
        let mut counted = self.counted();
        *counted = ProgressCount {
            units: work.units.to_string(),
            count: work.count,
            weight: work.preparations as u64 * BOOT_WEIGHT + work.count as u64,
            begun: Some(Instant::now()),
            ..ProgressCount::default()
        };
        if let ProgressTarget::Terminal(bar) = &self.target {
            let style = ProgressStyle::with_template("{bar:24} {elapsed} gone, {left}{wide_msg}");
            bar.set_style(style.expect("a constant template").with_key("left", time_left));
            bar.reset();
            bar.set_length(counted.weight);
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        let first = match work.preparations {
            0 => "beginning".to_string(),
            n => format!("booting {}", format::counted(n as u64, "subject")),
        };
        self.show(&mut counted, &first);
    }

    fn prepared(&self, what: &str) {
        let mut counted = self.counted();
        counted.weight_done += BOOT_WEIGHT;
        self.show(&mut counted, what);
    }

    fn done(&self, what: &str) {
        let mut counted = self.counted();
        counted.weight_done += 1;
        counted.done += 1;
        self.show(&mut counted, what);
    }

    fn state(&self, what: &str) {
        let mut counted = self.counted();
        if counted.begun.is_none() {
            counted.begun = Some(Instant::now());
            if let ProgressTarget::Terminal(bar) = &self.target {
                let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
                bar.set_style(style.expect("a constant template"));
                bar.enable_steady_tick(Duration::from_millis(250));
            }
        }
        self.show(&mut counted, what);
    }

    fn download(&self, what: &str, percent: f64) {
        let mut counted = self.counted();
        if counted.weight == 0 {
            *counted = ProgressCount {
                weight: 1_000,
                begun: Some(Instant::now()),
                ..ProgressCount::default()
            };
            if let ProgressTarget::Terminal(bar) = &self.target {
                let style = ProgressStyle::with_template("{spinner} {bar:30} {percent:>3} % {wide_msg}");
                bar.set_style(style.expect("a constant template"));
                bar.reset();
                bar.set_length(counted.weight);
            }
        }
        counted.weight_done = (percent * 10.0) as u64;
        self.show(&mut counted, what);
    }

    fn end(&self) {
        *self.counted() = ProgressCount::default();
        if let ProgressTarget::Terminal(bar) = &self.target {
            bar.finish_and_clear();
        }
    }
}

/// Without a finished unit there is no estimate.
fn time_left(state: &ProgressState, out: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        // A message that cannot be written is only not seen.
        let _ = write!(out, "{} left, ", HumanDuration(state.eta()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::InMemoryTerm;

    #[test]
    fn no_time_is_left_before_something_is_done() {
        let terminal = InMemoryTerm::new(5, 80);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let shown = ProgressDisplay::on(ProgressTarget::Terminal(ProgressBar::with_draw_target(None, target)));
        let contents = || {
            if let ProgressTarget::Terminal(bar) = &shown.target {
                bar.force_draw();
            }
            terminal.contents()
        };
        shown.begin(&CountedWork::cells(2));
        assert!(contents().ends_with("0s gone, 0/2 cells; beginning"), "{}", contents());
        shown.done("measured a");
        assert!(contents().contains(" left, 1/2 cells; measured a"), "{}", contents());
        shown.end();
        assert_eq!(terminal.contents(), "");
    }
}
