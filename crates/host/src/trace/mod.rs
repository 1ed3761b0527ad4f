//! The kernel's tracepoints, beside the threads that measure.
//!
//! ```text
//! tracefs   a private, detached mount of it: ids and formats          points    those of a purpose, in this kernel
//! own_interrupts the timer's, where the kernel has no vectors (arm)
//! probes    functions, on kernels whose tracepoints do not tell all   perf/     one counter a tracepoint and CPU, one ring a CPU
//! tracer    all of it: open, drain, lost                              timeline  events -> what a CPU ran
//! parts     response: which part of a sample's lateness went where    noise     who took the CPU from a spinning thread
//! recorder  the events around the latest samples, kept                timerlat  the lines of the kernel's own tracer
//! entered   what enters a CPU, and who sent it                        call_cost what following a thread adds to its calls
//! program   a program's trace: by two instances of tracefs, or perf   instances all that are made
//! beside    the trace beside samples, by one or perf                  wakeup_cost how much later a trace makes a wake-up
//! ```
//! Typed events, the table of tracepoints and what a trace is for are those of `worstcase_traces`.
//!
//! Nothing here guesses: where events were lost or are missing, time is unexplained.

mod beside;
mod call_cost;
pub(crate) mod entered;
mod error;
pub use worstcase_traces::events;
mod instances;
pub mod noise;
mod own_interrupts;
pub mod parts;
mod perf;
mod points;
mod probes;
pub(crate) mod program;
pub mod recorder;
pub mod timeline;
pub mod timerlat;
pub(crate) mod tracefs;
mod tracer;
pub(crate) mod wakeup_cost;

pub(crate) use beside::TraceBeside;
pub use error::TracingError;
pub use events::{CallbackKind, CpuContext, CpuEvent, ShortName, TracedChange};
pub(crate) use instances::TracedMark;
pub(crate) use noise::CpuNoise;
pub use parts::{AskedSample, LatenessParts, Splitter};
pub(crate) use perf::fuzz_records;
pub use program::TraceRecorder;
pub use recorder::{EventRecorder, EventSnapshot};
pub(crate) use tracefs::timerlat_available;
pub use tracer::Tracer;
pub use worstcase_traces::purpose::Purpose;
