//! The processor: model, kinds of cores, sockets, cores, threads of a core, caches.

use super::arm;
use super::tree::{FileTree, field};
use crate::CpuList;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The processor.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CpuFacts {
    /// Its name; where its cores are of several kinds, each with its CPUs.
    pub model: Option<String>,
    /// The architecture, as far as remedies differ.
    pub architecture: Option<Architecture>,
    /// The kinds of cores, the fastest first; empty where all are alike.
    pub kinds: Vec<CoreKind>,
    /// CPUs that run.
    pub online: Option<CpuList>,
    /// Packages.
    pub sockets: Option<usize>,
    /// Cores of all packages.
    pub cores: Option<usize>,
    /// CPUs that share a core, where a core has several.
    pub siblings: Vec<CpuList>,
    /// The caches that the first CPU uses.
    pub caches: Vec<CpuCache>,
    /// The loaded microcode.
    pub microcode: Option<String>,
}

/// An architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// x86, 32 or 64 bits.
    X86,
    /// arm, 32 or 64 bits.
    Arm,
    /// RISC-V.
    RiscV,
}

impl CpuFacts {
    /// Whether such machines are mostly boards: no BIOS, no TSC, a bootloader that has the kernel's parameters.
    pub(crate) fn is_of_boards(&self) -> bool {
        matches!(self.architecture, Some(Architecture::Arm | Architecture::RiscV))
    }
}

/// Cores that are alike (big.LITTLE).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoreKind {
    /// The core's name.
    pub name: String,
    /// Its CPUs.
    pub cpus: CpuList,
    /// What it can do at its highest frequency, the fastest of the machine as 1024 (cpu_capacity).
    pub capacity: Option<u32>,
}

/// A cache.
#[derive(Clone, Debug, Serialize)]
pub struct CpuCache {
    /// 1, 2 or 3.
    pub level: u32,
    /// Data, Instruction or Unified.
    pub kind: String,
    /// As the kernel writes it, e.g. 48K.
    pub size: String,
    /// The CPUs that use it.
    pub shared: Option<CpuList>,
}

const CPUS: &str = "sys/devices/system/cpu";

pub(super) fn read(tree: &FileTree) -> CpuFacts {
    let info = tree.text("proc/cpuinfo").unwrap_or_default();
    let online: Option<CpuList> = tree.value(&format!("{CPUS}/online"));
    let running: Vec<u32> = online.iter().flat_map(CpuList::iter).collect();
    let topology = |cpu: &u32, name: &str| format!("{CPUS}/cpu{cpu}/topology/{name}");
    let packages: BTreeSet<i32> = running
        .iter()
        .filter_map(|cpu| tree.value(&topology(cpu, "physical_package_id")))
        .collect();
    let cores: BTreeSet<CpuList> = running
        .iter()
        .filter_map(|cpu| tree.value(&topology(cpu, "thread_siblings_list")))
        .collect();
    let some = |count: usize| (count > 0).then_some(count);
    let kinds = kinds(tree, &info, &running);
    CpuFacts {
        model: model(&info, &kinds),
        architecture: architecture(&info),
        kinds: if kinds.len() > 1 { kinds } else { Vec::new() },
        microcode: field(&info, "microcode").map(str::to_string),
        sockets: some(packages.len()),
        cores: some(cores.len()),
        siblings: cores.into_iter().filter(|core| core.len() > 1).collect(),
        caches: running.first().map(|cpu| caches(tree, *cpu)).unwrap_or_default(),
        online,
    }
}

fn architecture(info: &str) -> Option<Architecture> {
    let told = [
        ("CPU implementer", Architecture::Arm),
        ("hart", Architecture::RiscV),
        ("flags", Architecture::X86),
    ];
    let found = told.into_iter().find(|(key, _)| field(info, key).is_some());
    found.map(|(_, architecture)| architecture)
}

/// The name that the processor has for itself, or those of its kinds of cores.
fn model(info: &str, kinds: &[CoreKind]) -> Option<String> {
    match kinds {
        // An arm's "model name" is its architecture.
        [] => field(info, "model name")
            .or_else(|| field(info, "uarch"))
            .map(str::to_string),
        [one] => Some(one.name.clone()),
        several => {
            let each = several.iter().map(|kind| format!("{} (CPUs {})", kind.name, kind.cpus));
            Some(each.collect::<Vec<_>>().join(", "))
        }
    }
}

/// What arm tells of each CPU: a number, and how much it can do.
fn kinds(tree: &FileTree, info: &str, running: &[u32]) -> Vec<CoreKind> {
    let mut found: BTreeMap<(String, Option<u32>), Vec<u32>> = BTreeMap::new();
    for block in info.split("\n\n") {
        let hex = |key: &str| u32::from_str_radix(field(block, key)?.trim_start_matches("0x"), 16).ok();
        let cpu = field(block, "processor").and_then(|number| number.parse().ok());
        if let (Some(cpu), Some(implementer), Some(part)) = (cpu, hex("CPU implementer"), hex("CPU part")) {
            let capacity = tree.value(&format!("{CPUS}/cpu{cpu}/cpu_capacity"));
            let kind = (arm::core(implementer, part), capacity);
            found.entry(kind).or_default().push(cpu);
        }
    }
    let mut kinds: Vec<CoreKind> = found
        .into_iter()
        .map(|((name, capacity), cpus)| CoreKind {
            name,
            capacity,
            cpus: cpus.into_iter().filter(|cpu| running.contains(cpu)).collect(),
        })
        .collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.capacity));
    kinds
}

fn caches(tree: &FileTree, cpu: u32) -> Vec<CpuCache> {
    let folder = format!("{CPUS}/cpu{cpu}/cache");
    let cache = |index: u32| {
        let file = |name: &str| format!("{folder}/index{index}/{name}");
        Some(CpuCache {
            level: tree.value(&file("level"))?,
            kind: tree.text(&file("type"))?,
            size: tree.text(&file("size"))?,
            shared: tree.value(&file("shared_cpu_list")),
        })
    };
    tree.numbers(&folder, "index").into_iter().filter_map(cache).collect()
}
