//! This machine as a subject.

use crate::digest::sha256_hex;
use crate::record::{HostMachine, Kernel, Machine, Preempt, Subject};
use std::collections::BTreeMap;
use std::fs;

/// Of what the kernel says of itself ([`worstcase_probe::probes::environment`]).
pub fn of(environment: &BTreeMap<String, String>) -> Subject {
    let get = |key: &str| environment.get(key).cloned().unwrap_or_default();
    let release = get("release");
    Subject {
        kernel: Kernel {
            name: "host".into(),
            label: release.clone(),
            release,
            version: get("version"),
            digest: format!("sha256:{}", sha256_hex(&notes())),
        },
        preempt: Preempt {
            asked: None,
            in_force: preemption(&get("preempt")),
        },
        machine: Machine::Host(HostMachine {
            cpu: cpu_name(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
            cpus: get("cpus").parse().unwrap_or(0),
            memory_mb: get("mem_total_kb").parse::<u32>().unwrap_or(0) / 1024,
            command_line: get("cmdline"),
        }),
    }
}

/// The kernel's build id and other notes: what tells two builds of one version apart.
fn notes() -> Vec<u8> {
    fs::read("/sys/kernel/notes").unwrap_or_default()
}

/// A word for names of cells; the environment keeps the sentence.
fn preemption(said: &str) -> String {
    match said {
        "" => "unknown".to_string(),
        text if text.contains("unknown") => "dynamic".to_string(),
        text => text.to_string(),
    }
}

fn cpu_name(cpuinfo: &str) -> String {
    let name = cpuinfo.lines().find_map(|line| line.strip_prefix("model name"));
    name.map_or_else(
        || "unknown".into(),
        |n| n.trim_start_matches([' ', '\t', ':']).to_string(),
    )
}
