//! A panic is a defect of this program: one line reports it, and the process ends with an exit code for that.

use crate::ExitKind;
use crate::format::plain;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

thread_local! {
    /// Whether a panic of this thread is an answer of [`guarded`], and no defect.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs the program; a panic of any thread ends it.
pub fn run_reporting_panics<T>(program: impl FnOnce() -> T) -> Result<T, ExitKind> {
    panic::set_hook(Box::new(tell));
    panic::catch_unwind(AssertUnwindSafe(program)).map_err(|_| ExitKind::Defect)
}

/// Runs code of others that may panic on crafted input. The panic becomes the error, and nothing is printed.
pub fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, Panicked> {
    let outer = GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(outer);
    result.map_err(|_| Panicked)
}

/// The code ended by a panic.
#[derive(Debug)]
pub struct Panicked;

/// Like [`guarded`], with a limit on the thread's CPU time, so that a busy machine does not matter. After the limit the
/// thread goes on until the process ends, because nothing can stop it.
pub fn guarded_for<T: Send + 'static>(limit: Duration, read: impl FnOnce() -> T + Send + 'static) -> Result<T, Broken> {
    let (sender, receiver) = channel();
    let (tell_thread, thread) = channel();
    std::thread::spawn(move || {
        // After the limit nobody receives any more.
        let _ = tell_thread.send(rustix::thread::gettid());
        let _ = sender.send(guarded(read));
    });
    let mut known = None;
    let mut computed = || {
        known = known.or_else(|| thread.try_recv().ok());
        let path = format!("/proc/self/task/{}/schedstat", known?.as_raw_nonzero());
        let text = std::fs::read_to_string(path).ok()?;
        Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
    };
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(result) => return result.map_err(|Panicked| Broken::Panicked),
            Err(RecvTimeoutError::Disconnected) => return Err(Broken::Panicked),
            Err(RecvTimeoutError::Timeout) if computed().is_some_and(|time| time > limit) => {
                return Err(Broken::TooLong);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// How often the thread's CPU time is read.
const LOOK: Duration = Duration::from_millis(50);

/// Why there is no result.
#[derive(Debug, PartialEq, Eq)]
pub enum Broken {
    /// The code ended by a panic.
    Panicked,
    /// The code computed too long.
    TooLong,
}

/// Where it happened, why, and what to do.
fn line(message: &str, place: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let (message, place) = (plain(message), plain(place));
    format!(
        "worstcase: defect in worstcase {version} at {place}: {message}; please report it with this line and the command"
    )
}

fn tell(panic: &PanicHookInfo<'_>) {
    /// Only the first panic is printed: it causes the others in other threads.
    static TOLD: AtomicBool = AtomicBool::new(false);
    if GUARDED.get() || TOLD.swap(true, Ordering::Relaxed) {
        return;
    }
    let message = panic.payload_as_str().unwrap_or("no reason given");
    let place = panic.location().map_or("an unknown place".into(), ToString::to_string);
    crate::say!("{}", line(message, &place));
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

    #[test]
    fn who_computes_too_long_is_given_up_and_who_only_waits_is_not() {
        let ample = Duration::from_secs(60);
        assert_eq!(guarded_for(ample, || 7), Ok(7));
        let panics = || panic!("of others");
        assert_eq!(guarded_for::<()>(ample, panics), Err(Broken::Panicked));
        let limit = Duration::from_millis(500);
        let waits = || std::thread::sleep(Duration::from_secs(1));
        assert_eq!(guarded_for(limit, waits), Ok(()));
        let stop = std::sync::Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let computes = move || while !stopped.load(Ordering::Relaxed) {};
        assert_eq!(guarded_for(limit, computes), Err(Broken::TooLong));
        stop.store(true, Ordering::Relaxed);
    }
}
