//! One load, as the machine that runs it needs to know it.

use super::LoadKind;
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

    /// The load's name.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// What it counts as its work; empty only for `idle`.
    pub fn units(&self) -> &'static [&'static str] {
        self.kind.code().units
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

/// What stands before the units of load `i` of those that run at once: nothing for one alone, else its name, with its number
/// if it is not the first of that name (`compile2.units`).
pub(super) fn unit_prefix(loads: &[LoadOrder], i: usize) -> String {
    if loads.len() == 1 {
        return String::new();
    }
    let name = loads[i].name();
    match loads[..i].iter().filter(|load| load.name() == name).count() {
        0 => format!("{name}."),
        earlier => format!("{name}{}.", earlier + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_several_loads_are_told_apart() {
        let loads = [LoadKind::Find, LoadKind::Compile, LoadKind::Compile].map(LoadOrder::plain);
        let prefixes: Vec<String> = (0..3).map(|i| unit_prefix(&loads, i)).collect();
        assert_eq!(prefixes, ["find.", "compile.", "compile2."]);
        assert_eq!(unit_prefix(&loads[..1], 0), "");
    }
}
