//! The lines of a journal: first its owner, then each change before it is made.

use crate::loads::Traces;
use crate::state::boot_id;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use worstcase_instruments::sys::sched::Policy;

/// The process that changes the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalOwner {
    /// The command, e.g. "worstcase host run".
    pub command: String,
    /// Its process.
    pub pid: u32,
    /// The boot in which it runs: settings do not survive a boot.
    pub boot: String,
}

impl JournalOwner {
    /// This process.
    pub(crate) fn this(command: &str) -> JournalOwner {
        JournalOwner {
            command: command.into(),
            pid: std::process::id(),
            boot: boot_id(),
        }
    }

    pub(super) fn is_of_this_boot(&self) -> bool {
        self.boot == boot_id()
    }
}

/// A change that is about to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(super) enum JournalEntry {
    /// A setting in sysfs or procfs.
    Value { path: PathBuf, before: String, set: String },
    /// What the setting of the last `Value` reads after it was set: the kernel may spell it otherwise.
    Reads { path: PathBuf, now: String },
    /// The scheduling of a kernel thread, which its id and start time identify.
    Scheduling {
        thread: String,
        pid: i32,
        started: u64,
        before: Policy,
        set: Policy,
    },
    /// What loads leave: processes, files, memory, a device.
    Loads { traces: Traces },
    /// An instance of tracefs: removing it ends its tracer.
    Tracing { instance: PathBuf },
    /// A uprobe, by its group and name. It stands before the instances that record it, so it is removed after them.
    Uprobe { event: String },
    /// A command of the user's, which another one takes back.
    Command { command: Vec<String>, back: Vec<String> },
    /// A process group, by its leader and the leader's start time (clock ticks after boot).
    Group { leader: i32, started: u64 },
}

/// The entries of a journal; an incomplete last line is ignored.
pub(super) fn parse(text: &str) -> Option<(JournalOwner, Vec<JournalEntry>)> {
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let owner = serde_json::from_str(lines.next()?).ok()?;
    let entries = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
    Some((owner, entries))
}

pub(super) fn line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).expect("plain data");
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_not_finished_is_none() {
        let owner = JournalOwner::this("test");
        let entry = JournalEntry::Group { leader: 7, started: 9 };
        let text = format!(
            "{}{}{}",
            line(&owner),
            line(&entry),
            "{\"change\":\"group\",\"leader\":"
        );
        assert_eq!(parse(&text), Some((owner, vec![entry])));
        assert_eq!(parse(""), None);
        assert_eq!(parse("{\"comm"), None);
    }
}
