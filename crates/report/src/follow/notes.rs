//! What was seen of a cycle's CPUs besides what they ran, in words.

use super::terminal::seconds;
use worstcase_base::duration;
use worstcase_base::format::{counted, micros};
use worstcase_contract::Nanos;
use worstcase_traces::follow::{CpuNote, Followed, StolenTime};

/// Frequencies of one CPU that are told.
const STEPS: usize = 4;

/// A note on a cycle that is released then.
pub(super) fn note(note: &CpuNote, release: Nanos) -> String {
    match note {
        CpuNote::Frequencies { cpu, steps } => {
            let told = steps.iter().take(STEPS).map(|(at, khz)| {
                let since = at.saturating_sub(release);
                format!("{} MHz from {} us on", khz / 1_000, micros(since))
            });
            let told: Vec<String> = told.collect();
            let more = match steps.len().saturating_sub(STEPS) as u64 {
                0 => String::new(),
                more => format!(", and {}", counted(more, "other frequency")),
            };
            format!(
                "CPU {cpu} did not run at its highest frequency: {}{more}",
                told.join(", ")
            )
        }
        CpuNote::Stolen(StolenTime { cpu, from, to, time }) => format!(
            "a hypervisor took about {} from CPU {cpu} between {} and {} s; how much of this cycle is not known",
            duration::about(*time),
            seconds(*from),
            seconds(*to)
        ),
    }
}

/// In how many late cycles there was something, a sentence each.
pub(super) fn noted(followed: &Followed) -> Vec<String> {
    let sentence = |count: u64, what: &str| (count > 0).then(|| format!("In {} {what}.", counted(count, "late cycle")));
    let stolen = sentence(followed.noted.stolen, "a hypervisor took time from the CPUs");
    let slowed = sentence(followed.noted.slowed, "a CPU did not run at its highest frequency");
    stolen.into_iter().chain(slowed).collect()
}
