//! What runs when a load runs.

use super::error::LoadError;
use super::part::RunningPart;
use super::request::LoadRequest;
use super::surroundings::{BegunPart, Surroundings};

/// What a load does when it starts: makes what it needs and spawns its workers. The seed drives every access pattern.
pub type Body = fn(&mut RunningPart, u64) -> Result<(), LoadError>;

/// A load: its name, what it counts, and what starts it.
#[derive(Debug)]
pub struct LoadCode {
    /// Its name: that of its workers, and the one that users type.
    pub name: &'static str,
    /// What it counts as its work.
    pub units: &'static [&'static str],
    /// What starts it; none if a venue brings that.
    pub body: Option<Body>,
}

impl LoadCode {
    /// Starts it as asked for, the load at `place` of those that run at once. `brought` is the body that the venue has for it.
    pub(super) fn start(
        &self,
        request: &LoadRequest,
        place: usize,
        seed: u64,
        surroundings: &Surroundings,
        begun: BegunPart,
        brought: Option<Body>,
    ) -> Result<RunningPart, LoadError> {
        let mut part = RunningPart::new(request, (self.name, self.units), place, surroundings, begun)?;
        let missing = || part.not_available("this program does not bring it");
        let body = self.body.or(brought).ok_or_else(missing)?;
        body(&mut part, seed)?;
        Ok(part)
    }

    /// Starts it for another load, in that one's folder: ended with it, and its work is that one's.
    pub fn help(&self, load: &mut RunningPart, request: &LoadRequest, seed: u64) -> Result<(), LoadError> {
        let surroundings = Surroundings {
            work_dir: load.folder()?,
            ..load.surroundings().clone()
        };
        let helper = self.start(request, load.helpers(), seed, &surroundings, BegunPart::default(), None);
        load.take_helper(helper.map_err(|e| e.of_load(load.name()))?);
        Ok(())
    }
}
