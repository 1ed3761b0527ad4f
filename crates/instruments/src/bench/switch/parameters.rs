//! The parameters of `switch`, and its name with them.

use super::super::spelling::{show_bytes, show_time, words};
use serde::{Deserialize, Serialize};
use std::fmt;
use worstcase_logs::Nanos;

/// A ring of processes that pass a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Switch {
    /// Members of the ring.
    pub processes: u16,
    /// Bytes that each touches before it passes the token on.
    pub size: u32,
    /// What the token is passed through.
    pub via: Via,
    /// The members are threads of one process.
    pub threads: bool,
    /// Where they run.
    pub placement: Placement,
    /// CPU time that each member spends before it passes the token on: a known addition, to check the result.
    pub spin: Nanos,
    /// A repetition that is more than so many percent off the median of all is measured again; 0: none is.
    pub again: u8,
    /// Its CPUs are held at so many MHz meanwhile; 0: they are left as they are.
    pub mhz: u32,
}

/// What a token is passed through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Via {
    /// A byte in a pipe.
    Pipe,
    /// An event counter.
    Eventfd,
    /// A word in shared memory.
    Futex,
}

/// Where the members of a ring run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Placement {
    /// All on one CPU.
    Same,
    /// In turn on the two threads of a core.
    Smt,
    /// In turn on two cores that share their last-level cache.
    Cache,
    /// In turn on two cores that share no cache.
    Across,
    /// Where the kernel likes.
    Free,
}

words!(Via: Pipe "pipe", Eventfd "eventfd", Futex "futex");
words!(Placement: Same "same", Smt "smt", Cache "cache", Across "across", Free "free");

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "switch:{}x{}", self.processes, show_bytes(self.size.into()))?;
        if self.via != Via::Pipe {
            write!(f, "+{}", self.via.word())?;
        }
        if self.threads {
            f.write_str("+threads")?;
        }
        if self.placement != Placement::Same {
            write!(f, "+{}", self.placement.word())?;
        }
        if self.spin.0 > 0 {
            write!(f, "+spin{}", show_time(self.spin))?;
        }
        if self.again > 0 {
            write!(f, "+again{}", self.again)?;
        }
        if self.mhz > 0 {
            write!(f, "+mhz{}", self.mhz)?;
        }
        Ok(())
    }
}
