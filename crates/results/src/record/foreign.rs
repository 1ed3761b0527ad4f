//! The origin of a record that another tool measured, and what its file does not contain.

use super::Quantity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use worstcase_base::utc::Utc;

/// The origin of a record that worstcase did not measure. Facts that the file does not contain are absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    /// The tool, as its users call it: `cyclictest`, `rtla timerlat`.
    pub tool: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The file's name.
    pub file: String,
    /// Its SHA-256, `sha256:` and hexadecimal digits.
    pub digest: String,
    /// The command line that gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// When the measurement began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<Utc>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Utc>,
    /// The observation time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_ns: Option<u64>,
    /// Its values are multiples of this.
    pub resolution_ns: u64,
    /// How the tool rounds to them.
    pub rounding: Rounding,
    /// Samples that fell out of its histogram.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub beyond: BTreeMap<Quantity, Beyond>,
    /// Whether the missed periods are known.
    pub missed_known: bool,
    /// What the file does not contain, in words.
    pub lacks: Vec<String>,
    /// Further notes from the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How a tool rounds its values to whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rounding {
    /// A value may be higher than it says.
    Down,
    /// A value may be lower than it says.
    Up,
    /// A value is the middle of a bin whose width is a share of it.
    Middle,
}

/// Samples known only to be at least so large, and no larger than the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// The histogram's end.
    pub from_ns: u64,
    /// The number of samples.
    pub count: u64,
}

impl Foreign {
    /// The tool and its version.
    pub fn tool(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.tool),
            None => self.tool.clone(),
        }
    }

    /// Names and values, as a person reads them; without the gaps of single quantities.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("measured by", self.tool()),
            ("file", format!("{} ({})", self.file, self.digest)),
            ("values", self.resolution()),
        ];
        facts.extend(self.command.iter().map(|command| ("command", command.clone())));
        facts.extend(self.began.map(|began| ("began", began.readable())));
        facts.extend(self.ended.map(|ended| ("ended", ended.readable())));
        facts.extend(self.lacks.iter().map(|lack| ("not in it", lack.clone())));
        facts
    }

    /// What the values can and cannot tell, in a line.
    pub fn resolution(&self) -> String {
        let ns = self.resolution_ns;
        let unit = match ns.is_multiple_of(1_000) {
            true => format!("{} us", ns / 1_000),
            false => format!("{ns} ns"),
        };
        match self.rounding {
            Rounding::Middle => format!("values are rounded {}; minimum and maximum are exact", self.rounding),
            _ => format!("values in steps of {unit}, rounded {}", self.rounding),
        }
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Rounding::Down => "down",
            Rounding::Up => "up",
            Rounding::Middle => "to the middle of a bin, some hundredths of the value wide",
        })
    }
}
