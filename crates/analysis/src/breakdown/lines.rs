//! Lines of source code: the breakdown asks with addresses, and any source of lines may answer.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A line of source code, in the function that the symbols name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceLine {
    /// The file, from the top of the kernel's source: `mm/page_alloc.c`.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// The functions that the compiler inlined there, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<Inlined>,
}

/// A function that was inlined into another one, and a line in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Inlined {
    /// Its name.
    pub function: String,
    /// The file, as in [`SourceLine`].
    pub file: String,
    /// From 1.
    pub line: u32,
}

impl SourceLine {
    /// The line with the functions inlined there; a file's name only where it changes.
    pub fn whole(&self) -> String {
        let mut text = self.to_string();
        let mut file = &self.file;
        for inlined in &self.inlined {
            let line = match inlined.file == *file {
                true => inlined.line.to_string(),
                false => format!("{}:{}", inlined.file, inlined.line),
            };
            text.push_str(&format!(" > {} {line}", inlined.function));
            file = &inlined.file;
        }
        text
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Knows the source of code.
pub trait SourceLines: Send {
    /// The line of the instruction at (or around) an address.
    fn source(&self, address: u64) -> Option<SourceLine>;

    /// Whether it knows no line at all, so that none need be asked for.
    fn is_empty(&self) -> bool {
        false
    }
}

/// A source that several threads ask.
impl<L: SourceLines> SourceLines for &Mutex<L> {
    fn source(&self, address: u64) -> Option<SourceLine> {
        let lines = self.lock().unwrap_or_else(PoisonError::into_inner);
        lines.source(address)
    }

    fn is_empty(&self) -> bool {
        self.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// A source that knows no lines.
impl SourceLines for () {
    fn source(&self, _: u64) -> Option<SourceLine> {
        None
    }

    fn is_empty(&self) -> bool {
        true
    }
}
