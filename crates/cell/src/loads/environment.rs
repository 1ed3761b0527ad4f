//! What a venue gives to its loads.

use super::kind::LoadKind;
use super::order::LoadOrder;
use crate::order::{CellOrder, PolicyOrder};
use std::fmt;
use std::rc::Rc;
use worstcase_instruments::loads::{BegunPart, Body, LoadError, PlannedLoad, RunningLoad, Surroundings};

/// What a venue does around the start of each load that its user named.
pub trait BeginPart: fmt::Debug {
    /// Called before the load at `place` makes or forks anything, in a process of one thread.
    fn begin_part(&self, part: &LoadOrder, place: usize) -> Result<BegunPart, LoadError>;
}

/// What a venue gives to its loads, and to the probe beside them.
#[derive(Clone, Debug)]
pub struct LoadEnvironment {
    /// What each load finds.
    pub surroundings: Surroundings,
    /// Bodies of loads whose code has none: a venue's own.
    pub bodies: &'static [(LoadKind, Body)],
    /// How a probe that sleeps until it is due, or never, is scheduled.
    pub policy: PolicyOrder,
    /// The program that is followed, with its arguments; empty for another probe.
    pub program: Vec<String>,
    /// What is done around the start of each load.
    pub begin: Option<Rc<dyn BeginPart>>,
    /// Called when the load is warm: gives the cell that is measured, which differs from the one that was begun in its seed
    /// and its text.
    pub when_warm: Option<fn() -> Result<CellOrder, String>>,
}

impl LoadEnvironment {
    /// Starts them all: see [`RunningLoad::start`].
    pub fn start(&self, loads: &[LoadOrder], seed: u64) -> Result<RunningLoad, LoadError> {
        let planned = loads.iter().map(|load| PlannedLoad {
            code: load.kind.code(),
            brought: self.body(load.kind),
            request: &load.request,
        });
        let planned: Vec<PlannedLoad> = planned.collect();
        RunningLoad::start(&planned, seed, &self.surroundings, |place| match &self.begin {
            Some(begin) => begin.begin_part(&loads[place], place),
            None => Ok(BegunPart::default()),
        })
    }

    fn body(&self, kind: LoadKind) -> Option<Body> {
        let brought = self.bodies.iter().find(|(known, _)| *known == kind);
        brought.map(|(_, body)| *body)
    }
}
