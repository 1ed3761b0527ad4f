//! Progress on a terminal, nothing in a pipe: of a matrix, of a command without cells, of what kernels need.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use worstcase_base::format::plain;
use worstcase_kernels::Observer;
use worstcase_results::record::{CellId, Progress};

/// A bar on standard error: cells done, time left.
pub struct Bar {
    bar: ProgressBar,
    done: AtomicUsize,
    cells: AtomicUsize,
}

/// A boot takes as long as some cells; the estimate of the time left needs a common measure.
const BOOT_WEIGHT: u64 = 5;

impl Bar {
    /// A bar that shows itself only on a terminal.
    pub fn new() -> Bar {
        Bar::on(match std::io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        })
    }

    fn on(target: ProgressDrawTarget) -> Bar {
        Bar {
            bar: ProgressBar::with_draw_target(None, target),
            done: AtomicUsize::new(0),
            cells: AtomicUsize::new(0),
        }
    }

    /// Takes the bar off the terminal.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Does something that writes to the terminal.
    pub fn suspended<T>(&self, what: impl FnOnce() -> T) -> T {
        self.bar.suspend(what)
    }

    fn say(&self, last: &str) {
        let (done, cells) = (self.done.load(Ordering::Relaxed), self.cells.load(Ordering::Relaxed));
        self.bar.set_message(format!("{done}/{cells} cells; {last}"));
    }
}

impl Progress for Bar {
    fn begin(&self, boots: usize, cells: usize) {
        let style = ProgressStyle::with_template("{bar:24} {elapsed} gone, {left}{wide_msg}");
        self.bar
            .set_style(style.expect("a constant template").with_key("left", time_left));
        self.bar.set_length(boots as u64 * BOOT_WEIGHT + cells as u64);
        self.cells.store(cells, Ordering::Relaxed);
        self.say(&if boots > 0 {
            format!("booting {boots} subjects")
        } else {
            "measuring".into()
        });
        self.bar.enable_steady_tick(Duration::from_millis(250));
    }

    fn prepared(&self, subject: &str) {
        self.bar.inc(BOOT_WEIGHT);
        self.say(&format!("booted {subject}"));
    }

    fn measured(&self, cell: &CellId) {
        self.bar.inc(1);
        self.done.fetch_add(1, Ordering::Relaxed);
        self.say(&format!("measured {}", cell));
    }

    fn state(&self, what: &str) {
        self.say(what);
    }
}

/// Nothing can be said before something is done.
fn time_left(state: &ProgressState, out: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        // A message that cannot be written is only not seen.
        let _ = write!(out, "{} left, ", HumanDuration(state.eta()));
    }
}

/// What a command does that has no cells to count, on standard error.
pub struct Steps(ProgressBar);

impl Steps {
    /// Shown only on a terminal.
    pub fn new() -> Steps {
        let target = match std::io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}").expect("a constant template"));
        bar.enable_steady_tick(Duration::from_millis(250));
        Steps(bar)
    }

    /// What is done now.
    pub fn say(&self, what: &str) {
        self.0.set_message(plain(what));
    }

    /// Takes it off the terminal.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// Notes go to standard error; progress does so on a terminal only.
#[derive(Default)]
pub struct Terminal {
    bar: Mutex<Option<ProgressBar>>,
}

impl Observer for Terminal {
    fn note(&self, text: &str) {
        eprintln!("worstcase: note: {}", plain(text));
    }

    fn progress(&self, what: &str, percent: f64) {
        if !std::io::stderr().is_terminal() {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(|e| e.into_inner());
        let bar = bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {bar:30} {percent:>3} % {wide_msg}");
            ProgressBar::new(1000).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_message(plain(what));
        bar.set_position((percent * 10.0) as u64);
    }

    fn done(&self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(|e| e.into_inner()).take() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::InMemoryTerm;

    #[test]
    fn no_time_is_left_before_something_is_done() {
        let terminal = InMemoryTerm::new(5, 80);
        let bar = Bar::on(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        let shown = || {
            bar.bar.force_draw();
            terminal.contents()
        };
        bar.begin(0, 2);
        assert!(shown().ends_with("0s gone, 0/2 cells; measuring"), "{}", shown());
        bar.measured(&CellId::try_from("a".to_string()).unwrap());
        assert!(shown().contains(" left, 1/2 cells; measured a"), "{}", shown());
        bar.finish();
        assert_eq!(terminal.contents(), "");
    }
}
