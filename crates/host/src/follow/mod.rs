//! The user's own program is what is measured: the cycles of one of its threads, and why some were late.
//!
//! ```text
//! target   the program that a user names            wait     the wait that a user names
//! held     a command of the user's, started, but kept from its first instruction until the trace is open
//! started  the same as it runs: its end, and ending it with all that it started
//! facts    what its threads are: policy, priority, CPUs, timer slack, memory
//! session  the whole: opens the trace, feeds the analysis, ends
//! keep     the cycles as a run folder
//! ```
//!
//! `worstcase_traces::follow` makes cycles of the events.

mod facts;
mod held;
pub mod keep;
mod session;
mod started;
mod target;
mod wait;

pub use facts::{ProgramFacts, ThreadFacts};
pub use session::{FollowSession, SessionEnd, SessionRequest, TraceCost, follow};
pub use started::ProgramExit;
pub use target::FollowTarget;
pub use wait::wanted_wait;
pub use worstcase_traces::follow::CycleTimes;
