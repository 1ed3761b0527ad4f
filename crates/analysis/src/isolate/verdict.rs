//! Judges whether the number of entries is small enough.

use super::{IsolatedCpu, without_program};
use serde::Serialize;
use worstcase_base::format::counted;
use worstcase_host::isolate::ObservedEntries;
use worstcase_results::verdict::Outcome;

/// The answer, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The largest number of entries of one CPU that passes.
    pub criterion: u64,
    /// Kinds of entries that are not judged.
    pub excluded: Vec<String>,
    /// The answer.
    pub outcome: Outcome,
    /// Why; never empty.
    pub reasons: Vec<String>,
}

/// Judges each CPU; the worst counts. Unknown entries never make a PASS, and never a FAIL.
pub(crate) fn judge(
    observed: &ObservedEntries,
    cpus: &[IsolatedCpu],
    criterion: u64,
    excluded: &[String],
) -> Judgement {
    let above: Vec<String> = cpus
        .iter()
        .filter(|cpu| cpu.judged > criterion)
        .map(|cpu| {
            let times = counted(cpu.judged, "time");
            format!("CPU {}: entered {times}, more than {criterion}", cpu.cpu)
        })
        .collect();
    let mut doubts: Vec<String> = Vec::new();
    for cpu in cpus {
        if cpu.lost > 0 {
            let events = counted(cpu.lost, "event");
            doubts.push(format!("CPU {}: {events} lost, which may have been entries", cpu.cpu));
        }
        if cpu.stolen_ns.is_some_and(|time| time > 0) && !excluded.iter().any(|word| word == "steal") {
            let cpu = cpu.cpu;
            doubts.push(format!(
                "CPU {cpu}: the hypervisor took time, nobody knows how often; --exclude steal judges the rest"
            ));
        }
    }
    for cpu in without_program(observed, cpus) {
        doubts.push(format!("CPU {cpu}: the named program did not run there"));
    }
    if observed.is_ended_early {
        doubts.push("it was ended early".into());
    }
    let (outcome, reasons) = match (above.is_empty(), doubts.is_empty()) {
        (false, _) => (Outcome::Fail, above),
        (true, false) => (Outcome::Inconclusive, doubts),
        (true, true) => (
            Outcome::Pass,
            vec![format!(
                "no CPU was entered more often than {}",
                counted(criterion, "time")
            )],
        ),
    };
    Judgement {
        criterion,
        excluded: excluded.to_vec(),
        outcome,
        reasons,
    }
}
