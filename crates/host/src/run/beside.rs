//! Measurements of this user that run at the same time: each is a load for the other, so both are told, and say so in
//! their records.
//!
//! A running measurement holds a shared lock on a file of the state folder. The file has the number of measurements that
//! ever began: one that came and went meanwhile is seen by it.

use crate::{HostError, StateFolder};
use std::fs::File;
use std::io;
use worstcase_base::lock::FileLock;

/// The warning of both.
const WARNING: &str =
    "another measurement of worstcase ran on this machine at the same time: each was a load for the other";

/// A measurement from its begin to its end.
pub(crate) struct OthersBeside<'a> {
    state: &'a StateFolder,
    begun: u64,
    were_there: bool,
    held: FileLock,
}

impl<'a> OthersBeside<'a> {
    /// Begins a measurement.
    pub(crate) fn begin(state: &'a StateFolder) -> Result<OthersBeside<'a>, HostError> {
        let _counting = state.lock()?;
        let begin = || {
            let were_there = is_held(state)?;
            let begun = begun(state)? + 1;
            std::fs::write(state.measuring(), begun.to_string())?;
            let held = FileLock::shared(File::open(state.measuring())?)?;
            Ok((begun, were_there, held))
        };
        let (begun, were_there, held) = begin().map_err(|e| state.failed(e))?;
        Ok(OthersBeside {
            state,
            begun,
            were_there,
            held,
        })
    }

    /// What is told at its begin, if another runs.
    pub(crate) fn note(&self) -> Option<&'static str> {
        let note = "another measurement of worstcase runs on this machine: each is a load for the other, and both records say so";
        self.were_there.then_some(note)
    }

    /// Ends it; the warning, if another ran meanwhile.
    pub(crate) fn end(self) -> Result<Option<String>, HostError> {
        let _counting = self.state.lock()?;
        drop(self.held);
        let others = || Ok(begun(self.state)? != self.begun || is_held(self.state)?);
        let others = others().map_err(|e| self.state.failed(e))?;
        Ok((self.were_there || others).then(|| WARNING.to_string()))
    }
}

fn begun(state: &StateFolder) -> io::Result<u64> {
    match std::fs::read_to_string(state.measuring()) {
        // A file that was cut off by a full disk counts anew.
        Ok(text) => Ok(text.trim().parse().unwrap_or(0)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(e) => Err(e),
    }
}

fn is_held(state: &StateFolder) -> io::Result<bool> {
    match FileLock::try_open(&state.measuring()) {
        Ok(free) => Ok(free.is_none()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_know_of_each_other_and_one_alone_of_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateFolder::at(&dir.path().join("state")).unwrap();
        let begin = || OthersBeside::begin(&state).unwrap();
        let said = |one: OthersBeside| one.end().unwrap().is_some();
        let alone = begin();
        assert_eq!((alone.note(), said(alone)), (None, false));
        let (first, second) = (begin(), begin());
        assert_eq!((first.note().is_some(), second.note().is_some()), (false, true));
        assert_eq!((said(first), said(second)), (true, true));
        let (long, short) = (begin(), begin());
        assert!(said(short) && said(long), "one that came and went");
        assert!(!said(begin()));
    }
}
