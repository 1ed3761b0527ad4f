//! The probes as a type.

use super::follow::ProgramName;
use serde::{Deserialize, Serialize};
use worstcase_cell::bench::Bench;

/// The instrument that measures, with its parameters; serialised as the user typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Probe {
    /// How late a periodic thread wakes up (`clock_nanosleep` until an absolute time).
    Wakeup,
    /// The same from the timer's interrupt on. Lab: SIGALRM of an interval timer; host: each sample split by the kernel's trace.
    Response,
    /// Realfeel: how far a period differs from the intended one.
    Jitter,
    /// What takes the CPU away from a thread that never sleeps.
    Noise,
    /// How late the kernel's own timerlat threads are, as their tracer reports.
    Timerlat,
    /// A probe whose sample is not the lateness of a timer.
    Bench(Bench),
    /// A program of the user's own, whose cycles are the samples.
    Program(ProgramName),
}
