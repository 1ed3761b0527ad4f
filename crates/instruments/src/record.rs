//! What a probe and the loads beside it give: samples, where every period went, work.

use serde::{Deserialize, Serialize};
use worstcase_logs::Nanos;

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Which period; its due time is `start + index * period`.
    pub index: u32,
    /// Instant of the sample minus the due time, in ns of the probe's clock.
    pub latency: Nanos,
}

/// What measuring itself costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfCost {
    /// One read of the clock (minimum of many).
    pub clock_read: Nanos,
    /// One turn of the sampling loop with nothing to wait for (minimum of many).
    pub empty_sample: Nanos,
    /// CPU time of the probe while measuring.
    pub cpu_time: Nanos,
    /// Minor page faults of the probe while measuring.
    pub minor_faults: u64,
    /// Major page faults of the probe while measuring.
    pub major_faults: u64,
}

/// Where every period went: `expected = taken + missed + lost`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Periods {
    /// Periods that were due.
    pub expected: u64,
    /// Periods with a sample.
    pub taken: u64,
    /// Periods that passed while the probe was late.
    pub missed: u64,
    /// Periods whose sample we failed to keep: it says nothing of the machine.
    pub lost: u64,
    /// Most missed periods in a row: something was at least that many periods late.
    pub longest_missed_run: u64,
    /// Missed periods before the first or after the last sample, whose lateness no sample bounds.
    pub missed_at_ends: u64,
}

/// Work that a load delivered, as proof that it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// What was counted, e.g. `segments`, `forks`, `bytes`.
    pub unit: String,
    /// How often, while measuring.
    pub count: u64,
}
