//! What a load is asked for beside its name.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A load's parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoadRequest {
    /// How many, or how large, if somebody says.
    pub number: Option<u32>,
    /// Operations a second of the whole load; without one, as many as it can or its own usual rate.
    pub rate: Option<u32>,
    /// The words of a command; empty for loads without one.
    pub words: Vec<String>,
    /// A folder to work on.
    pub path: Option<PathBuf>,
}

impl LoadRequest {
    /// How many, or how large, if somebody says.
    pub fn number(&self) -> Option<u32> {
        self.number
    }

    /// Operations a second, if somebody says.
    pub fn rate(&self) -> Option<u32> {
        self.rate
    }

    /// The words of a command.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// A folder to work on.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}
