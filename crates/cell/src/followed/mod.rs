//! A program of the user's own as the instrument, in a machine that is its alone: it runs under the kernel's trace, which leaves
//! the machine as it is. Whoever reads it finds the cycles.
//!
//! ```text
//! tracing  two instances of the kernel's trace: what all CPUs do, and what the program's threads do in the kernel
//! child    the program: held until the trace is on, ended when its time is over
//! trace    what leaves the machine
//! ```

mod child;
mod trace;
mod tracing;

pub use trace::{RawTrace, TraceFormat, TraceStream};

use child::Child;
use std::io;
use tracing::Tracing;
use worstcase_instruments::placement::Placement;
use worstcase_instruments::sys::clock;
use worstcase_logs::Nanos;

/// The file of the machine that names the tracepoints, a line each: `all sched/sched_switch`, `program raw_syscalls/sys_enter`, or
/// a whole system as `all irq_vectors/`.
pub const POINTS: &str = "/follow/points";

/// What cannot be done, and the answer of the system; or what the program did.
#[derive(Debug, thiserror::Error)]
pub enum FollowedError {
    /// A system call or a file of the trace.
    #[error("{0}: {1}")]
    System(String, #[source] io::Error),
    /// The program.
    #[error("the program '{program}' ended with {how}: {last}")]
    Program {
        /// Its first word.
        program: String,
        /// How it ended.
        how: String,
        /// The last line that it wrote.
        last: String,
    },
}

impl FollowedError {
    fn system<S: Into<String>>(what: S) -> impl FnOnce(io::Error) -> FollowedError {
        |source| FollowedError::System(what.into(), source)
    }
}

/// A program that is ready to run, with its trace.
#[derive(Debug)]
pub(crate) struct Followed {
    words: Vec<String>,
    tracing: Tracing,
}

impl Followed {
    /// Makes everything ready that takes time.
    pub fn new(words: &[String]) -> Result<Followed, FollowedError> {
        Ok(Followed {
            words: words.to_vec(),
            tracing: Tracing::new()?,
        })
    }

    /// Runs the program for `time`, or to its end, on all CPUs.
    pub fn run(&self, time: Nanos, placement: Option<&Placement>) -> Result<RawTrace, FollowedError> {
        let child = Child::hold(&self.words, placement.map(Placement::all).unwrap_or_default())?;
        self.tracing.begin(child.pid)?;
        let began = clock::monotonic();
        child.release()?;
        let ended = child.wait_until(began + time)?;
        self.tracing.end()?;
        let trace = RawTrace {
            pid: child.pid as u32,
            began,
            ended: clock::monotonic(),
            is_whole: ended.is_some(),
            output: child.output(),
            formats: Vec::new(),
            streams: Vec::new(),
        };
        child.finish(ended, &self.words, &trace)?;
        Ok(trace)
    }

    /// Takes the events of a trace out of the kernel.
    pub fn collect(self, trace: &mut RawTrace) -> Result<(), FollowedError> {
        (trace.formats, trace.streams) = self.tracing.collect()?;
        Ok(())
    }
}
