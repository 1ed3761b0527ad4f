//! What runs on the machine in front of you, and only there: the lab's guest does not hold it.
//!
//! ```text
//! trace    the kernel's tracepoints, read through perf's rings      loads    loads beside those of the lab
//! ```

pub mod loads;
pub mod trace;
