//! All probes: one file each (`timed`: those without parameters), and a line in [`PROBES`].
//!
//! What differs from probe to probe is a field of [`ProbeInfo`], so that no other code asks which probe it has.
//!
//! ```text
//! kind   the probes as a type      info    ProbeInfo: what controllers know of one
//! NAME   its row                   list    all rows
//!                                  follow  the row of a program of the user's own
//! ```

mod epoll;
pub(crate) mod follow;
mod hackbench;
pub(crate) mod info;
mod inversion;
mod io;
mod irq;
pub(crate) mod kind;
mod list;
mod pick;
mod remote;
mod shootdown;
mod spawn;
mod switch;
mod timed;

pub use info::{CpuNeed, Extreme, ProbeInfo, SampleBegin, SamplePath};
pub use kind::Probe;
pub use list::PROBES;
