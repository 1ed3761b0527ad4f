//! perf's counters for tracepoints and functions, and the rings that they write to.

mod counter;
mod ring;

pub use counter::{Counter, CounterRequest, CounterSource};
pub use ring::{Ring, RingRecord, fuzz_records};
