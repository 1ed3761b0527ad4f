//! What one sees on a terminal while this machine is measured.
//!
//! ```text
//! model      what is known, from messages            terminal   raw mode and alternate screen, and back
//! draw       model -> screen: a pure function        screen     the thread that draws and reads keys
//! table, histogram    its parts                      words      numbers and names as shown
//! ```

mod draw;
#[cfg(test)]
pub(super) mod examples;
mod histogram;
mod model;
mod screen;
mod table;
mod terminal;
#[cfg(test)]
mod tests;
pub(super) mod words;

pub use terminal::is_usable;

use super::lines::Lines;
use model::Model;
use screen::Screen;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worstcase_contract::Nanos;
use worstcase_host::HostSpec;
use worstcase_host::message::Message;
use worstcase_host::run::MeasurementObserver;

/// The whole screen; lines where there is none to be had.
pub struct Live {
    criterion: Option<Nanos>,
    stop: Arc<AtomicBool>,
    view: View,
    /// What was to be said while nobody could have read it.
    notes: Vec<String>,
}

enum View {
    Closed,
    Screen(Screen),
    Lines(Lines),
}

impl Live {
    /// Opens with the first measurement. `stop` is set when the user wants an end.
    pub fn new(criterion: Option<Nanos>, stop: Arc<AtomicBool>) -> Live {
        Live {
            criterion,
            stop,
            view: View::Closed,
            notes: Vec::new(),
        }
    }
}

impl MeasurementObserver for Live {
    fn note(&mut self, note: &str) {
        let line = format!("worstcase: {note}");
        match self.view {
            View::Screen(_) => self.notes.push(line),
            _ => eprintln!("{line}"),
        }
    }

    fn begin(&mut self, nth: usize, of: usize, spec: &HostSpec) {
        if matches!(self.view, View::Closed) {
            self.view = match Screen::open(self.stop.clone()) {
                Ok(screen) => View::Screen(screen),
                Err(e) => {
                    eprintln!("worstcase: no live view on this terminal ({e})");
                    View::Lines(Lines::default())
                }
            };
        }
        match &mut self.view {
            View::Screen(screen) => screen.show(Model::new(nth, of, spec.clone(), self.criterion)),
            View::Lines(lines) => lines.begin(nth, of, spec),
            View::Closed => {}
        }
    }

    fn message(&mut self, spec: &HostSpec, message: &Message) {
        match &mut self.view {
            View::Screen(screen) => screen.change(|model| model.message(message)),
            View::Lines(lines) => lines.message(spec, message),
            View::Closed => {}
        }
    }

    fn end(&mut self) {
        if let View::Lines(lines) = &mut self.view {
            lines.end();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.view = View::Closed;
        for note in &self.notes {
            eprintln!("{note}");
        }
    }
}
