//! One thread's cycles, and where the time of each went.
//!
//! ```text
//! machine   events -> what each CPU ran (cpu), and whether each thread ran, was ready or blocked (task)
//! waits     the system calls in which the program's threads wait: candidates for the end of a cycle
//! cycles    waits -> the one that a cycle ends with, its period, release, start and end of each cycle
//! calls     system calls, and what they work on
//! path      a thread's time from a to b, through the threads that it was blocked by: parts that add up
//! causes    parts of all cycles -> what made the late ones late, most frequent first
//! follower  all of it: feed, complete, finish
//! ```

mod advice;
mod calls;
mod causes;
mod cpu;
mod cycles;
mod follower;
mod machine;
mod path;
mod task;
#[cfg(test)]
mod tests;
mod waits;
pub mod words;

pub use advice::advice;
pub use calls::CallKind;
pub use causes::{ExplainedCycle, LateCause, SLOWEST, UsualPart};
pub use cycles::{CycleWait, SeenWait};
pub use follower::{Followed, Follower, MOST_CYCLES};
pub use path::{Behind, BlockedThread, Doing, Missing, Part, PartCause};
pub use waits::WokenBy;

use std::fmt;
use worstcase_contract::Nanos;

/// What to follow.
#[derive(Clone, Debug, Default)]
pub struct FollowRequest {
    /// The program's threads when the trace begins; those that they start are included.
    pub program: Vec<u32>,
    /// The thread whose cycles are wanted.
    pub thread: WantedThread,
    /// The wait that ends a cycle; found by itself if not named.
    pub wait: Option<WantedWait>,
    /// A cycle that ends later than this after its release is late. Without it the period is the limit, and without a
    /// period the slowest hundredth are looked at.
    pub deadline: Option<Nanos>,
    /// The parts of the cycle that is released at this instant are wanted, whether it is late or not.
    pub cycle: Option<Nanos>,
}

/// The thread of the program whose cycles are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WantedThread {
    /// The one with a period and the highest priority.
    #[default]
    Found,
    /// This one.
    Tid(u32),
    /// The one with this name.
    Named(String),
}

/// A wait that a user names, or any call, which is a mark then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedWait {
    /// The system call's number.
    pub call: u32,
    /// Its first argument, such as a file descriptor.
    pub argument: Option<u64>,
}

impl WantedWait {
    /// Whether it is this call.
    fn is(&self, call: &CallKind) -> bool {
        let is_object = self.argument.is_none_or(|object| call.object == Some(object));
        call.number == self.call && is_object
    }
}

impl fmt::Display for WantedWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = CallKind {
            number: self.call,
            object: None,
            operation: 0,
        };
        f.write_str(&call.name())?;
        match self.argument {
            Some(argument) => write!(f, ":{argument}"),
            None => Ok(()),
        }
    }
}

/// When a cycle was due, began and ended, and what its thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleTimes {
    /// Its number: the periods since the first one, missed ones included; without a period counted from 0.
    pub index: u32,
    /// When the thread's wait was over: its timer was due, or it was woken.
    pub release: Nanos,
    /// When the thread returned from its wait.
    pub start: Nanos,
    /// When it waited again.
    pub end: Nanos,
    /// Of release to end: running user code or a system call of its own.
    pub execution: Nanos,
    /// Ready, but another thread or an interrupt had the CPU.
    pub interference: Nanos,
    /// Blocked.
    pub blocked: Nanos,
    /// What cannot be told.
    pub unexplained: Nanos,
}

impl CycleTimes {
    /// Release to end.
    pub fn response(&self) -> Nanos {
        self.end.saturating_sub(self.release)
    }
}
