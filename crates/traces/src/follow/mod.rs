//! One thread's cycles, and where the time of each went.
//!
//! ```text
//! machine   events -> what each CPU ran (cpu), and whether each thread ran, was ready or blocked (task)
//! waits     the system calls in which the program's threads wait: candidates for the end of a cycle
//! releases  when a wait was over, and its period
//! candidates  waits -> the one that a cycle ends with
//! cycles    that wait -> release, start and end of each cycle
//! changes   a loop that gets another period
//! calls     system calls, and what they work on
//! notes     what changes how fast a CPU gets on
//! path      a thread's time from a to b, through the threads that it was blocked by: parts that add up
//! causes    parts of all cycles -> what made the late ones late, most frequent first
//! follower  all of it: feed, complete, finish
//! ```

mod advice;
mod calls;
mod candidates;
mod causes;
mod changes;
mod cpu;
mod cycles;
mod follower;
mod machine;
mod notes;
mod path;
mod releases;
mod task;
#[cfg(test)]
mod tests;
mod waits;
pub mod words;

pub use advice::advice;
pub use calls::CallKind;
pub use candidates::SeenWait;
pub use causes::{ExplainedCycle, LateCause, SLOWEST, UsualPart, in_any_run};
pub use changes::PeriodChange;
pub use cycles::CycleWait;
pub use follower::{Followed, Follower, MOST_CYCLES};
pub use notes::{CpuNote, NotedCycles, StolenTime};
pub use path::{Behind, BlockedThread, Doing, Missing, Part, PartCause};
pub use waits::WokenBy;

use crate::events::ShortName;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use worstcase_contract::Nanos;

/// What to follow.
#[derive(Clone, Debug, Default)]
pub struct FollowRequest {
    /// The program's threads when the trace begins; those that they start are included.
    pub program: Vec<u32>,
    /// The thread whose cycles are wanted.
    pub thread: WantedThread,
    /// What ends a cycle; found by itself if not named.
    pub wait: Option<WantedWait>,
    /// A cycle that ends later than this after its release is late. Without it the period is the limit, and without a
    /// period the slowest hundredth are looked at.
    pub deadline: Option<Nanos>,
    /// The parts of the cycle that is released at this instant are wanted, whether it is late or not.
    pub cycle: Option<Nanos>,
    /// Names of each CPU's idle states, by their numbers.
    pub idle_states: BTreeMap<u32, Vec<ShortName>>,
}

/// An idle state of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdleState {
    /// The deeper, the higher.
    pub number: u32,
    /// Empty if the machine has no driver that names it.
    pub name: ShortName,
}

impl IdleState {
    /// The CPU looks for work all the time.
    fn polls(&self) -> bool {
        self.name == ShortName::from("POLL")
    }
}

impl fmt::Display for IdleState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "idle state {}", self.number)?;
        match self.name == ShortName::EMPTY {
            true => Ok(()),
            false => write!(f, " ({})", self.name),
        }
    }
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

/// What a user names to end a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedWait {
    /// A system call; one that never waits is a mark.
    Call {
        /// Its number.
        call: u32,
        /// Its first argument, such as a file descriptor.
        argument: Option<u64>,
    },
    /// A mark: the program enters this function.
    Function {
        /// The program or library that has it.
        file: PathBuf,
        /// Its name in the file's symbols.
        name: String,
    },
    /// A mark: the program writes a line that begins so into the kernel's trace_marker.
    Line(String),
}

impl WantedWait {
    /// Whether it is this call.
    fn is(&self, kind: &CallKind) -> bool {
        match self {
            WantedWait::Call { call, argument } => {
                let is_object = argument.is_none_or(|object| kind.object == Some(object));
                kind.number == *call && is_object
            }
            WantedWait::Function { .. } | WantedWait::Line(_) => *kind == CallKind::MARK,
        }
    }

    /// What the program does at a mark; none of a call.
    pub fn mark(&self) -> Option<String> {
        match self {
            WantedWait::Call { .. } => None,
            WantedWait::Function { name, .. } => Some(format!("call of {name}")),
            WantedWait::Line(text) => Some(format!("line '{text}' in trace_marker")),
        }
    }
}

impl fmt::Display for WantedWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WantedWait::Call { call, argument } => {
                let call = CallKind {
                    number: *call,
                    object: None,
                    operation: 0,
                };
                f.write_str(&call.name())?;
                argument.map_or(Ok(()), |argument| write!(f, ":{argument}"))
            }
            WantedWait::Function { file, name } => write!(f, "uprobe:{}:{name}", file.display()),
            WantedWait::Line(text) => write!(f, "marker:{text}"),
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
