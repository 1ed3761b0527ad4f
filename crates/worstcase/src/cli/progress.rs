//! Progress of a matrix on a terminal; nothing in a pipe.

use crate::lab::matrix::Progress;
use crate::record::CellId;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A bar on standard error: what is done, how long it will take.
pub struct Bar {
    bar: ProgressBar,
}

/// A boot takes as long as some cells; the estimate of the time left needs a common measure.
const BOOT_WEIGHT: u64 = 4;

impl Bar {
    /// A bar that shows itself only on a terminal.
    pub fn new() -> Bar {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Bar {
            bar: ProgressBar::with_draw_target(None, target),
        }
    }

    /// Takes the bar off the terminal.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn begin(&self, boots: usize, cells: usize) {
        let style = ProgressStyle::with_template("{bar:24} {percent:>3}%  {elapsed} gone, {eta} left  {msg}");
        self.bar.set_style(style.expect("a constant template"));
        self.bar.set_length(boots as u64 * BOOT_WEIGHT + cells as u64);
        self.bar
            .set_message(format!("booting {boots} subjects for {cells} cells"));
        self.bar.enable_steady_tick(Duration::from_millis(250));
    }

    fn booted(&self, subject: &str) {
        self.bar.inc(BOOT_WEIGHT);
        self.bar.set_message(format!("booted {subject}"));
    }

    fn measured(&self, cell: &CellId) {
        self.bar.inc(1);
        self.bar.set_message(format!("measured {cell}"));
    }
}
