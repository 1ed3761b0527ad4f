//! What a venue gives to its loads.

use super::code::Body;
use super::kind::LoadKind;
use super::surroundings::{BeginPart, Surroundings};
use crate::order::PolicyOrder;
use std::rc::Rc;

/// What a venue gives to its loads, and to the probe beside them.
#[derive(Clone, Debug)]
pub struct LoadEnvironment {
    /// What each load finds.
    pub surroundings: Surroundings,
    /// Bodies of loads that this crate does not have: a host's own.
    pub bodies: &'static [(LoadKind, Body)],
    /// How a probe that sleeps until it is due is scheduled.
    pub policy: PolicyOrder,
    /// What is done around the start of each load.
    pub begin: Option<Rc<dyn BeginPart>>,
}

impl LoadEnvironment {
    /// What starts a load that this crate has no body for.
    pub(super) fn body(&self, kind: LoadKind) -> Option<Body> {
        let brought = self.bodies.iter().find(|(known, _)| *known == kind);
        brought.map(|(_, body)| *body)
    }
}
