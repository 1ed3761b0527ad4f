//! What runs on the machine in front of you, and only there: the lab's guest does not hold it.
//!
//! ```text
//! spec     what is asked of one measurement               desk -> measuring process
//! measure  a thread a CPU that takes samples              -> files of packed samples
//! message  what it tells while it runs                    measuring process -> desk
//! packed   samples as words
//! trace    the kernel's tracepoints, read through perf's rings
//! loads    loads beside those of the lab
//! machine  what the kernel counts meanwhile
//! sys      system interfaces that need `unsafe`
//! ```

pub mod loads;
mod machine;
pub mod measure;
pub mod message;
pub mod packed;
pub mod spec;
pub mod sys;
pub mod trace;

pub use spec::HostSpec;
