//! The thread that draws and reads keys.

use super::draw;
use super::looks::TerminalLooks;
use super::model::LiveModel;
use super::terminal::{Frames, RawTerminal};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Position, Rect};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a key or a message may wait: the machine that draws is the one that is measured.
const LOOK: Duration = Duration::from_millis(200);

/// The open view.
pub(crate) struct Screen {
    shared: Arc<SharedModel>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct SharedModel {
    model: Mutex<Option<LiveModel>>,
    changed: AtomicBool,
    close: AtomicBool,
}

impl SharedModel {
    fn with<T>(&self, act: impl FnOnce(&mut Option<LiveModel>) -> T) -> T {
        act(&mut self.model.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Screen {
    /// Takes the terminal over.
    pub(crate) fn open(stop: Arc<AtomicBool>) -> io::Result<Screen> {
        let (taken, frames) = RawTerminal::take()?;
        let shared = Arc::new(SharedModel::default());
        let looks = TerminalLooks::of_environment();
        let seen = shared.clone();
        let body = move || {
            let ended = live(&taken, frames, looks, &seen, &stop);
            drop(taken);
            if let Err(e) = ended {
                // The measurement goes on; if this message cannot be written either, nothing is to be done.
                let _ = writeln!(
                    io::stderr(),
                    "worstcase: the live view failed: {e}; Ctrl-C ends the measurement"
                );
            }
        };
        let thread = std::thread::Builder::new().name("live view".into()).spawn(body)?;
        Ok(Screen {
            shared,
            thread: Some(thread),
        })
    }

    /// Another measurement.
    pub(crate) fn show(&self, model: LiveModel) {
        self.shared.with(|m| *m = Some(model));
        self.shared.changed.store(true, Ordering::Release);
    }

    /// News of the one that is shown.
    pub(crate) fn change(&self, act: impl FnOnce(&mut LiveModel)) {
        self.shared.with(|m| m.as_mut().map(act));
        self.shared.changed.store(true, Ordering::Release);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.shared.close.store(true, Ordering::Release);
        // A panic of the thread has been reported.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn live(
    taken: &RawTerminal,
    mut frames: Frames,
    looks: TerminalLooks,
    shared: &SharedModel,
    stop: &AtomicBool,
) -> io::Result<()> {
    let mut ending = false;
    while !shared.close.load(Ordering::Acquire) && !taken.is_lost() {
        let ends_now = stop.load(Ordering::Relaxed) && !ending;
        ending |= ends_now;
        if shared.changed.swap(false, Ordering::AcqRel) || ends_now {
            let model = shared.with(|m| m.clone());
            frames.draw(|frame| {
                if let Some(model) = &model {
                    draw::draw(model, ending, looks, frame.area(), frame.buffer_mut());
                }
            })?;
        }
        if event::poll(LOOK)? {
            match wish(&event::read()?) {
                Some(Wish::End) => stop.store(true, Ordering::Relaxed),
                Some(Wish::Redraw) => {
                    // Not `clear`: it asks the terminal for its cursor, and does so on standard output.
                    let size = frames.size()?;
                    frames.resize(Rect::from((Position::ORIGIN, size)))?;
                    shared.changed.store(true, Ordering::Release);
                }
                None => {}
            }
        }
    }
    Ok(())
}

/// The user's wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    End,
    Redraw,
}

fn wish(event: &Event) -> Option<Wish> {
    let key = match event {
        Event::Resize(..) => return Some(Wish::Redraw),
        Event::Key(key) if key.kind != KeyEventKind::Release => key,
        _ => return None,
    };
    match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
        (KeyCode::Char('c'), true) | (KeyCode::Char('q' | 'Q'), false) => Some(Wish::End),
        (KeyCode::Char('l'), true) => Some(Wish::Redraw),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::crossterm::event::KeyEvent;

    #[test]
    fn keys() {
        let key = |code, modifiers| wish(&Event::Key(KeyEvent::new(code, modifiers)));
        assert_eq!(key(KeyCode::Char('q'), KeyModifiers::NONE), Some(Wish::End));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Wish::End));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::NONE), None);
        assert_eq!(key(KeyCode::Char('l'), KeyModifiers::CONTROL), Some(Wish::Redraw));
        assert_eq!(wish(&Event::Resize(1, 1)), Some(Wish::Redraw));
    }
}
