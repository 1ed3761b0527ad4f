//! Undoes the entries of a journal, in reverse order. Undoing twice, or after another process, does nothing.

use super::entry::JournalEntry;
use super::{processes, value};
use crate::loads::Traces;
use crate::trace::tracefs;
use serde::Serialize;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use worstcase_base::format::shell;
use worstcase_instruments::processes::Identity;
use worstcase_instruments::sys::sched::Policy;

/// The result of undoing one change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// The setting, or what was made.
    pub what: String,
    /// How it was undone.
    pub outcome: UndoResult,
}

/// How undoing a change went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoResult {
    /// The setting has its old value again.
    Restored {
        /// The value that was replaced.
        from: String,
        /// The old value.
        to: String,
    },
    /// A command took it back.
    Ran {
        /// That command.
        command: String,
    },
    /// Removed, with all processes or files in it.
    Removed,
    /// The value is neither the old one nor ours, so another program has set it: left alone.
    Foreign {
        /// The value now.
        now: String,
    },
    /// The change could not be undone.
    Failed {
        /// The system's answer.
        why: String,
    },
}

/// How many of these changes could not be undone.
pub fn failures<'a>(undone: impl IntoIterator<Item = &'a Undone>) -> usize {
    let is_failed = |u: &&Undone| matches!(u.outcome, UndoResult::Failed { .. });
    undone.into_iter().filter(is_failed).count()
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = &self.what;
        match &self.outcome {
            UndoResult::Restored { from, to } => write!(f, "{what}: {to} again (was {from})"),
            UndoResult::Ran { command } => write!(f, "{what}: taken back by {command}"),
            UndoResult::Removed => write!(f, "{what}: removed"),
            UndoResult::Foreign { now } => write!(f, "{what}: left alone, somebody has set it to {now} since"),
            UndoResult::Failed { why } => write!(f, "{what}: {why}"),
        }
    }
}

/// Undoes `entries`; also returns those that failed. An entry with nothing to undo has no result.
pub(super) fn all(entries: &[JournalEntry], same_boot: bool) -> (Vec<Undone>, Vec<JournalEntry>) {
    let mut undone = Vec::new();
    let mut left = Vec::new();
    // Processes first, because they would go on using the rest.
    for kills in [true, false] {
        for (index, entry) in entries.iter().enumerate().rev() {
            if entry.kills() != kills || !(same_boot || entry.outlives_a_boot()) {
                continue;
            }
            let reads = entries[index + 1..].iter().find_map(|later| entry.reads(later));
            let (what, done) = entry.undo(reads);
            let outcome = done.unwrap_or_else(|e| Some(UndoResult::Failed { why: e.to_string() }));
            if matches!(outcome, Some(UndoResult::Failed { .. })) {
                left.insert(0, entry.clone());
            }
            undone.extend(outcome.map(|outcome| Undone { what, outcome }));
        }
    }
    (undone, left)
}

impl JournalEntry {
    fn kills(&self) -> bool {
        matches!(self, JournalEntry::Group { .. })
    }

    fn outlives_a_boot(&self) -> bool {
        matches!(self, JournalEntry::Loads { .. })
    }

