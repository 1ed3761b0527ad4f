//! Many breakdowns by cause: the largest obstacles of a kernel, in order.

use super::spans::{Breakdown, Mechanism};
use serde::Serialize;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

/// Samples with one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseGroup {
    /// The subject.
    pub subject: String,
    /// The load.
    pub load: String,
    /// The mechanism of the cause.
    pub mechanism: Mechanism,
    /// The function that caused it.
    pub function: Option<String>,
    /// Its caller.
    pub caller: Option<String>,
    /// The number of breakdowns in the group.
    pub samples: usize,
    /// The highest latency among them.
    pub worst_ns: Nanos,
    /// The most that the cause itself took in one of them.
    pub cause_ns: Nanos,
}

/// Groups breakdowns by subject, load, mechanism, function and caller; the worst first. The wake-up's own way is one cause,
/// whichever function it interrupted.
pub fn group(breakdowns: &[&Breakdown]) -> Vec<CauseGroup> {
    let mut groups: BTreeMap<_, CauseGroup> = BTreeMap::new();
    for breakdown in breakdowns {
        let (sample, cause) = (breakdown.sample(), breakdown.cause());
        let named = cause.mechanism != Mechanism::WakeUpPath;
        let (function, caller) = (
            cause.function.as_ref().filter(|_| named),
            cause.caller.as_ref().filter(|_| named),
        );
        let key = (&sample.subject, &sample.load, cause.mechanism, function, caller);
        let group = groups.entry(key).or_insert_with(|| CauseGroup {
            subject: sample.subject.clone(),
            load: sample.load.clone(),
            mechanism: cause.mechanism,
            function: function.cloned(),
            caller: caller.cloned(),
            samples: 0,
            worst_ns: Nanos(0),
            cause_ns: Nanos(0),
        });
        group.samples += 1;
        group.worst_ns = group.worst_ns.max(sample.latency_ns);
        group.cause_ns = group.cause_ns.max(cause.length_ns);
    }
    let mut groups: Vec<CauseGroup> = groups.into_values().collect();
    groups.sort_by(|a, b| (&a.subject, b.worst_ns).cmp(&(&b.subject, a.worst_ns)));
    groups
}
