//! What entered a CPU, how long it took, and who sent it. Nothing on the machine is changed.
//!
//! ```text
//! observe   the whole: opens the trace, follows it for a while, ends
//! occupant  a process whose threads keep CPUs busy          threads  whose a thread is, by its id
//! senders   what was sent and has not arrived yet            follow   one CPU's events -> entries
//! tally     entries, by cause and sender                     counters what the machine itself counts: SMIs, stolen time
//! program   the program that a user names
//! ```
//!
//! Functions are addresses here; `worstcase-analysis` names them.

mod counters;
mod follow;
pub mod observe;
pub mod occupant;
mod program;
mod senders;
pub(crate) mod tally;
pub(crate) mod threads;

pub use counters::Smis;
pub use observe::{CpuEntries, IsolationRequest, ObservedEntries, Occupy, observe};
pub use program::{process_with_id, processes_called};
pub use senders::EntrySender;
pub use tally::{CauseBySender, DurationFigures, EntryCause, EntryGap};
