//! Preemption models by name.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A preemption model, by the name users give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// The kernel gives up the CPU only on its way back to user space.
    None,
    /// As none, plus explicit rescheduling points.
    Voluntary,
    /// The kernel can be preempted outside of locked sections.
    Full,
    /// As full for real-time tasks; ordinary tasks wait for the tick or the way back to user space.
    Lazy,
    /// PREEMPT_RT: also most locked sections and interrupt handlers can be preempted.
    Rt,
}

/// Not the name of a preemption model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown preemption model, {0}; take none, voluntary, full, lazy or rt")]
pub struct UnknownModel(pub String);

impl Model {
    /// All models.
    pub const ALL: [Model; 5] = [Model::None, Model::Voluntary, Model::Full, Model::Lazy, Model::Rt];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Model::None => "none",
            Model::Voluntary => "voluntary",
            Model::Full => "full",
            Model::Lazy => "lazy",
            Model::Rt => "rt",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Model, UnknownModel> {
        let found = Model::ALL.into_iter().find(|m| m.name() == text);
        found.ok_or_else(|| UnknownModel(text.into()))
    }
}
