//! Measuring: a thread a CPU takes samples, one thread collects them.
//!
//! ```text
//! run       one measurement from load to last message
//! session   the same by threads, from warm-up to end; its sink is one of these two:
//! every       of a run: every sample is kept             watch       of a watch: summaries of segments, in bounded memory
//! collect     a CPU's words into its file                gather      a CPU's words into its running segment
//! room        whether the disk has room for samples      worst       the largest samples and their neighbours
//! threads   all measuring threads                        thread    a measuring thread's whole life
//! segments  the sampling loop                            source    what wakes a thread: one type a timer
//! spin      the loop of `noise`                          timerlat  the kernel's threads, read
//! books     where the periods went                       report    what a thread says of its segment
//! ring      from a loop to the sink, without a lock      decode    its words as samples
//! traced    the kernel's trace of the threads            observe   what it tells of samples and gaps
//! counters  of load and machine, over a measurement      rights    memory, idle states, CPU, policy
//! bench     probes that do not measure CPU by CPU        pace      when it begins, how often one looks
//! error     why it gave nothing
//! ```

mod bench;
mod books;
mod collect;
mod counters;
mod decode;
mod error;
mod every;
mod gather;
mod observe;
mod pace;
mod report;
mod rights;
mod ring;
mod room;
mod run;
mod segments;
mod session;
mod source;
mod spin;
mod thread;
mod threads;
mod timerlat;
mod traced;
mod watch;
mod worst;

pub use error::MeasureError;
pub use run::run;
