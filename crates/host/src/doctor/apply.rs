//! Applies settings for a while: every change goes through the journal. A refused change is reported, and the others go
//! on.

use super::finding::{Finding, TemporaryChange};
use crate::facts::FileTree;
use crate::journal::{Journal, SettingOutcome};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};

/// The applied settings. Dropping this releases the limit on sleep states; the journal undoes everything else.
#[derive(Debug, Default)]
pub struct Applied {
    /// The result for each finding that can be applied.
    pub outcomes: Vec<AppliedFinding>,
    /// Open files that hold a limit.
    held: Vec<File>,
}

/// The result of applying one finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppliedFinding {
    /// The finding's name.
    pub id: &'static str,
    /// How many of its changes were made, or already in force.
    pub made: usize,
    /// Why the other changes were refused.
    pub refused: Vec<String>,
}

impl AppliedFinding {
    /// Whether nothing of it could be made.
    pub fn is_refused(&self) -> bool {
        self.made == 0 && !self.refused.is_empty()
    }

    /// One line for a person.
    pub fn line(&self) -> String {
        let (id, made) = (self.id, self.made);
        match &self.refused[..] {
            [] if made == 1 => format!("{id}: set"),
            [] => format!("{id}: set ({made} changes)"),
            [first, rest @ ..] if rest.is_empty() && made == 0 => format!("{id}: not set: {first}"),
            [first, rest @ ..] => {
                let of = made + 1 + rest.len();
                format!("{id}: {made} of {of} set; the first that was not: {first}")
            }
        }
    }
}

/// Makes the changes of the findings that can be applied, on the machine of `tree`.
pub fn apply<'a>(findings: impl IntoIterator<Item = &'a Finding>, tree: &FileTree, journal: &mut Journal) -> Applied {
    let mut applied = Applied::default();
    for finding in findings {
        let mut outcome = AppliedFinding {
            id: finding.id,
            made: 0,
            refused: Vec::new(),
        };
        for change in &finding.changes {
            let made = match change {
                TemporaryChange::Set { file, value } => set(tree, journal, file, value),
                TemporaryChange::NoSleep => hold_awake(tree).map(|file| applied.held.push(file)),
            };
            match made {
                Ok(()) => outcome.made += 1,
                Err(why) => outcome.refused.push(why),
            }
        }
        applied.outcomes.push(outcome);
    }
    applied
}

fn set(tree: &FileTree, journal: &mut Journal, file: &str, value: &str) -> Result<(), String> {
    match journal.set(&tree.path(file), value) {
        Ok(SettingOutcome::Changed { .. } | SettingOutcome::AlreadySo) => Ok(()),
        Err(e) => Err(e.to_string()),
    }
}

/// The limit holds as long as the file is open: the kernel lifts it however this process ends.
fn hold_awake(tree: &FileTree) -> Result<File, String> {
    let path = tree.path("dev/cpu_dma_latency");
    let open = || -> io::Result<File> {
        let mut file = File::options().write(true).open(&path)?;
        file.write_all(&0_i32.to_ne_bytes())?;
        Ok(file)
    };
    open().map_err(|e| format!("cannot hold {} at 0: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_interrupt_of_many_that_stays_does_not_refuse_the_rest() {
        let of = |made, refused: &[&str]| AppliedFinding {
            id: "interrupts",
            made,
            refused: refused.iter().map(ToString::to_string).collect(),
        };
        let refused = [of(19, &["managed"]), of(0, &["managed"]), of(0, &[]), of(1, &[])];
        assert_eq!(refused.map(|outcome| outcome.is_refused()), [false, true, false, false]);
    }
}
