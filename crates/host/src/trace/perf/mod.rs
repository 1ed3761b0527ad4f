//! perf's counters for tracepoints and functions, and the rings that they write to.

mod counter;
mod ring;

pub(crate) use counter::CounterRequest;
pub use counter::{Counter, CounterSource};
pub(crate) use ring::fuzz_records;
pub use ring::{Ring, RingRecord};
