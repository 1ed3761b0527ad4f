//! What the kernel's tracepoints tell.
//!
//! ```text
//! events   records of tracepoints as typed events on CLOCK_MONOTONIC
//! contexts the interrupts that are open on a CPU, one within the other
//! purpose  what traces are for
//! table    the tracepoints: fields, what they tell, who asks
//! format   one format file -> offsets
//! pages    the kernel's own pages of records -> typed events
//! follow   one thread's cycles, and where the time of each went: through the threads that it waited for
//! ```
//!
//! Nothing here guesses: where events were lost or are missing, time is unexplained.

pub mod contexts;
pub mod events;
pub mod follow;
pub mod format;
pub mod pages;
pub mod purpose;
pub mod table;
