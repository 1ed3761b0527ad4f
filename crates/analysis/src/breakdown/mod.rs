//! Why a sample was late: from an execution to a breakdown.
//!
//! ```text
//! Execution   what ran, block by block, with symbols and tasks   (from a replay in the lab)
//! decode      how a block is left, and where it changes the interrupt flag
//! frames      call chains from calls and returns                 execution -> intervals, marks
//! roles       the roles of the kernel's functions in a breakdown: a table
//! lead        the part on the other CPU, of a sample that begins there
//! milestones  interrupt, timer's function, need_resched, switch  intervals -> points
//! waits       a probe that does not sleep on its timer but waits for something else
//! locks       who holds which spin lock, by the lock's address
//! chance      when a kernel that preempts would have taken the CPU
//! classify    the kind of each stretch between due time and sample  points -> stretches
//! shares      which functions took a stretch
//! sources     and which lines, if they are known
//! spans       the breakdown type: consecutive spans that add up exactly to the latency
//! folded      the call chains that ran, for flame graphs
//! cause       the first cause in one sentence, and its remedy
//! leaning     what counts of events say of a path's time
//! build       all of it in order                                 execution -> breakdown
//! host        the same from a recording of the machine in front of you: coarser
//! compare     two breakdowns side by side; group: many by cause
//! ```

pub mod build;
pub mod cause;
mod chance;
mod classify;
pub mod compare;
pub mod decode;
pub mod folded;
pub mod frames;
pub mod group;
pub mod host;
mod lead;
pub mod leaning;
pub mod lines;
mod locks;
pub(crate) mod milestones;
pub(crate) mod others;
pub(crate) mod roles;
pub(crate) mod shares;
pub(crate) mod sources;
pub mod spans;
pub mod stacks;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod waits;

pub use build::{Explanation, LabSurroundings, tell};
pub use roles::is_entry_of_all;
pub use spans::Breakdown;
