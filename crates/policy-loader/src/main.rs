//! `worstcase-policy OBJECT` makes OBJECT, a compiled sched_ext scheduler, the scheduler of this machine for as long as
//! its standard input is open, and answers for its counters. Lines of text on both sides:
//!
//! ```text
//! -> (starts)        attached NAME                        the scheduler decides from now on
//!                    failed TEXT                          and exit code 1: why not, in one line
//! -> counters        counters NAME=VALUE NAME=VALUE ...   sums over the object's global variable `counters`
//! -> (end of file)   (exits with 0)                       the kernel's own scheduler decides again
//! ```
//!
//! Between two lines it sleeps, with its memory locked. It asks the kernel to run it as SCHED_FIFO, so that it answers
//! even under a scheduler that never chooses it; where that is not allowed it goes on without.

mod counters;
mod enums;
mod kernel;
mod log;
mod object;
mod sys;

use std::io::{BufRead, Write};

/// Why a scheduler cannot be attached, in words for whoever started us: one line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct LoaderError(String);

impl LoaderError {
    fn new(what: impl std::fmt::Display) -> Self {
        LoaderError(what.to_string().trim().replace('\n', " | "))
    }
}

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path] = arguments.as_slice() else {
        eprintln!("usage: worstcase-policy OBJECT");
        return 2.into();
    };
    match serve(path) {
        Ok(()) => 0.into(),
        Err(error) => {
            say(&format!("failed {error}"));
            1.into()
        }
    }
}

fn serve(path: &str) -> Result<(), LoaderError> {
    kernel::can_load()?;
    let scheduler = object::attach(path.as_ref())?;
    sys::stand_apart();
    say(&format!("attached {}", scheduler.name));
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match line.trim() {
            "counters" => {
                let mut words = vec!["counters".to_string()];
                words.extend(
                    scheduler
                        .counters()?
                        .iter()
                        .map(|(name, value)| format!("{name}={value}")),
                );
                say(&words.join(" "));
            }
            other => say(&format!("failed unknown command '{other}'; there is: counters")),
        }
    }
    Ok(())
}

/// Whoever listens may be gone; then standard input ends next, and that is answered as always.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
