//! The loads that matter for a machine: what it has, and what every Linux does.

use crate::MachineFacts;
use crate::facts::FileTree;
use worstcase_contract::loads::LoadSpec;

/// A load, and why it matters here.
#[derive(Clone, Debug, PartialEq)]
pub struct MatteringLoad {
    /// The load.
    pub load: LoadSpec,
    /// What it stands for.
    pub why: String,
}

/// The loads in the order in which they are measured: the machine without one first.
pub fn loads(facts: &MachineFacts, tree: &FileTree) -> Vec<MatteringLoad> {
    let disks: Vec<&str> = facts.disks.iter().map(|disk| disk.name.as_str()).collect();
    let disks = disks
        .into_iter()
        .filter(|name| !["loop", "ram", "zram"].iter().any(|p| name.starts_with(p)));
    let disks: Vec<&str> = disks.collect();
    let networks = tree.names("sys/class/net").into_iter().filter(|name| name != "lo");
    let networks: Vec<String> = networks.collect();
    let all = [
        ("idle", Some("the machine as it is now, without a load".to_string())),
        ("fork", Some("processes begin and end".to_string())),
        (
            "procread",
            Some("long system calls, which a kernel without preemption does not leave".to_string()),
        ),
        ("memory", Some("caches and memory that all CPUs share".to_string())),
        (
            "disk",
            (!disks.is_empty()).then(|| format!("it has {}", disks.join(", "))),
        ),
        (
            "receive",
            (!networks.is_empty()).then(|| format!("the network, it has {}", networks.join(", "))),
        ),
    ];
    let row = |(name, why): (&str, Option<String>)| {
        Some(MatteringLoad {
            load: name.parse().ok()?,
            why: why?,
        })
    };
    all.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::disks::DiskFacts;

    #[test]
    fn a_machine_without_a_disk_or_network_is_spared_their_loads() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("sys/class/net/lo")).unwrap();
        let tree = FileTree::at(root.path());
        let names = |facts: &MachineFacts| {
            loads(facts, &tree)
                .iter()
                .map(|l| l.load.to_string())
                .collect::<Vec<_>>()
        };
        let mut facts = MachineFacts::default();
        let always = ["idle", "fork", "procread", "memory"];
        assert_eq!(names(&facts), always);
        let disk = |name: &str| DiskFacts {
            name: name.into(),
            size_bytes: 1,
            scheduler: None,
            queue_depth: None,
            rotational: None,
        };
        facts.disks = vec![disk("loop0"), disk("sda")];
        std::fs::create_dir(root.path().join("sys/class/net/eth0")).unwrap();
        assert_eq!(names(&facts)[4..], ["disk", "receive"]);
        assert_eq!(loads(&facts, &tree)[4].why, "it has sda");
    }
}
