//! Memory: huge pages, merging, swap, pressure.

use super::tree::{FileTree, field};
use serde::Serialize;
use std::collections::BTreeMap;

/// Memory.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MemoryFacts {
    /// All of it.
    pub total_kb: Option<u64>,
    /// Memory that programs could still have.
    pub available_kb: Option<u64>,
    /// Transparent huge pages: always, madvise or never.
    pub huge_pages: Option<String>,
    /// How eagerly the kernel compacts memory to get huge pages.
    pub huge_pages_defrag: Option<String>,
    /// Pages with the same content are merged.
    pub same_page_merging: Option<bool>,
    /// Swap areas; `None`: not known.
    pub swap: Option<Vec<Swap>>,
    /// How long some tasks waited for a resource, in percent of the last ten seconds (PSI).
    pub pressure: BTreeMap<&'static str, f64>,
}

/// A swap area.
#[derive(Clone, Debug, Serialize)]
pub struct Swap {
    /// Device or file.
    pub name: String,
    /// Its size.
    pub size_kb: u64,
    /// How much of it is used.
    pub used_kb: u64,
}

pub(super) fn read(tree: &FileTree) -> MemoryFacts {
    let info = tree.text("proc/meminfo").unwrap_or_default();
    let kb = |key| field(&info, key)?.strip_suffix(" kB")?.trim().parse().ok();
    let pressure = |name: &'static str| Some((name, some_avg10(&tree.text(&format!("proc/pressure/{name}"))?)?));
    MemoryFacts {
        total_kb: kb("MemTotal"),
        available_kb: kb("MemAvailable"),
        huge_pages: tree.chosen("sys/kernel/mm/transparent_hugepage/enabled"),
        huge_pages_defrag: tree.chosen("sys/kernel/mm/transparent_hugepage/defrag"),
        same_page_merging: tree.value::<u8>("sys/kernel/mm/ksm/run").map(|run| run == 1),
        swap: tree
            .text("proc/swaps")
            .map(|text| text.lines().skip(1).filter_map(swap).collect()),
        pressure: ["cpu", "memory", "io"].into_iter().filter_map(pressure).collect(),
    }
}

fn swap(line: &str) -> Option<Swap> {
    // Name, type, size, used, priority.
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    Some(Swap {
        name: words.first()?.to_string(),
        size_kb: words.get(2)?.parse().ok()?,
        used_kb: words.get(3)?.parse().ok()?,
    })
}

fn some_avg10(text: &str) -> Option<f64> {
    let words = text.lines().find(|line| line.starts_with("some "))?.split(' ');
    words
        .filter_map(|word| word.strip_prefix("avg10="))
        .next()?
        .parse()
        .ok()
}
