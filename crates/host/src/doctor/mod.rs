//! What harms latency on this machine, why, and the remedy.
//!
//! ```text
//! finding   what is found         rules   one function a finding, from facts alone
//! apply     sets what can be set and set back, through the journal
//! ```

pub mod apply;
mod finding;
mod rules;

pub use apply::{Applied, AppliedFinding, apply};
pub use finding::{Finding, FindingLevel, TemporaryChange};
pub use rules::HYPERVISOR_REMEDY;

use super::CpuList;
use super::facts::MachineFacts;

/// The facts of the machine, and the CPUs to measure.
struct Patient<'a> {
    facts: &'a MachineFacts,
    /// The CPUs to measure.
    cpus: &'a CpuList,
    /// Online CPUs that are not measured: everything else can run there.
    others: CpuList,
}

/// All findings for a machine on which `cpus` are to be measured, the worst first.
pub fn examine(facts: &MachineFacts, cpus: &CpuList) -> Vec<Finding> {
    let online = facts.cpu.online.clone().unwrap_or_default();
    let patient = Patient {
        facts,
        cpus,
        others: online.without(cpus),
    };
    let mut findings: Vec<Finding> = rules::all().filter_map(|rule| rule(&patient)).collect();
    if let Some(place) = &facts.kernel.parameters {
        findings.iter_mut().for_each(|finding| finding.tell_parameters(place));
    }
    findings.sort_by_key(|finding| finding.level);
    findings
}

/// The findings that can be set for a while.
pub fn settable(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(|finding| finding.can_be_set())
}

#[cfg(test)]
mod board_tests;
#[cfg(test)]
mod tests;
