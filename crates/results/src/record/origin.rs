//! The place, time and settings of a host's measurement: they decide whether two records of one kernel are
//! comparable.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use worstcase_base::utc::Utc;

/// The origin of a host record. Values that could not be read are absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordOrigin {
    /// The machine's host name.
    pub host: String,
    /// Digest of its machine-id, `sha256:` and hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_id: Option<String>,
    /// When the measurement began, its warm-up included.
    pub began: Utc,
    /// When it ended.
    pub ended: Utc,
    /// Vendor and product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Vendor and name of the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Vendor, version and date of the firmware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Frequency governors before anything was applied, and the CPUs of each.
    pub governors: BTreeMap<String, String>,
    /// Boot parameters of isolation (`isolcpus`, `nohz_full`, `rcu_nocbs`, `irqaffinity`), and the kernel's result
    /// (`isolated`, `tickless`).
    pub isolation: BTreeMap<String, String>,
    /// Flaws of the processor, and what the kernel does about each.
    pub mitigations: BTreeMap<String, String>,
    /// The doctor's findings before the run, the worst first, without settings that are as they should be.
    pub findings: Vec<DoctorFinding>,
    /// The settings made for the run; absent without `--apply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Vec<WasSet>>,
}

/// A finding of the doctor's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorFinding {
    /// Its short name.
    pub id: String,
    /// `harmful`, `notice` or `not-known`.
    pub level: String,
    /// The finding.
    pub what: String,
    /// Whether the doctor can set it right for the length of a run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub can_be_set: bool,
}

/// The result of a finding's remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WasSet {
    /// The finding's short name.
    pub id: String,
    /// Changes that were made, or were in force already.
    pub made: usize,
    /// Why the others were not.
    pub refused: Vec<String>,
}

/// The doctor's finding that a hypervisor is below.
const HYPERVISOR: &str = "hypervisor";

impl RecordOrigin {
    /// `this machine is a guest of a hypervisor (kvm)`, if it is.
    pub fn guest_of(&self) -> Option<&str> {
        self.found(HYPERVISOR)
    }

    /// Whether a hypervisor is below it; `None` where the doctor could not tell.
    pub fn is_guest(&self) -> Option<bool> {
        match self.findings.iter().find(|f| f.id == HYPERVISOR) {
            Some(found) => (found.level != "not-known").then_some(true),
            // What is well is not kept.
            None => Some(false),
        }
    }

    /// What the doctor found by this short name, if it could tell.
    pub fn found(&self, id: &str) -> Option<&str> {
        let mut found = self.findings.iter().filter(|f| f.id == id && f.level != "not-known");
        found.next().map(|finding| finding.what.as_str())
    }

    /// Its facts as names and values, for people; not host name and times.
    pub fn facts(&self) -> Vec<(String, String)> {
        let mut facts: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            facts.extend(value.filter(|v| !v.is_empty()).map(|value| (name.to_string(), value)));
        };
        let pairs = |map: &BTreeMap<String, String>| {
            let all: Vec<String> = map.iter().map(|(name, value)| format!("{name}={value}")).collect();
            Some(all.join(" "))
        };
        add("machine-id", self.machine_id.clone());
        add("system", self.system.clone());
        add("board", self.board.clone());
        add("firmware", self.firmware.clone());
        add(
            "governor",
            Some(
                self.governors
                    .iter()
                    .map(|(name, cpus)| format!("{name} (CPUs {cpus})"))
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
        );
        add("isolation", pairs(&self.isolation));
        let mitigations = self.mitigations.iter().filter(|(_, what)| *what != "Not affected");
        add(
            "mitigations",
            Some(
                mitigations
                    .map(|(flaw, what)| format!("{flaw}: {what}"))
                    .collect::<Vec<_>>()
                    .join("; "),
            ),
        );
        for level in ["harmful", "notice", "not-known"] {
            let of_level = self.findings.iter().filter(|f| f.level == level);
            let all: Vec<String> = of_level.map(|f| f.what.clone()).collect();
            add(&format!("found, {}", level.replace('-', " ")), Some(all.join("; ")));
        }
        add("applied", self.applied.as_ref().map(|all| applied(all)));
        facts
    }
}

fn applied(all: &[WasSet]) -> String {
    let one = |set: &WasSet| match (&set.refused[..], set.made) {
        ([], _) => set.id.clone(),
        ([first, ..], 0) => format!("not {} ({first})", set.id),
        ([first, ..], made) => format!("{} in part: {made} of {} ({first})", set.id, made + set.refused.len()),
    };
    match all {
        [] => "nothing was left to set".into(),
        all => all.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_told_and_what_was_refused_too() {
        let set = |id: &str, made, refused: &[&str]| WasSet {
            id: id.into(),
            made,
            refused: refused.iter().map(ToString::to_string).collect(),
        };
        let origin = RecordOrigin {
            host: "rtbox".into(),
            machine_id: None,
            began: Utc::at(0),
            ended: Utc::at(60),
            system: Some("Acme Rack 5".into()),
            board: None,
            firmware: None,
            governors: [("powersave".to_string(), "0-3".to_string())].into(),
            isolation: BTreeMap::new(),
            mitigations: [("l1tf", "Not affected"), ("spectre_v2", "Vulnerable")]
                .map(|(flaw, what)| (flaw.to_string(), what.to_string()))
                .into(),
            findings: vec![DoctorFinding {
                can_be_set: false,
                id: "governor".into(),
                level: "harmful".into(),
                what: "the governor is powersave".into(),
            }],
            applied: Some(vec![
                set("governor", 4, &[]),
                set("interrupts", 1, &["no"]),
                set("nmi-watchdog", 0, &["why"]),
            ]),
        };
        let told: Vec<String> = origin
            .facts()
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        assert_eq!(
            told,
            [
                "system: Acme Rack 5",
                "governor: powersave (CPUs 0-3)",
                "mitigations: spectre_v2: Vulnerable",
                "found, harmful: the governor is powersave",
                "applied: governor, interrupts in part: 1 of 2 (no), not nmi-watchdog (why)",
            ]
        );
        let json = serde_json::to_string(&origin).unwrap();
        assert!(json.contains("\"began\":\"1970-01-01T00:00:00Z\""), "{json}");
        assert_eq!(serde_json::from_str::<RecordOrigin>(&json).unwrap(), origin);
    }
}
