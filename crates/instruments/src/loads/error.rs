//! What a load needs to know of its surroundings, and why a load gave no valid disturbance.

use super::{Body, LoadKind, LoadOrder};
use crate::order::PolicyOrder;
use crate::placement::Placement;
use std::any::Any;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

/// What a load needs to know of its surroundings.
#[derive(Clone, Debug)]
pub struct LoadEnvironment {
    /// Files are made in a folder of this one, and removed with it.
    pub work_dir: PathBuf,
    /// The machine serves nobody else: what a load needs of it, it sets up (the lab).
    pub owns_machine: bool,
    /// Bodies of loads that this crate does not have: a host's own.
    pub bodies: &'static [(LoadKind, Body)],
    /// On several CPUs: where load and probe run; none if that is left alone.
    pub placement: Option<Placement>,
    /// How a probe that sleeps until it is due is scheduled.
    pub policy: PolicyOrder,
    /// What is done around the start of each load.
    pub begin: Option<Rc<dyn BeginPart>>,
}

/// What a venue does around the start of each load that its user named.
pub trait BeginPart: fmt::Debug {
    /// Called before the load at `place` makes or forks anything, in a process of one thread.
    fn begin_part(&self, part: &LoadOrder, place: usize) -> Result<BegunPart, LoadError>;
}

/// What a load starts with.
#[derive(Default)]
pub struct BegunPart {
    /// Its own folder, made already, and removed by whoever made it.
    pub folder: Option<PathBuf>,
    /// What a user should know of how it runs.
    pub notes: Vec<String>,
    /// Dropped when the load has started, or could not be.
    pub guard: Option<Box<dyn Any>>,
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
