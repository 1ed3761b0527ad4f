//! Probes without parameters, and the way of one cell on the machine that is measured.
//!
//! ```text
//! run         one cell: start the load, get ready, warm up, measure, check the load, stop it, write the record
//! recorder    the sample buffers, marks, and the accounting expected = taken + missed
//! real_time   the rights to measure with: policy, locked memory; what is missing becomes a warning
//! wakeup      absolute periodic sleep
//! response    interval timer and signal handler
//! jitter      the real-time clock's interrupts
//! noise       what takes the CPU from a thread that reads the clock without end
//! ```

mod jitter;
mod noise;
mod real_time;
mod recorder;
mod response;
mod run;
mod wakeup;

pub use run::{ProbeError, run};
