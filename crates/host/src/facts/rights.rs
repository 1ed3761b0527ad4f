//! Rights of this user.

use super::tree::{FileTree, field};
use serde::Serialize;

/// Rights and limits of this process.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Rights {
    /// Runs as root.
    pub root: Option<bool>,
    /// The capabilities that matter here and that this process has.
    pub capabilities: Option<Vec<&'static str>>,
    /// The highest real-time priority without CAP_SYS_NICE (RLIMIT_RTPRIO).
    pub rt_priority: Option<u32>,
    /// CPU time in us after which the kernel ends a real-time thread that does not sleep (RLIMIT_RTTIME); absent:
    /// never.
    pub(crate) rt_time_us: Option<u64>,
    /// How much memory may be locked without CAP_IPC_LOCK; absent where `locked_unlimited`.
    pub locked_bytes: Option<u64>,
    /// Locked memory has no limit.
    pub locked_unlimited: bool,
    /// /proc/sys/kernel/perf_event_paranoid.
    pub perf_event_paranoid: Option<i32>,
    /// Whether this process may read tracefs where it is mounted.
    pub tracefs_readable: bool,
    /// Where tracefs is mounted.
    pub tracefs: Option<String>,
    /// Where debugfs is mounted.
    pub debugfs: Option<String>,
}

/// The usual mount points of tracefs.
pub(crate) const TRACEFS: [&str; 2] = ["sys/kernel/tracing", "sys/kernel/debug/tracing"];

/// Bit and name, from linux/capability.h.
const CAPABILITIES: [(u32, &str); 5] = [
    (14, "CAP_IPC_LOCK"),
    (17, "CAP_SYS_RAWIO"),
    (21, "CAP_SYS_ADMIN"),
    (23, "CAP_SYS_NICE"),
    (38, "CAP_PERFMON"),
];

impl Rights {
    /// Whether this process has a capability; `None` if that is not known.
    pub fn has(&self, capability: &str) -> Option<bool> {
        self.capabilities.as_ref().map(|all| all.contains(&capability))
    }
}

/// `own_users`: the process is in a user namespace, where its capabilities do not give the rights that matter here.
pub(super) fn read(tree: &FileTree, own_users: bool) -> Rights {
    let status = tree.text("proc/self/status").unwrap_or_default();
    let limits = tree.text("proc/self/limits").unwrap_or_default();
    let mounts = tree.text("proc/self/mounts").unwrap_or_default();
    let limit = |name: &str| {
        limits
            .lines()
            .find_map(|l| l.strip_prefix(name)?.split_ascii_whitespace().next())
    };
    let mount = |kind: &str| {
        let mut lines = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        lines
            .find(|words| words.get(2) == Some(&kind))
            .map(|words| words[1].to_string())
    };
    let held = match own_users {
        true => Some(0),
        false => field(&status, "CapEff").and_then(|hex| u64::from_str_radix(hex, 16).ok()),
    };
    let names = |held: u64| {
        CAPABILITIES
            .iter()
            .filter(move |(bit, _)| held >> bit & 1 == 1)
            .map(|(_, name)| *name)
    };
    Rights {
        // The line holds the real, effective, saved and file system ids.
        root: field(&status, "Uid").and_then(|ids| Some(ids.split_ascii_whitespace().nth(1)? == "0")),
        capabilities: held.map(|held| names(held).collect()),
        rt_priority: limit("Max realtime priority")
            .and_then(|n| if n == "unlimited" { Some(99) } else { n.parse().ok() }),
        rt_time_us: limit("Max realtime timeout").and_then(|n| n.parse().ok()),
        locked_bytes: limit("Max locked memory").and_then(|n| n.parse().ok()),
        locked_unlimited: limit("Max locked memory") == Some("unlimited"),
        perf_event_paranoid: tree.value("proc/sys/kernel/perf_event_paranoid"),
        tracefs_readable: TRACEFS
            .iter()
            .any(|place| tree.exists(&format!("{place}/events/header_page"))),
        tracefs: mount("tracefs"),
        debugfs: mount("debugfs"),
    }
}
