//! A program of the user's own, whose cycles are a record's samples.

use serde::{Deserialize, Serialize};
use std::path::Path;

/// What was found while it was followed, beside its record.
pub const FOLLOW_FILE: &str = "follow.json";

/// The program, and the thread whose cycles these are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowedProgram {
    /// The name of its file.
    pub program: String,
    /// Its command line, if it is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The thread's name.
    pub thread: String,
    /// It was followed for so long.
    pub observed_ns: u64,
    /// In the lab: the time that it was to run, as the cell was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedTime>,
}

/// A time as so many periods, which are not the program's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedTime {
    /// Length of each.
    pub period_ns: u64,
    /// How many.
    pub periods: u32,
}

impl FollowedProgram {
    /// `motion, thread servo (4243)`.
    pub fn named(&self) -> String {
        format!("{}, thread {} ({})", self.program, self.thread, self.tid)
    }
}

/// The command that followed it, as typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowCommand {
    /// Options but the folder.
    pub options: Vec<String>,
    /// The program's command, if it was started to be followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<String>,
}

impl FollowCommand {
    pub(super) fn command(&self, dir: &Path) -> Vec<String> {
        let mut words: Vec<String> = ["worstcase", "host", "follow"].map(String::from).into();
        words.extend(self.options.iter().cloned());
        words.extend(["--output".to_string(), dir.display().to_string()]);
        if !self.program.is_empty() {
            words.push("--".into());
            words.extend(self.program.iter().cloned());
        }
        words
    }
}
