//! Probes without parameters: they sample the lateness of a timer, or what keeps a thread from running.

use super::info::{Extreme, ProbeForm, ProbeInfo};
use super::kind::Probe;
use crate::quantity::Quantity;
use crate::venue::{Only, Venue};
use worstcase_logs::Nanos;

const REALFEEL_HZ: u64 = 2_048;

/// The whole first, then its parts.
const WHOLE_AND_PARTS: &[Quantity] = &[Quantity::Latency, Quantity::IrqLatency, Quantity::AfterIrq];

pub(super) const WAKEUP: ProbeInfo = ProbeInfo {
    name: "wakeup",
    form: ProbeForm::Name(Probe::Wakeup),
    about: "how late a periodic thread wakes up",
    awaits_timer: true,
    has_slack_in_lab: true,
    quantities: |venue| match venue {
        Venue::Lab => &[Quantity::Latency, Quantity::IrqLatency, Quantity::AfterIrq],
        Venue::Host => &[Quantity::Latency],
    },
    ..ProbeInfo::PERIODIC
};

pub(super) const RESPONSE: ProbeInfo = ProbeInfo {
    name: "response",
    form: ProbeForm::Name(Probe::Response),
    about: "the same in parts: in the lab SIGALRM of an interval timer, on the host by the kernel's trace (root)",
    awaits_timer: true,
    quantities: |venue| match venue {
        Venue::Lab => &[Quantity::Latency, Quantity::IrqLatency, Quantity::AfterIrq],
        Venue::Host => &[
            Quantity::Latency,
            Quantity::IrqLatency,
            Quantity::AfterIrq,
            Quantity::Handler,
            Quantity::Scheduling,
            Quantity::Return,
            Quantity::Unexplained,
        ],
    },
    // The response study asks for both parts of the latency, if the lab has split it.
    main: |venue, is_measured| match venue {
        Venue::Lab if is_measured(Quantity::IrqLatency) => &[Quantity::IrqLatency, Quantity::AfterIrq],
        _ => &[Quantity::Latency],
    },
    drawn: WHOLE_AND_PARTS,
    ..ProbeInfo::PERIODIC
};

pub(super) const JITTER: ProbeInfo = ProbeInfo {
    name: "jitter",
    form: ProbeForm::Name(Probe::Jitter),
    about: "Realfeel: how far periods differ from what they should be",
    period: |_, _| Nanos(1_000_000_000 / REALFEEL_HZ),
    awaits_timer: true,
    ticks_as_rtc_in_lab: true,
    quantities: |venue| match venue {
        Venue::Lab => &[
            Quantity::Jitter,
            Quantity::Latency,
            Quantity::IrqLatency,
            Quantity::AfterIrq,
        ],
        Venue::Host => &[Quantity::Jitter, Quantity::Latency],
    },
    main: |_, _| &[Quantity::Jitter],
    drawn: &[Quantity::Jitter],
    ..ProbeInfo::PERIODIC
};

pub(super) const NOISE: ProbeInfo = ProbeInfo {
    name: "noise",
    form: ProbeForm::Name(Probe::Noise),
    sample: Some("gaps: time taken from a thread that never sleeps"),
    about: "what takes the CPU away from a thread that never sleeps",
    samples: |_| 50,
    period: |_, venue| match venue {
        Venue::Lab => Nanos::from_millis(10),
        Venue::Host => Nanos::from_millis(100),
    },
    is_ordinary_in_lab: true,
    counts_gaps: true,
    extreme: Extreme::Largest("Longest gap"),
    ..ProbeInfo::PERIODIC
};

pub(super) const TIMERLAT: ProbeInfo = ProbeInfo {
    name: "timerlat",
    form: ProbeForm::Name(Probe::Timerlat),
    sample: Some("latency: timer due to the kernel's timerlat thread"),
    about: "how late the kernel's own timerlat threads are (root; CONFIG_TIMERLAT_TRACER)",
    only: Only::host("it reads the tracer of the machine's own kernel; in the lab: wakeup or response"),
    main: |_, _| &[Quantity::IrqLatency, Quantity::Latency],
    drawn: WHOLE_AND_PARTS,
    ..ProbeInfo::PERIODIC
};
