//! The user's own program is what is measured: the cycles of one of its threads, and why some were late.
//!
//! ```text
//! target   the program that a user names            wait     the wait or mark that a user names
//! function a mark: a function as a place in its file
//! started  a command of the user's: kept from its first instruction until the trace is open, then as it runs
//! keeper   the process that starts it, and ends it with all that it started, however this one ends
//! cpu_watch  what no tracepoint tells of the CPUs
//! facts    what its threads are: policy, priority, CPUs, timer slack, memory
//! session  the whole: opens the trace, feeds the analysis, ends
//! keep     the cycles as a run folder
//! ```
//!
//! `worstcase_traces::follow` makes cycles of the events.

mod cpu_watch;
mod facts;
mod function;
pub mod keep;
pub mod keeper;
mod session;
mod started;
mod target;
mod wait;

pub use facts::{ProgramFacts, ThreadFacts};
pub use session::{FollowSession, SessionEnd, SessionRequest, SessionState, TraceCost, follow};
pub use started::ProgramExit;
pub use target::FollowTarget;
pub use wait::wanted_wait;
pub use worstcase_traces::follow::CycleTimes;
