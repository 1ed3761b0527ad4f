//! The processor: model, sockets, cores, threads of a core, caches.

use super::tree::{FileTree, field};
use crate::CpuList;
use serde::Serialize;
use std::collections::BTreeSet;

/// The processor.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CpuFacts {
    /// Its name.
    pub model: Option<String>,
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
    CpuFacts {
        model: field(&info, "model name").map(str::to_string),
        microcode: field(&info, "microcode").map(str::to_string),
        sockets: some(packages.len()),
        cores: some(cores.len()),
        siblings: cores.into_iter().filter(|core| core.len() > 1).collect(),
        caches: running.first().map(|cpu| caches(tree, *cpu)).unwrap_or_default(),
        online,
    }
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
