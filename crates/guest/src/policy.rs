//! The scheduler that is loaded into this machine's kernel (sched_ext), if the image has one: `/policy/loader` loads
//! `/policy/object` and answers over its standard input and output, or `/policy/program` loads one by itself.
//!
//! It is loaded before the stop point, so that it has had the machine in hand for as long as the machine settles.

use crate::GuestError;
use crate::image::read_text;
use crate::kernel_log::KernelLog;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

const LOADER: &str = "/policy/loader";
const OBJECT: &str = "/policy/object";
const PROGRAM: &str = "/policy/program";
const STATE: &str = "/sys/kernel/sched_ext/state";
const NAME: &str = "/sys/kernel/sched_ext/root/ops";
/// How often schedulers were loaded since the boot.
const SEQUENCE: &str = "/sys/kernel/sched_ext/enable_seq";
/// A program that loads a scheduler has so many looks, each so long after the other.
const LOOKS: u32 = 1_000;
const LOOK: Duration = Duration::from_millis(10);

/// A scheduler in force.
pub(crate) struct Policy {
    /// As the kernel calls it.
    pub(crate) name: String,
    sequence: String,
    log: KernelLog,
    // Both end with this process alone: the scheduler goes with whoever loaded it.
    child: Child,
    talk: Option<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Policy {
    /// Loads what the image has; none if it has none.
    pub(crate) fn load() -> Result<Option<Policy>, GuestError> {
        let mut log = KernelLog::from_now();
        let (child, talk) = match () {
            () if Path::new(LOADER).exists() => {
                let (child, talk) = load_object()?;
                (child, Some(talk))
            }
            () if Path::new(PROGRAM).exists() => (start_program(&mut log)?, None),
            () => return Ok(None),
        };
        Ok(Some(Policy {
            name: read_text(NAME)?.trim().into(),
            sequence: read_text(SEQUENCE)?,
            log,
            child,
            talk,
        }))
    }

    /// What it has counted since it was loaded; nothing if it does not count.
    pub(crate) fn counters(&mut self) -> Result<BTreeMap<String, u64>, GuestError> {
        let Some((ask, answers)) = &mut self.talk else {
            return Ok(BTreeMap::new());
        };
        let failed = |e| GuestError::new(format!("the scheduler's loader: {e}"));
        ask.write_all(b"counters\n").map_err(failed)?;
        let mut line = String::new();
        answers.read_line(&mut line).map_err(failed)?;
        let words = line.strip_prefix("counters").ok_or_else(|| {
            GuestError::new(format!(
                "the scheduler's loader was asked for its counters and said '{}'",
                line.trim()
            ))
        })?;
        let counter = |word: &str| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_string(), value.parse().ok()?))
        };
        Ok(words.split_whitespace().filter_map(counter).collect())
    }

    /// Refuses a cell that another scheduler had in hand, for a moment even: the kernel throws out one that fails.
    pub(crate) fn check(&mut self) -> Result<(), GuestError> {
        let is_in_force = read_text(STATE)?.trim() == "enabled" && read_text(SEQUENCE)? == self.sequence;
        if is_in_force && self.child.try_wait().map_err(GuestError::new)?.is_none() {
            return Ok(());
        }
        Err(GuestError::new(format!(
            "the scheduler {} was thrown out while the cell was measured, so this is no result of it; the kernel: {}",
            self.name,
            kernel_said(&mut self.log)
        )))
    }
}

/// What was counted between two looks.
pub(crate) fn between(before: &BTreeMap<String, u64>, after: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let since = |(name, count): (String, u64)| {
        let earlier = before.get(&name).copied().unwrap_or(0);
        (name, count.saturating_sub(earlier))
    };
    after.into_iter().map(since).collect()
}

fn load_object() -> Result<(Child, (ChildStdin, BufReader<ChildStdout>)), GuestError> {
    let failed = |e| GuestError::new(format!("{LOADER}: {e}"));
    let mut command = Command::new(LOADER);
    let command = command.arg(OBJECT).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().map_err(failed)?;
    let (ask, answers) = (child.stdin.take(), child.stdout.take());
    let (Some(ask), Some(answers)) = (ask, answers) else {
        return Err(GuestError::new(format!("{LOADER} has no pipes")));
    };
    let mut answers = BufReader::new(answers);
    let mut said = String::new();
    answers.read_line(&mut said).map_err(failed)?;
    if said.starts_with("attached ") {
        return Ok((child, (ask, answers)));
    }
    answers.read_to_string(&mut said).map_err(failed)?;
    let said = said.trim();
    Err(GuestError::new(format!(
        "the scheduler could not be loaded: {}",
        said.strip_prefix("failed ").unwrap_or(said)
    )))
}

fn start_program(log: &mut KernelLog) -> Result<Child, GuestError> {
    let loaded_before = read_text(SEQUENCE)?;
    let failed = |e| GuestError::new(format!("the scheduler's program: {e}"));
    let mut command = Command::new(PROGRAM);
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    for _ in 0..LOOKS {
        if read_text(STATE).is_ok_and(|state| state.trim() == "enabled") {
            return Ok(child);
        }
        if let Some(status) = child.try_wait().map_err(failed)? {
            let mut said = String::new();
            if let Some(mut errors) = child.stderr.take() {
                errors.read_to_string(&mut said).map_err(failed)?;
            }
            let said: Vec<String> = said.lines().map(str::to_string).collect();
            let last = &said[said.len().saturating_sub(3)..];
            return Err(GuestError::new(format!(
                "the scheduler's program ended ({status}): {}",
                in_words(last)
            )));
        }
        if read_text(SEQUENCE)? != loaded_before && read_text(STATE)?.trim() == "disabled" {
            return Err(GuestError::new(format!(
                "the scheduler of the program was thrown out at once; the kernel: {}",
                kernel_said(log)
            )));
        }
        std::thread::sleep(LOOK);
    }
    Err(GuestError::new(
        "the scheduler's program runs, and has loaded no scheduler after 10 s",
    ))
}

/// What the kernel said of loaded schedulers since the log was opened or read.
fn kernel_said(log: &mut KernelLog) -> String {
    let lines = log.lines().into_iter();
    let said: Vec<String> = lines.filter(|line| line.contains("sched_ext")).collect();
    in_words(&said)
}

fn in_words(lines: &[String]) -> String {
    match lines {
        [] => "nothing was said".into(),
        lines => lines.join(" | "),
    }
}
