//! The terminal: taken over on standard error, and given back on every way out.

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::crossterm::{cursor, execute};
use std::io::{self, BufWriter, IsTerminal, Stderr};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// A frame is one write.
const FRAME: usize = 1 << 16;

/// Somebody looks at standard error, and it can do more than lines. A job in the background is not stopped for it.
pub(crate) fn is_usable() -> bool {
    let name = std::env::var_os("TERM").unwrap_or_default();
    let foreground = || rustix::termios::tcgetpgrp(io::stderr()).is_ok_and(|group| group == rustix::process::getpgrp());
    io::stderr().is_terminal() && !name.is_empty() && name != "dumb" && foreground()
}

/// The terminal is ours.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal to which frames go.
pub(crate) type Frames = Terminal<CrosstermBackend<BufWriter<Stderr>>>;

/// Gives the terminal back when it is dropped.
pub(crate) struct RawTerminal(());

impl RawTerminal {
    /// Takes it.
    pub(crate) fn take() -> io::Result<(RawTerminal, Frames)> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let taken = RawTerminal(());
        execute!(io::stderr(), EnterAlternateScreen, cursor::Hide)?;
        let frames = Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(FRAME, io::stderr())))?;
        Ok((taken, frames))
    }

    /// A panic elsewhere gave it back already.
    pub(crate) fn is_lost(&self) -> bool {
        !TAKEN.load(Ordering::SeqCst)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        give_back();
    }
}

fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // A terminal that is gone needs nothing back.
        let _ = execute!(io::stderr(), LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}
