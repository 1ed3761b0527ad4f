//! The kernel's tracepoints, beside the threads that measure.
//!
//! ```text
//! tracefs   a private, detached mount of it: ids and formats          format    one format file -> offsets
//! perf/     one counter a tracepoint and CPU, one ring a CPU          points    what is traced for what purpose
//! events    records as typed events on CLOCK_MONOTONIC                tracer    all of it: open, drain, lost
//! parts     response: which part of a sample's lateness went where    noise     who took the CPU from a spinning thread
//! recorder  the events around the latest samples, kept
//! ```
//!
//! Nothing here guesses: where events were lost or are missing, time is unexplained.

mod error;
pub mod events;
mod format;
pub mod parts;
mod perf;
mod points;
mod tracefs;
mod tracer;

pub use error::TraceError;
pub use events::{Context, Event, Name, What};
pub use parts::{Ask, Parts, Splitter};
pub use tracefs::timerlat_available;
pub use tracer::{Purpose, Tracer};
