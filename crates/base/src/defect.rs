//! A panic is a defect of this program: it is told in one line, and ends it with an exit code of its own.

use crate::Exit;
use crate::format::plain;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// A panic here and now is an answer, not a defect.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs the program; after a panic, of whichever thread, it is over.
pub fn told<T>(program: impl FnOnce() -> T) -> Result<T, Exit> {
    panic::set_hook(Box::new(tell));
    panic::catch_unwind(AssertUnwindSafe(program)).map_err(|_| Exit::Defect)
}

/// Runs code of others that may end by a panic on what somebody crafted; that it did is the error, and nothing is told.
pub fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, Panicked> {
    let outer = GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(outer);
    result.map_err(|_| Panicked)
}

/// It ended by a panic.
#[derive(Debug)]
pub struct Panicked;

/// Where it happened, why, and what to do.
fn line(message: &str, place: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let (message, place) = (plain(message), plain(place));
    format!(
        "worstcase: defect in worstcase {version} at {place}: {message}; please report it with this line and the command"
    )
}

fn tell(panic: &PanicHookInfo<'_>) {
    /// The first one is the cause of those that follow it in other threads.
    static TOLD: AtomicBool = AtomicBool::new(false);
    if GUARDED.get() || TOLD.swap(true, Ordering::Relaxed) {
        return;
    }
    let message = panic.payload_as_str().unwrap_or("no reason given");
    let place = panic.location().map_or("an unknown place".into(), ToString::to_string);
    eprintln!("{}", line(message, &place));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_whatever_the_message_holds() {
        let told = line("index 3\nof 2\x1b[2J", "src/a.rs:1:2");
        assert_eq!(told.lines().count(), 1);
        assert!(
            told.contains("at src/a.rs:1:2: index 3\u{fffd}of 2\u{fffd}[2J; please report"),
            "{told}"
        );
    }

    #[test]
    fn who_guards_gets_an_error() {
        assert!(guarded(|| panic!("of others")).is_err());
        assert_eq!(guarded(|| 7).unwrap(), 7);
        assert!(!GUARDED.get());
    }
}
