//! The probes as a type.

use serde::{Deserialize, Serialize};
use worstcase_instruments::bench::Bench;

/// Which instrument measures, with its parameters; serialised as its user types it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Probe {
    /// How late a periodic thread wakes up (`clock_nanosleep` until an absolute time).
    Wakeup,
    /// The same from the timer's interrupt on. Lab: SIGALRM of an interval timer; host: each sample split by the kernel's trace.
    Response,
    /// Realfeel: how far periods differ from what they should be.
    Jitter,
    /// What takes the CPU away from a thread that never sleeps.
    Noise,
    /// How late the kernel's own timerlat threads are, told by their tracer.
    Timerlat,
    /// A probe whose sample is not the lateness of a timer.
    Bench(Bench),
}
