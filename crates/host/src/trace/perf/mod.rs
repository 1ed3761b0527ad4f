//! perf's counters of tracepoints and functions, and the rings that they write to.

mod counter;
mod ring;

pub use counter::{Counter, Request, Source};
pub use ring::{Record, Ring, fuzz_records};
