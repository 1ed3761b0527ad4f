//! One load, as the machine that runs it needs to know it.

use super::kind::LoadKind;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A load with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoadOrder {
    /// Which load.
    pub kind: LoadKind,
    /// How many, or how large, if somebody says.
    pub number: Option<u32>,
    /// Operations a second of the whole load; without one, as many as it can or its own usual rate.
    pub rate: Option<u32>,
    /// The words of a command; empty for loads without one.
    pub words: Vec<String>,
    /// A folder to work on.
    pub path: Option<PathBuf>,
}

impl LoadOrder {
    /// Without parameters.
    pub fn plain(kind: LoadKind) -> LoadOrder {
        LoadOrder {
            kind,
            number: None,
            rate: None,
            words: Vec::new(),
            path: None,
        }
    }

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
