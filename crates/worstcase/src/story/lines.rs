//! Lines of source code, for whoever knows them: the story asks with addresses.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A line of source code, in the function that the symbols name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Source {
    /// The file, from the top of the kernel's source: `mm/page_alloc.c`.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// The functions that the compiler put in there, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<Inlined>,
}

/// A function that was put into another one, and a line in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Inlined {
    /// Its name.
    pub function: String,
    /// As in [`Source`].
    pub file: String,
    /// From 1.
    pub line: u32,
}

impl Source {
    /// With the functions inlined there.
    pub fn whole(&self) -> String {
        let inlined = self.inlined.iter();
        let each = inlined.map(|i| format!(" > {} {}:{}", i.function, i.file, i.line));
        format!("{self}{}", each.collect::<String>())
    }
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
