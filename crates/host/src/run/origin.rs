//! Where and when: the origin that a record keeps.

use crate::MachineFacts;
use crate::doctor::{AppliedFinding, Finding, FindingLevel};
use crate::facts::isolation::Isolation;
use std::collections::BTreeMap;
use worstcase_base::utc::Utc;
use worstcase_results::record::{DoctorFinding, RecordOrigin, WasSet};

/// The origin before anything is applied; the times are filled in around each measurement.
pub fn of(facts: &MachineFacts, findings: &[Finding]) -> RecordOrigin {
    let identity = &facts.identity;
    let now = Utc::now();
    let governors = facts.power.governors.iter();
    RecordOrigin {
        host: identity.host.clone().unwrap_or_else(|| "unknown".into()),
        machine_id: identity.machine_id.clone(),
        began: now,
        ended: now,
        system: identity.system.clone(),
        board: identity.board.clone(),
        firmware: identity.firmware.clone(),
        governors: governors.map(|(name, cpus)| (name.clone(), cpus.to_string())).collect(),
        isolation: isolation(&facts.isolation),
        mitigations: facts.vulnerabilities.clone(),
        findings: findings.iter().filter_map(found).collect(),
        applied: None,
    }
}

/// The settings that `--apply` made, for records.
pub(crate) fn was_set(outcomes: &[AppliedFinding]) -> Vec<WasSet> {
    let one = |outcome: &AppliedFinding| WasSet {
        id: outcome.id.to_string(),
        made: outcome.made,
        refused: outcome.refused.clone(),
    };
    outcomes.iter().map(one).collect()
}

fn found(finding: &Finding) -> Option<DoctorFinding> {
    let level = match finding.level {
        FindingLevel::Harmful => "harmful",
        FindingLevel::Notice => "notice",
        FindingLevel::NotKnown => "not-known",
        FindingLevel::Good => return None,
    };
    Some(DoctorFinding {
        id: finding.id.to_string(),
        level: level.to_string(),
        what: finding.what.clone(),
        can_be_set: finding.can_be_set(),
    })
}

fn isolation(isolation: &Isolation) -> BTreeMap<String, String> {
    let list = |cpus: &Option<crate::CpuList>| cpus.as_ref().filter(|c| !c.is_empty()).map(ToString::to_string);
    let all = [
        ("isolcpus", isolation.isolcpus.clone()),
        ("nohz_full", isolation.nohz_full.clone()),
        ("rcu_nocbs", isolation.rcu_nocbs.clone()),
        ("irqaffinity", isolation.irqaffinity.clone()),
        ("isolated", list(&isolation.isolated)),
        ("tickless", list(&isolation.tickless)),
    ];
    let told = all
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_string(), value?)));
    told.collect()
}
