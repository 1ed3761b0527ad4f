//! Frequency and sleep of the CPUs.

use super::tree::FileTree;
use crate::CpuList;
use serde::Serialize;
use std::collections::BTreeMap;

/// Frequency and sleep.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Power {
    /// The driver that sets the frequency, e.g. intel_pstate.
    pub frequency_driver: Option<String>,
    /// The governors in use, and the CPUs of each.
    pub governors: BTreeMap<String, CpuList>,
    /// Whether a CPU may go beyond its nominal frequency.
    pub turbo: Option<bool>,
    /// The driver that puts idle CPUs to sleep; "none" where the kernel only halts them.
    pub idle_driver: Option<String>,
    /// The governor that chooses how deep they sleep.
    pub idle_governor: Option<String>,
    /// The sleep states of the first CPU that has any, the deepest last.
    pub idle_states: Vec<IdleState>,
    /// The longest exit from sleep that is allowed now (/dev/cpu_dma_latency).
    pub latency_limit_us: Option<i32>,
}

/// A sleep state (C-state).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdleState {
    /// E.g. C6.
    pub name: String,
    /// How long waking from it takes.
    pub exit_us: u32,
    /// Switched off.
    pub disabled: bool,
}

impl Power {
    /// The deepest state that may be entered now.
    pub(crate) fn deepest_allowed(&self) -> Option<&IdleState> {
        let limit = self.latency_limit_us.map_or(u32::MAX, |us| us.max(0) as u32);
        let allowed = self.idle_states.iter().filter(|s| !s.disabled && s.exit_us <= limit);
        allowed.max_by_key(|s| s.exit_us)
    }
}

const CPUS: &str = "sys/devices/system/cpu";

pub(super) fn read(tree: &FileTree) -> Power {
    let cpus = tree.numbers(CPUS, "cpu");
    let mut by_governor: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for cpu in &cpus {
        if let Some(governor) = tree.text(&governor_file(*cpu)) {
            by_governor.entry(governor).or_default().push(*cpu);
        }
    }
    let governors = by_governor
        .into_iter()
        .map(|(name, cpus)| (name, cpus.into_iter().collect()));
    let driver = |cpu: &u32| tree.text(&format!("{CPUS}/cpu{cpu}/cpufreq/scaling_driver"));
    let no_turbo = tree
        .value::<u8>(&format!("{CPUS}/intel_pstate/no_turbo"))
        .map(|off| off == 0);
    let boost = tree.value::<u8>(&format!("{CPUS}/cpufreq/boost")).map(|on| on == 1);
    let limit = tree
        .bytes("dev/cpu_dma_latency")
        .and_then(|bytes| bytes.try_into().ok());
    Power {
        frequency_driver: cpus.iter().find_map(driver),
        governors: governors.collect(),
        turbo: no_turbo.or(boost),
        idle_driver: tree.text(&format!("{CPUS}/cpuidle/current_driver")),
        idle_governor: tree.text(&format!("{CPUS}/cpuidle/current_governor")),
        idle_states: cpus
            .iter()
            .map(|cpu| states(tree, *cpu))
            .find(|s| !s.is_empty())
            .unwrap_or_default(),
        latency_limit_us: limit.map(i32::from_ne_bytes),
    }
}

/// The file with a CPU's governor.
pub(crate) fn governor_file(cpu: u32) -> String {
    format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor")
}

/// The sleep states of a CPU.
pub(crate) fn states(tree: &FileTree, cpu: u32) -> Vec<IdleState> {
    let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
    let state = |index: u32| {
        let file = |name: &str| format!("{folder}/state{index}/{name}");
        Some(IdleState {
            name: tree.text(&file("name"))?,
            exit_us: tree.value(&file("latency"))?,
            disabled: tree.value::<u64>(&file("disable")).is_some_and(|value| value != 0),
        })
    };
    tree.numbers(&folder, "state").into_iter().filter_map(state).collect()
}
