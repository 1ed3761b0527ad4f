//! `worstcase host try --switch --back`: a command of the user's is a setting, too.

use super::hooks;
use worstcase_host::{HostError, Journal, StateFolder};

/// A command of the user's, and the one that takes it back.
pub(super) struct Switch {
    /// It.
    pub(super) command: Vec<String>,
    /// The one that takes it back.
    back: Vec<String>,
}

impl Switch {
    /// The two that are typed, if they are.
    pub(super) fn of(switch: Option<&str>, back: Option<&str>) -> Result<Option<Switch>, HostError> {
        let command = hooks::words("--switch", switch)?;
        let back = hooks::words("--back", back)?;
        Ok(command.zip(back).map(|(command, back)| Switch { command, back }))
    }

    /// Makes it, until the journal is undone.
    pub(super) fn make(&self, state: &StateFolder) -> Result<Journal, HostError> {
        let mut journal = Journal::guarded(state, "worstcase host try")?;
        journal.run(&self.command, &self.back)?;
        Ok(journal)
    }
}
