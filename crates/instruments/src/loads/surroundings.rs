//! What a load finds around it, and what it starts with.

use crate::placement::Placement;
use std::any::Any;
use std::path::PathBuf;

/// What a load finds around it.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Files are made in a folder of this one, and removed with it.
    pub work_dir: PathBuf,
    /// The machine serves nobody else: what a load needs of it, it sets up (the lab).
    pub owns_machine: bool,
    /// On several CPUs: where load and probe run; none if that is left alone.
    pub placement: Option<Placement>,
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
