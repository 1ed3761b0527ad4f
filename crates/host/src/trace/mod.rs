//! The kernel's tracepoints, beside the threads that measure.
//!
//! ```text
//! tracefs   a private, detached mount of it: ids and formats          format    one format file -> offsets
//! table     the tracepoints: fields, what they tell, who asks         points    those of a purpose, in this kernel
//! probes    functions, on kernels whose tracepoints do not tell all   perf/     one counter a tracepoint and CPU, one ring a CPU
//! tracer    all of it: open, drain, lost; the typed events are those of `worstcase_traces`
//! parts     response: which part of a sample's lateness went where    noise     who took the CPU from a spinning thread
//! timeline  events -> what a CPU ran                                  timerlat  the lines of the kernel's own tracer
//! purpose   what a trace is for                              call_cost  what following a thread adds to its calls
//! recorder  the events around the latest samples, kept                entered   what enters a CPU, and who sent it
//! ```
//!
//! Nothing here guesses: where events were lost or are missing, time is unexplained.

mod call_cost;
pub(crate) mod entered;
mod error;
pub use worstcase_traces::events;
mod format;
pub mod noise;
pub mod parts;
mod perf;
mod points;
mod probes;
mod purpose;
pub mod recorder;
mod table;
pub mod timeline;
pub mod timerlat;
mod tracefs;
mod tracer;

pub(crate) use call_cost::cost_of_a_call;
pub use error::TracingError;
pub use events::{CallbackKind, CpuContext, CpuEvent, ShortName, TracedChange};
pub(crate) use format::fuzz_format;
pub(crate) use noise::CpuNoise;
pub use parts::{AskedSample, LatenessParts, Splitter};
pub(crate) use perf::fuzz_records;
pub use purpose::Purpose;
pub use recorder::{EventRecorder, EventSnapshot};
pub(crate) use tracefs::timerlat_available;
pub use tracer::Tracer;
