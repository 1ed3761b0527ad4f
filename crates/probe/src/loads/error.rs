//! What a load needs to know of its surroundings, and why a load gave no valid disturbance.

use std::io;
use std::path::PathBuf;

/// Where a load runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Venue {
    /// A machine that serves others too: what would endanger it is refused.
    Host,
    /// A lab machine that belongs to this cell alone.
    Lab,
}

/// What a load needs to know of its surroundings.
#[derive(Clone, Debug)]
pub struct LoadEnvironment {
    /// Files are made in a folder of this one, and removed with it.
    pub work_dir: PathBuf,
    /// Where the load runs.
    pub venue: Venue,
}

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
