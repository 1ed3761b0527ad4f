//! Why a load gave no valid disturbance.

use std::io;

/// Why a load gave no valid disturbance.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The machine lacks something that the load needs.
    #[error("load '{load}' is not available here: {reason}")]
    NotAvailable {
        /// The load's name.
        load: &'static str,
        /// What is missing and what helps.
        reason: String,
    },
    /// Making what the load works on failed.
    #[error("load '{load}' could not be prepared: {what}: {source}")]
    Prepare {
        /// The load's name.
        load: &'static str,
        /// What was attempted.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A worker ended although nobody asked it to.
    #[error("load '{load}' ended while it was needed: {cause}")]
    Ended {
        /// The load's name.
        load: &'static str,
        /// Its own words, or how it ended.
        cause: String,
    },
    /// The load never said that it is set up.
    #[error("load '{load}' was not ready within {seconds} s of its start: {how}")]
    NotReady {
        /// The load's name.
        load: &'static str,
        /// How long one waited.
        seconds: u64,
        /// What makes it ready.
        how: &'static str,
    },
    /// The load ran, and did nothing.
    #[error("load '{load}' did no work {when} (counted: {units})")]
    NoWork {
        /// The load's name.
        load: &'static str,
        /// In which time.
        when: &'static str,
        /// What was counted.
        units: String,
    },
    /// Something that the load made is still there.
    #[error("load '{load}' could not be undone: {what}: {source}")]
    Undo {
        /// The load's name.
        load: &'static str,
        /// What was attempted.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl LoadError {
    /// The system's answer as an error of `load`, for `map_err`.
    pub fn preparing(load: &'static str, what: impl Into<String>) -> impl FnOnce(io::Error) -> LoadError {
        let what = what.into();
        move |source| LoadError::Prepare { load, what, source }
    }

    /// The same error of the load that the user named, which runs others.
    pub(super) fn of_load(mut self, name: &'static str) -> LoadError {
        match &mut self {
            LoadError::NotAvailable { load, .. }
            | LoadError::Prepare { load, .. }
            | LoadError::Ended { load, .. }
            | LoadError::NotReady { load, .. }
            | LoadError::NoWork { load, .. }
            | LoadError::Undo { load, .. } => *load = name,
        }
        self
    }
}
