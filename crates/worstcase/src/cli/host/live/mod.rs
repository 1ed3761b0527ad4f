//! The live view of a measurement of this machine on a terminal.
//!
//! ```text
//! model      the state, from messages               terminal   raw mode and alternate screen, and back
//! draw       model -> screen: a pure function        screen     the thread that draws and reads keys
//! table, histogram    its parts                      looks      colours and characters
//! ```

mod draw;
#[cfg(test)]
pub(super) mod examples;
mod histogram;
mod looks;
mod model;
mod screen;
mod table;
mod terminal;
#[cfg(test)]
mod tests;

pub(crate) use terminal::is_usable;

use super::lines::ProgressLines;
use super::words;
use model::LiveModel;
use screen::Screen;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worstcase_base::say;
use worstcase_contract::Nanos;
use worstcase_host::HostSpec;
use worstcase_host::message::Message;
use worstcase_host::run::MeasurementObserver;

/// The whole screen; lines where there is none to be had.
pub(crate) struct LiveScreen {
    criterion: Option<Nanos>,
    stop: Arc<AtomicBool>,
    view: LiveView,
    /// The largest latency so far, and in which measurement.
    largest: (Nanos, String),
    /// Notes that came while nobody could have read them.
    notes: Vec<String>,
}

enum LiveView {
    Closed,
    Screen(Screen),
    Lines(ProgressLines),
}

impl LiveScreen {
    /// Opens with the first measurement. `stop` is set when the user wants an end.
    pub fn new(criterion: Option<Nanos>, stop: Arc<AtomicBool>) -> LiveScreen {
        LiveScreen {
            criterion,
            stop,
            view: LiveView::Closed,
            largest: (Nanos(0), String::new()),
            notes: Vec::new(),
        }
    }
}

impl MeasurementObserver for LiveScreen {
    fn note(&mut self, note: &str) {
        let line = format!("worstcase: {note}");
        match self.view {
            LiveView::Screen(_) => self.notes.push(line),
            _ => say!("{line}"),
        }
    }

    fn begin(&mut self, nth: usize, of: usize, spec: &HostSpec) {
        if matches!(self.view, LiveView::Closed) {
            self.view = match Screen::open(self.stop.clone()) {
                Ok(screen) => LiveView::Screen(screen),
                Err(e) => {
                    say!("worstcase: no live view on this terminal ({e})");
                    LiveView::Lines(ProgressLines::default())
                }
            };
        }
        match &mut self.view {
            LiveView::Screen(screen) => {
                let above = self.criterion.is_some_and(|limit| self.largest.0 > limit);
                let mut model = LiveModel::new(nth, of, spec.clone(), self.criterion);
                model.failed_already = above.then(|| self.largest.clone());
                screen.show(model);
            }
            LiveView::Lines(lines) => lines.begin(nth, of, spec),
            LiveView::Closed => {}
        }
    }

    fn message(&mut self, spec: &HostSpec, message: &Message) {
        if let Message::Tick { cpus, .. } = message
            && let Some(max) = cpus
                .iter()
                .map(|cpu| Nanos(cpu.max_ns))
                .max()
                .filter(|max| *max > self.largest.0)
        {
            self.largest = (max, words::title(spec));
        }
        match &mut self.view {
            LiveView::Screen(screen) => screen.change(|model| model.message(message)),
            LiveView::Lines(lines) => lines.message(spec, message),
            LiveView::Closed => {}
        }
    }

    fn end(&mut self) {
        if let LiveView::Lines(lines) = &mut self.view {
            lines.end();
        }
    }
}

impl Drop for LiveScreen {
    fn drop(&mut self) {
        self.view = LiveView::Closed;
        for note in &self.notes {
            say!("{note}");
        }
    }
}
