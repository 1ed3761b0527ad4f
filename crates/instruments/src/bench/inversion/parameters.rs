//! The parameters of `inversion`, and its name with them.

use super::super::spelling::{show_time, words};
use serde::{Deserialize, Serialize};
use std::fmt;
use worstcase_logs::Nanos;

/// Threads of different priorities and mutexes between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Inversion {
    /// Mutexes between the most urgent thread and the one that it waits for.
    pub depth: u8,
    /// What the mutexes do against inversion.
    pub protocol: Protocol,
    /// CPU time that the owner needs.
    pub section: Nanos,
    /// CPU time that the middle thread takes.
    pub middle: Nanos,
}

impl Inversion {
    /// CPU time of the owner, unless somebody asks for another.
    pub const SECTION: Nanos = Nanos::from_micros(50);
    /// CPU time of the middle thread, unless somebody asks for another.
    pub const MIDDLE: Nanos = Nanos::from_millis(1);
}

/// What a mutex does against inversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Protocol {
    /// The owner inherits the priority of who waits (PTHREAD_PRIO_INHERIT).
    Inherit,
    /// Nothing (PTHREAD_PRIO_NONE).
    None,
    /// The owner runs at the mutex's ceiling (PTHREAD_PRIO_PROTECT).
    Protect,
}

words!(Protocol: Inherit "inherit", None "none", Protect "protect");

impl fmt::Display for Inversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "inversion:{}+{}", self.depth, self.protocol.word())?;
        if self.section != Inversion::SECTION {
            write!(f, "+section{}", show_time(self.section))?;
        }
        if self.middle != Inversion::MIDDLE {
            write!(f, "+middle{}", show_time(self.middle))?;
        }
        Ok(())
    }
}