    /// What this setting read after it was set, if `later` is that entry.
    fn reads<'a>(&self, later: &'a JournalEntry) -> Option<&'a str> {
        match (self, later) {
            (JournalEntry::Value { path, .. }, JournalEntry::Reads { path: same, now }) if path == same => Some(now),
            _ => None,
        }
    }

    fn undo(&self, reads: Option<&str>) -> (String, io::Result<Option<UndoResult>>) {
        let removed = |there: bool| there.then_some(UndoResult::Removed);
        match self {
            JournalEntry::Value { path, before, .. } => (path.display().to_string(), undo_value(path, before, reads)),
            JournalEntry::Scheduling {
                thread,
                pid,
                started,
                before,
                set,
            } => (
                thread.clone(),
                undo_scheduling(
                    Identity {
                        pid: *pid,
                        start: *started,
                    },
                    *before,
                    *set,
                ),
            ),
            JournalEntry::Loads { traces } => (
                format!("loads in {}", traces.work_dir.display()),
                clean_up(traces).map(removed),
            ),
            JournalEntry::Tracing { instance } => {
                (instance.display().to_string(), remove_instance(instance).map(removed))
            }
            JournalEntry::Uprobe { event } => (format!("uprobe {event}"), remove_uprobe(event).map(removed)),
            JournalEntry::Group { leader, started } => (
                format!("process group {leader}"),
                processes::end_group(*leader, *started).map(removed),
            ),
            JournalEntry::Command { command, back } => (
                shell(command),
                run_back(back).map(|()| Some(UndoResult::Ran { command: shell(back) })),
            ),
            JournalEntry::Reads { path, .. } => (path.display().to_string(), Ok(None)),
        }
    }
}

/// A thread that has ended needs no priority.
fn undo_scheduling(thread: Identity, before: Policy, set: Policy) -> io::Result<Option<UndoResult>> {
    if !thread.lives() {
        return Ok(None);
    }
    let now = Policy::of(thread.pid)?;
    if now == before {
        return Ok(None);
    }
    if now != set {
        return Ok(Some(UndoResult::Foreign { now: now.to_string() }));
    }
    before.apply_to(thread.pid)?;
    Ok(Some(UndoResult::Restored {
        from: set.to_string(),
        to: before.to_string(),
    }))
}

fn run_back(back: &[String]) -> io::Result<()> {
    let status = run(back)?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{} ended with {status}", shell(back)))),
    }
}

/// Runs a command of the user's without a shell; its output is on stderr, as this command's own may be read by a program.
pub(super) fn run(command: &[String]) -> io::Result<ExitStatus> {
    let (program, arguments) = command.split_first().ok_or(ErrorKind::InvalidInput)?;
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output()?;
    io::stderr().write_all(&[output.stdout, output.stderr].concat())?;
    Ok(output.status)
}

/// How long threads that were killed may keep an instance in use.
const PATIENCE: Duration = Duration::from_secs(3);
const STEP: Duration = Duration::from_millis(10);

/// Removes an instance of tracefs; says whether it existed.
fn remove_instance(path: &Path) -> io::Result<bool> {
    removed_once_unused(|| tracefs::remove_instance(path))
}

/// The same of a uprobe.
fn remove_uprobe(event: &str) -> io::Result<bool> {
    removed_once_unused(|| tracefs::remove_uprobe(event))
}

fn removed_once_unused(remove: impl Fn() -> io::Result<()>) -> io::Result<bool> {
    let end = Instant::now() + PATIENCE;
    loop {
        match remove() {
            Ok(()) => return Ok(true),
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
            Err(e) if e.kind() == ErrorKind::ResourceBusy && Instant::now() < end => std::thread::sleep(STEP),
            Err(e) => return Err(e),
        }
    }
}

/// Removes what loads left; says whether there was anything.
fn clean_up(traces: &Traces) -> io::Result<bool> {
    let places = [&traces.work_dir]
        .into_iter()
        .chain(&traces.cgroup)
        .chain(&traces.null_blk);
    let there = places.into_iter().any(|path| path.exists());
    crate::loads::clean(traces).map_err(io::Error::other)?;
    Ok(there)
}

fn undo_value(path: &Path, before: &str, reads: Option<&str>) -> io::Result<Option<UndoResult>> {
    let now = match value::read(path) {
        Ok(now) => now,
        // The device or CPU went away, and its setting too.
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    if now == before {
        return Ok(None);
    }
    // Without `reads` the owner was killed before it read the setting back.
    if reads.is_some_and(|reads| reads != now) {
        return Ok(Some(UndoResult::Foreign { now }));
    }
    value::write(path, before)?;
    Ok(Some(UndoResult::Restored {
        from: now,
        to: before.to_string(),
    }))
}
