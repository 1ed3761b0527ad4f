//! Measuring: a thread a CPU takes samples, one thread collects them.
//!
//! ```text
//! take      the sampling loop                              source   what wakes a thread: one type a timer
//! ring      from the loop to the collector, without a lock books    where the periods went
//! observe   the kernel's trace beside them
//! spin      the loop of `noise`
//! rights    memory, idle states, CPU, policy               thread   a measuring thread's whole life
//! threads   all of them                                timerlat the kernel's threads, read
//! collect   a CPU's words into its file and statistics     run      one measurement from load to last message
//! segments  sampling without an end                        gather   a CPU's words into its running segment
//! worst     the largest samples and their neighbours       watch    a measurement without an end
//! report    what a thread says of its segment
//! captures  what led to the latest samples of a segment
//! bench     probes that do not measure CPU by CPU         room     whether the disk has room to keep the samples
//! pace      when it begins, how often one looks           error    why it gave nothing
//! ```

mod bench;
mod books;
mod captures;
mod collect;
mod error;
mod gather;
mod observe;
mod pace;
mod report;
mod rights;
mod ring;
mod room;
mod run;
mod segments;
mod source;
mod spin;
mod take;
mod thread;
mod threads;
mod timerlat;
mod watch;
mod worst;

pub use error::MeasureError;
pub use run::run;
