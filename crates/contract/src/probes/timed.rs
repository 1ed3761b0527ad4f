//! Probes without parameters: their sample is the lateness of a timer, or what keeps a thread from running.

use super::ProbeInfo;
use crate::venue::{Only, Venue};
use worstcase_logs::Nanos;

/// Realfeel's rate.
const REALFEEL_HZ: u64 = 2_048;

pub(super) const WAKEUP: ProbeInfo = ProbeInfo {
    name: "wakeup",
    about: "how late a periodic thread wakes up",
    ..ProbeInfo::PERIODIC
};

pub(super) const RESPONSE: ProbeInfo = ProbeInfo {
    name: "response",
    about: "the same in parts: in the lab SIGALRM of an interval timer, on the host by the kernel's trace (root)",
    ..ProbeInfo::PERIODIC
};

pub(super) const JITTER: ProbeInfo = ProbeInfo {
    name: "jitter",
    about: "Realfeel: how far periods differ from what they should be",
    period: |_, _| Nanos(1_000_000_000 / REALFEEL_HZ),
    ..ProbeInfo::PERIODIC
};

pub(super) const NOISE: ProbeInfo = ProbeInfo {
    name: "noise",
    sample: Some("gaps: time taken from a thread that never sleeps"),
    about: "what takes the CPU away from a thread that never sleeps",
    samples: |_| 50,
    period: |_, venue| match venue {
        Venue::Lab => Nanos::from_millis(10),
        Venue::Host => Nanos::from_millis(100),
    },
    ..ProbeInfo::PERIODIC
};

pub(super) const TIMERLAT: ProbeInfo = ProbeInfo {
    name: "timerlat",
    sample: Some("latency: timer due to the kernel's timerlat thread"),
    about: "how late the kernel's own timerlat threads are (root; CONFIG_TIMERLAT_TRACER)",
    only: Only::host("it reads the tracer of the machine's own kernel; in the lab: wakeup or response"),
    ..ProbeInfo::PERIODIC
};
