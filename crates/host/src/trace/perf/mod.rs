//! perf's counters of tracepoints and the rings that they write to.

mod counter;
mod ring;

pub use counter::{Counter, Request};
pub use ring::{Record, Ring};
