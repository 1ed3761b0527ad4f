//! This machine as a subject.

use crate::MachineFacts;
use std::collections::BTreeMap;
use std::fs;
use worstcase_base::digest::sha256_hex;
use worstcase_results::record::{HostMachine, Preempt, Subject, SubjectKernel, SubjectMachine};

/// The subject, from the facts and the kernel's own description ([`worstcase_instruments::environment`]).
pub fn of(facts: &MachineFacts, environment: &BTreeMap<String, String>) -> Subject {
    let get = |key: &str| environment.get(key).cloned().unwrap_or_default();
    let release = get("release");
    let model = facts.kernel.preemption.model;
    Subject {
        kernel: SubjectKernel {
            name: "host".into(),
            label: release.clone(),
            release,
            version: get("version"),
            digest: format!("sha256:{}", sha256_hex(&notes())),
        },
        preempt: Preempt {
            asked: None,
            in_force: model.map_or("unknown".into(), |m| m.name().to_string()),
        },
        machine: SubjectMachine::Host(HostMachine {
            cpu: facts.cpu.model.clone().unwrap_or_else(|| "unknown".into()),
            cpus: facts.cpu.online.as_ref().map_or(0, |online| online.len() as u32),
            memory_mb: get("mem_total_kb").parse::<u32>().unwrap_or(0) / 1024,
            command_line: get("cmdline"),
            io_scheduler: None,
            policy: None,
        }),
    }
}

/// The kernel's build id and other notes, which distinguish two builds of one version.
fn notes() -> Vec<u8> {
    fs::read("/sys/kernel/notes").unwrap_or_default()
}
