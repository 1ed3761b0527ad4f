//! The kernel's tracepoints, beside the threads that measure.
//!
//! ```text
//! tracefs   a private, detached mount of it: ids and formats          points    those of a purpose, in this kernel
//! probes    functions, on kernels whose tracepoints do not tell all   perf/     one counter a tracepoint and CPU, one ring a CPU
//! events    worstcase_traces: typed events on CLOCK_MONOTONIC         tracer    all of it: open, drain, lost
//! parts     response: which part of a sample's lateness went where    noise     who took the CPU from a spinning thread
//! timeline  events -> what a CPU ran                                  timerlat  the lines of the kernel's own tracer
//! recorder  the events around the latest samples, kept                entered   what enters a CPU, and who sent it
//! ```
//!
//! Nothing here guesses: where events were lost or are missing, time is unexplained.

pub(crate) mod entered;
mod error;
pub use worstcase_traces::events;
pub mod noise;
pub mod parts;
mod perf;
mod points;
mod probes;
pub mod recorder;
pub mod timeline;
pub mod timerlat;
mod tracefs;
mod tracer;

pub use error::TracingError;
pub use events::{CallbackKind, CpuContext, CpuEvent, ShortName, TracedChange};
pub(crate) use noise::CpuNoise;
pub use parts::{AskedSample, LatenessParts, Splitter};
pub(crate) use perf::fuzz_records;
pub use recorder::{EventRecorder, EventSnapshot};
pub(crate) use tracefs::timerlat_available;
pub use tracer::Tracer;
pub use worstcase_traces::purpose::Purpose;
