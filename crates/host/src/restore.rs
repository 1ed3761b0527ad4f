//! Undoes what killed runs left: at the start of every `worstcase host` command, and by `worstcase host restore`.

use super::HostError;
use super::journal::{self, FoundJournal, JournalOwner, Undone, failures};
use super::state::StateFolder;

/// What was found in the state folder.
#[derive(Debug, Default)]
pub struct Restored {
    /// Journals of killed commands, and the result for each of their changes.
    pub left_over: Vec<(JournalOwner, Vec<Undone>)>,
    /// Commands that still run: their changes were not touched.
    pub living: Vec<JournalOwner>,
}

impl Restored {
    /// How many changes could not be undone.
    pub fn failed(&self) -> usize {
        failures(self.left_over.iter().flat_map(|(_, undone)| undone))
    }
}

/// Undoes every journal whose owner is gone, the newest first.
pub fn left_over(state: &StateFolder) -> Result<Restored, HostError> {
    let _looking = state.lock()?;
    let mut restored = Restored::default();
    for path in state.journals()?.into_iter().rev() {
        match journal::undo_left_over(&path, false) {
            Ok(FoundJournal::Nothing) => {}
            Ok(FoundJournal::Living(owner)) => restored.living.push(owner),
            Ok(FoundJournal::LeftOver(owner, undone)) => restored.left_over.push((owner, undone)),
            Err(source) => return Err(HostError::State { path, source }),
        }
    }
    Ok(restored)
}
