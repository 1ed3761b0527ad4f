//! Preemption models by name.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A preemption model, by the name users give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PreemptName {
    /// The kernel gives up the CPU only on its way back to user space.
    None,
    /// Like none, plus explicit rescheduling points.
    Voluntary,
    /// The kernel can be preempted outside of locked sections.
    Full,
    /// Like full for real-time tasks; ordinary tasks wait for the tick or the way back to user space.
    Lazy,
    /// PREEMPT_RT: also most locked sections and interrupt handlers can be preempted.
    Rt,
}

/// Not the name of a preemption model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown preemption model, {0}; take none, voluntary, full, lazy or rt")]
pub struct UnknownModel(pub String);

impl PreemptName {
    /// All models.
    pub(crate) const ALL: [PreemptName; 5] = [
        PreemptName::None,
        PreemptName::Voluntary,
        PreemptName::Full,
        PreemptName::Lazy,
        PreemptName::Rt,
    ];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            PreemptName::None => "none",
            PreemptName::Voluntary => "voluntary",
            PreemptName::Full => "full",
            PreemptName::Lazy => "lazy",
            PreemptName::Rt => "rt",
        }
    }
}

impl fmt::Display for PreemptName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PreemptName {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<PreemptName, UnknownModel> {
        let found = PreemptName::ALL.into_iter().find(|m| m.name() == text);
        found.ok_or_else(|| UnknownModel(text.into()))
    }
}
