//! Block devices: scheduler, queue depth, rotating or not.

use super::tree::FileTree;
use serde::Serialize;

/// A block device.
#[derive(Clone, Debug, Serialize)]
pub struct DiskFacts {
    /// E.g. nvme0n1.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Requests that may wait in its queue.
    pub queue_depth: Option<u32>,
    /// A disk that turns.
    pub rotational: Option<bool>,
}

/// Disks with a size: an unused loop or RAM device has none.
pub(super) fn read(tree: &FileTree) -> Vec<DiskFacts> {
    let disk = |name: String| {
        let file = |rest: &str| format!("sys/block/{name}/{rest}");
        Some(DiskFacts {
            // In sectors of 512 bytes, whatever the device's own sectors are.
            size_bytes: tree.value::<u64>(&file("size")).filter(|size| *size > 0)? * 512,
            scheduler: tree.chosen(&file("queue/scheduler")),
            queue_depth: tree.value(&file("queue/nr_requests")),
            rotational: tree.value::<u8>(&file("queue/rotational")).map(|turns| turns == 1),
            name,
        })
    };
    tree.names("sys/block").into_iter().filter_map(disk).collect()
}
