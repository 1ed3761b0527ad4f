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
    /// The cause: a mechanism with the function that caused it and its caller, or a sentence about a cycle.
    pub cause: String,
    /// The number of samples in the group.
    pub samples: usize,
    /// The highest latency among them.
    pub worst_ns: Nanos,
    /// The most that the cause itself took in one of them.
    pub cause_ns: Nanos,
}

fn words(mechanism: Mechanism, function: Option<&String>, caller: Option<&String>) -> String {
    let function = function.map_or(String::new(), |function| format!(": {function}"));
    let by = caller.map_or(String::new(), |caller| format!(" < {caller}"));
    format!("{}{function}{by}", mechanism.title())
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
            cause: words(cause.mechanism, function, caller),
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
