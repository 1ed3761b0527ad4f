//! Lines of source code, for whoever knows them: the story asks with addresses.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A line of source code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Source {
    /// The file, from the top of the kernel's source: `mm/page_alloc.c`.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// The functions that the compiler put into the one that the symbols name, innermost first; the line is of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<String>,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Knows the source of code.
pub trait Lines {
    /// The line of the instruction at (or around) an address.
    fn source(&self, address: u64) -> Option<Source>;
}

/// Nobody knows.
impl Lines for () {
    fn source(&self, _: u64) -> Option<Source> {
        None
    }
}
