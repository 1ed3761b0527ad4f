//! `worstcase host restore`: undoes the changes that killed commands left.

use crate::cli::error::Error;
use crate::cli::output::print;
use std::fmt::Write;
use std::process::ExitCode;
use worstcase_base::say;
use worstcase_host::HostError;
use worstcase_host::restore::Restored;

/// Prints the changes that were undone on standard output; an error if one could not be.
pub fn run(restored: &Restored) -> Result<ExitCode, Error> {
    let text = describe(restored);
    print(if text.is_empty() { "nothing to restore\n" } else { &text })?;
    match restored.failed() {
        0 => Ok(ExitCode::SUCCESS),
        count => Err(HostError::NotRestored { count }.into()),
    }
}

/// Says on standard error what another command undid before its own work; nothing, usually.
pub(crate) fn note(restored: &Restored) {
    for line in describe_left_over(restored).lines() {
        say!("worstcase: {line}");
    }
}

fn describe(restored: &Restored) -> String {
    let mut text = describe_left_over(restored);
    for owner in &restored.living {
        let (command, pid) = (&owner.command, owner.pid);
        let _ = writeln!(
            text,
            "{command} (process {pid}) is running, or its guard is at work: left alone"
        );
    }
    text
}

fn describe_left_over(restored: &Restored) -> String {
    let mut text = String::new();
    for (owner, undone) in &restored.left_over {
        let (command, pid) = (&owner.command, owner.pid);
        let _ = match undone.len() {
            0 => writeln!(text, "{command} (process {pid}) was killed and left nothing"),
            _ => writeln!(text, "{command} (process {pid}) was killed; undone now:"),
        };
        for change in undone {
            let _ = writeln!(text, "  {change}");
        }
    }
    text
}
