//! What the kernel's tracepoints tell.
//!
//! ```text
//! events   records of tracepoints as typed events on CLOCK_MONOTONIC
//! follow   one thread's cycles, and where the time of each went: through the threads that it waited for
//! ```
//!
//! Nothing here guesses: where events were lost or are missing, time is unexplained.

pub mod events;
pub mod follow;
