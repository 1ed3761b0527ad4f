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
    details: "A thread sleeps until an absolute time (on a host by --timer) and reads the clock when it runs: cyclictest's \
              question, and the one to begin with. --policy other measures an ordinary task instead.",
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
    details: "A signal (SIGALRM) of a periodic timer: the handler reads the clock. The sample begins with the timer's \
              interrupt in time and ends in the handler; on PREEMPT_RT POSIX timers expire in a thread of low priority, on \
              which it depends, and wakeup does not.",
    needs: "on a host root, for the parts",
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
    details: "Reads the periodic interrupts of the real-time clock: a period's length minus what it should be. The \
              interval is one that the clock has, 1/2 s to 1/8192 s.",
    needs: "/dev/rtc",
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
    details: "A thread reads the clock (in the lab: a counter) again and again; a turn that takes much longer is a gap. \
              Kept are gaps from --threshold on. In the lab an ordinary thread; --policy fifo makes it a real-time one.",
    needs: "on a host root, for the causes",
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
    details: "The kernel's tracer has a thread on each CPU and tells when its timer's interrupt came and when it ran.",
    needs: "root; CONFIG_TIMERLAT_TRACER",
    only: Only::host("it reads the tracer of the machine's own kernel; in the lab: wakeup or response"),
    main: |_, _| &[Quantity::IrqLatency, Quantity::Latency],
    drawn: WHOLE_AND_PARTS,
    ..ProbeInfo::PERIODIC
};
