//! The quantities that a sample can have.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The quantity of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Due time to sample.
    Latency,
    /// Due time to the first instruction of the timer interrupt: how long interrupts were off.
    IrqLatency,
    /// First instruction of the timer interrupt to sample: the response time of the 2006 study.
    AfterIrq,
    /// Entry of the timer interrupt to the wake-up it issues.
    Handler,
    /// Wake-up issued to thread switched in.
    Scheduling,
    /// Thread switched in to sample.
    Return,
    /// The part that the trace does not explain.
    Unexplained,
    /// Difference of a period from the intended one.
    Jitter,
    /// Of a program's cycle: release to the begin of its work.
    Start,
    /// Of a program's cycle: its thread ran.
    Execution,
    /// Of a program's cycle: its thread was ready, and something else had the CPU.
    Interference,
    /// Of a program's cycle: its thread was blocked.
    Blocked,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Quantity; 12] = [
        Quantity::Latency,
        Quantity::IrqLatency,
        Quantity::AfterIrq,
        Quantity::Handler,
        Quantity::Scheduling,
        Quantity::Return,
        Quantity::Unexplained,
        Quantity::Jitter,
        Quantity::Start,
        Quantity::Execution,
        Quantity::Interference,
        Quantity::Blocked,
    ];

    /// Those of a program's cycle: the whole, the begin of its work, and the parts that the whole is the sum of.
    pub const OF_CYCLES: [Quantity; 6] = [
        Quantity::Latency,
        Quantity::Start,
        Quantity::Execution,
        Quantity::Interference,
        Quantity::Blocked,
        Quantity::Unexplained,
    ];

    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::Latency => "latency",
            Quantity::IrqLatency => "irq_latency",
            Quantity::AfterIrq => "after_irq",
            Quantity::Handler => "handler",
            Quantity::Scheduling => "scheduling",
            Quantity::Return => "return",
            Quantity::Unexplained => "unexplained",
            Quantity::Jitter => "jitter",
            Quantity::Start => "start",
            Quantity::Execution => "execution",
            Quantity::Interference => "interference",
            Quantity::Blocked => "blocked",
        }
    }

    /// Its title, for headings.
    pub const fn title(self) -> &'static str {
        match self {
            Quantity::Latency => "latency: timer due to user code",
            Quantity::IrqLatency => "irq_latency: timer due to timer interrupt",
            Quantity::AfterIrq => "after_irq: timer interrupt to user code",
            Quantity::Handler => "handler: timer interrupt to wake-up issued",
            Quantity::Scheduling => "scheduling: wake-up issued to switched in",
            Quantity::Return => "return: switched in to user code",
            Quantity::Unexplained => "unexplained: not told by the trace",
            Quantity::Jitter => "jitter: distance of a period from what it should be",
            Quantity::Start => "start: timer due, or woken, to the begin of the cycle's work",
            Quantity::Execution => "execution: the thread ran",
            Quantity::Interference => "interference: ready, and something else had the CPU",
            Quantity::Blocked => "blocked: waited for another thread, or a device",
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
