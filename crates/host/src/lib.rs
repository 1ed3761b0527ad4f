//! The machine in front of you: what it is, how it is set, and measuring it. The lab's guest does not hold this crate.
//!
//! ```text
//! facts    what this machine is
//! doctor   what of it harms latency, and setting it for a while
//! state    where journals are              journal  what is changed, written down before
//! command  runs a user's command            cpus     which CPUs can be measured, and which are isolated
//! guard    undoes it if we are killed      restore  undoes what killed runs left
//! http     a server for a watch's metrics that strangers may ask
//! run      measuring it, cell by cell
//!
//! spec     what is asked of one measurement               controller -> measuring process
//! measure  a thread a CPU that takes samples              -> files of packed samples
//! message  what it tells while it runs                    measuring process -> controller
//! packed   samples as words                               buckets  latencies as Prometheus counts them
//! watch    a measurement without an end, kept period by period
//! calibrate  what a CPU takes for operations whose events are known
//! isolate  what entered a CPU, and who sent it            follow   a program of the user's own, cycle by cycle
//! trace    the kernel's tracepoints, read through perf's rings          kernel_text  its code as it is now
//! loads    loads beside those of the lab
//! machine  what the kernel counts meanwhile
//! ```

pub mod buckets;
pub mod calibrate;
pub mod command;
pub mod cpus;
pub mod doctor;
mod error;
pub mod facts;
pub mod follow;
#[doc(hidden)]
pub mod fuzz;
mod guard;
pub mod guard_process;
pub mod http;
pub mod isolate;
pub mod journal;
pub mod kernel_text;
pub mod loads;
mod machine;
pub mod measure;
pub mod message;
pub(crate) mod packed;
pub mod restore;
pub mod run;
pub mod spec;
pub mod state;
pub mod trace;
pub mod watch;

pub use error::HostError;
pub use facts::MachineFacts;
pub use journal::{Journal, Undone};
pub use spec::HostSpec;
pub use state::StateFolder;
pub use worstcase_plan::CpuList;
