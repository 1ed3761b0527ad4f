//! Ctrl-C, SIGTERM and SIGHUP are answered in words at once, and the exit code is 130.
//!
//! Where nothing has to be put back the process ends at once: whatever it writes survives that, and what is half-made is
//! removed ([`interrupt`]). Where a measurement has to be ended in order ([`in_order`]), the first signal asks for that, and the
//! second ends at once.

use crate::cli::error::Error;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use worstcase_base::ExitKind;
use worstcase_base::format::shell;
use worstcase_base::interrupt::{self, LastWork};
use worstcase_base::say;
use worstcase_results::record::{CompletedCells, Run};

/// How a measurement is ended in order, once one has begun.
static IN_ORDER: Mutex<Option<OrderlyEnd>> = Mutex::new(None);

struct OrderlyEnd {
    /// Becomes true when the user wants an end.
    stop: Arc<AtomicBool>,
    /// What is done then; nothing where a screen says it.
    words: Option<&'static str>,
}

/// Listens to signals from now on.
pub(crate) fn listen() -> Result<(), Error> {
    // A program that was started by nohup goes on when its terminal is gone.
    let signals = [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|signal| *signal != SIGHUP || !is_ignored(SIGHUP));
    let mut signals = Signals::new(signals).map_err(Error::Signals)?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            answer();
        }
    });
    Ok(())
}

fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

fn answer() {
    let in_order = IN_ORDER.lock().unwrap_or_else(PoisonError::into_inner);
    match &*in_order {
        Some(end) if !end.stop.swap(true, Ordering::Relaxed) => {
            if let Some(words) = end.words {
                say(&format!("interrupted: {words}; again to end at once"));
            }
        }
        _ => {
            say("interrupted");
            interrupt::end()
        }
    }
}

/// A line, below what a terminal shows of Ctrl-C or of a progress bar.
fn say(line: &str) {
    let begin = if std::io::stderr().is_terminal() { "\n" } else { "" };
    say!("{begin}worstcase: {line}");
}

/// From now on a signal asks for an orderly end by the value that is given; `words` say what is done then.
pub(crate) fn in_order(words: impl Into<Option<&'static str>>) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    *IN_ORDER.lock().unwrap_or_else(PoisonError::into_inner) = Some(OrderlyEnd {
        stop: stop.clone(),
        words: words.into(),
    });
    stop
}

/// Whether an orderly end was asked for.
pub(crate) fn is_asked() -> bool {
    let in_order = IN_ORDER.lock().unwrap_or_else(PoisonError::into_inner);
    in_order.as_ref().is_some_and(|end| end.stop.load(Ordering::Relaxed))
}

/// Tells, when a signal ends the process, how much of a run is kept.
pub(crate) fn tells_what_is_kept(run: &Run) -> LastWork {
    let (cells, of) = (run.cell_dirs(), run.plan().cells.len());
    let (begin, go_on) = (shell(&run.command()), shell(&run.to_go_on()));
    LastWork::new(move || {
        let is_measured = |entry: &std::fs::DirEntry| !entry.file_name().to_string_lossy().starts_with('.');
        let kept = std::fs::read_dir(cells).map_or(0, |entries| entries.flatten().filter(is_measured).count());
        let command = if kept == 0 { begin } else { go_on };
        say!("worstcase: {}", kept_of(kept, of, &command));
    })
}

fn kept_of(kept: usize, of: usize, command: &str) -> String {
    format!("{kept} of {of} measurements are kept; to go on: {command}")
}

/// Prints how many measurements the run had before and, after an early end, how many it has now.
pub fn tell(outcome: CompletedCells, run: &Run) {
    let CompletedCells { before, measured, of } = outcome;
    let dir = run.dir().display();
    match before {
        0 => {}
        before if before == of => say!("worstcase: {dir} had every measurement already: nothing was measured"),
        before => say!("worstcase: {dir} had {before} of {of} measurements already"),
    }
    if measured < of {
        let command = if measured == 0 { run.command() } else { run.to_go_on() };
        say!("worstcase: ended early, {}", kept_of(measured, of, &shell(&command)));
    }
}

/// The exit code of a run, of which all was measured or less.
pub(crate) fn code(outcome: CompletedCells, whole: ExitCode) -> ExitCode {
    match outcome.measured < outcome.of {
        true => interrupted(),
        false => whole,
    }
}

/// The exit code of what was ended early.
pub(crate) fn interrupted() -> ExitCode {
    ExitCode::from(ExitKind::Interrupted as u8)
}
