//! What a probe needs, and whether this machine has it.

use super::BenchError;
use crate::sys::memory;
use crate::sys::process;
use crate::sys::rlimit::Resource;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;

/// One thing that there may be too little of.
#[derive(Debug)]
pub(super) struct Demand {
    need: u64,
    /// None: no limit, or none that can be read.
    room: Option<u64>,
    /// Of what.
    unit: &'static str,
    /// Who limits it.
    limit: &'static str,
    remedy: &'static str,
}

impl Demand {
    fn refused(&self, who: &dyn fmt::Display) -> Option<BenchError> {
        let room = self.room.filter(|room| *room < self.need)?;
        Some(BenchError::Limit(format!(
            "{who} needs {} {}, and {} leaves {room}: {}",
            self.need, self.unit, self.limit, self.remedy
        )))
    }
}

/// Refuses what this machine has too little of.
pub(super) fn meet(who: &dyn fmt::Display, demands: impl IntoIterator<Item = Demand>) -> Result<(), BenchError> {
    let refused = demands.into_iter().find_map(|demand| demand.refused(who));
    refused.map_or(Ok(()), Err)
}

/// So many processes or threads, beside those that there are.
pub(super) fn tasks(need: u64) -> [Demand; 4] {
    let task = |room, limit, remedy| Demand {
        need,
        room,
        unit: "processes or threads",
        limit,
        remedy,
    };
    [
        task(
            own_tasks_left(),
            "RLIMIT_NPROC",
            "raise it (ulimit -u, /etc/security/limits.conf), or ask for fewer",
        ),
        task(
            left(number_in("/proc/sys/kernel/threads-max"), all_tasks()),
            "kernel.threads-max",
            "raise it with sysctl, or ask for fewer",
        ),
        task(
            left(number_in("/proc/sys/kernel/pid_max"), all_tasks()),
            "kernel.pid_max",
            "raise it with sysctl, or ask for fewer",
        ),
        task(
            cgroup_tasks_left(),
            "pids.max of the control group",
            "raise it (systemd: TasksMax=), or ask for fewer",
        ),
    ]
}

/// So many open files in one process, those that are open now among them.
pub(super) fn open_files(need: u64) -> Demand {
    Demand {
        need,
        room: Some(Resource::Files.limit().hard),
        unit: "open files",
        limit: "the hard RLIMIT_NOFILE",
        remedy: "raise it (ulimit -Hn, /etc/security/limits.conf), or ask for less",
    }
}

/// So many more open files in the whole system.
pub(super) fn system_files(need: u64) -> Demand {
    let limits = number_in("/proc/sys/fs/file-max").zip(number_in("/proc/sys/fs/file-nr"));
    Demand {
        need,
        room: limits.map(|(most, used)| most.saturating_sub(used)),
        unit: "open files",
        limit: "fs.file-max",
        remedy: "raise it with sysctl, or ask for fewer",
    }
}

/// So many bytes.
pub(super) fn memory(bytes: u64) -> Demand {
    Demand {
        need: bytes >> 20,
        room: memory::available().map(|bytes| bytes >> 20),
        unit: "MiB of memory",
        limit: "the machine",
        remedy: "free some, or ask for less",
    }
}

/// Files that this process has open now.
pub(super) fn open_now() -> u64 {
    fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64)
}

/// The first word of a file, if it is a number.
pub(super) fn number_in(path: &str) -> Option<u64> {
    fs::read_to_string(path)
        .ok()?
        .split_ascii_whitespace()
        .next()?
        .parse()
        .ok()
}

/// Processes and threads of the whole machine.
fn all_tasks() -> Option<u64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// What RLIMIT_NPROC leaves this user; root is not subject to it.
fn own_tasks_left() -> Option<u64> {
    let most = Resource::Processes.limit().soft;
    if most == u64::MAX || process::is_root() {
        return None;
    }
    let user = fs::metadata("/proc/self").ok()?.uid();
    let own = |entry: &fs::DirEntry| {
        let numbered = entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
        numbered && entry.metadata().is_ok_and(|of| of.uid() == user)
    };
    let threads = |entry: fs::DirEntry| fs::read_dir(entry.path().join("task")).map_or(1, Iterator::count) as u64;
    let used = fs::read_dir("/proc").ok()?.flatten().filter(own).map(threads).sum();
    Some(most.saturating_sub(used))
}

/// The least that the pids controller leaves, of this process' group and those above.
fn cgroup_tasks_left() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let groups = text.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        match controllers {
            "" => Some(("/sys/fs/cgroup", path)),
            several if several.split(',').any(|c| c == "pids") => Some(("/sys/fs/cgroup/pids", path)),
            _ => None,
        }
    });
    groups
        .flat_map(|(root, path)| ancestors(path).map(move |group| format!("{root}{group}")))
        .filter_map(|group| {
            let most = number_in(&format!("{group}/pids.max"))?; // "max" is none
            Some(most.saturating_sub(number_in(&format!("{group}/pids.current")).unwrap_or(0)))
        })
        .min()
}

/// `/a/b`, `/a`, and the root as the empty string.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path.trim_end_matches('/')), |path| {
        path.rfind('/').map(|end| &path[..end])
    })
}

fn left(most: Option<u64>, used: Option<u64>) -> Option<u64> {
    Some(most?.saturating_sub(used.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_is_refused_in_one_line() {
        let demand = |room| Demand {
            need: 100,
            room,
            unit: "open files",
            limit: "fs.file-max",
            remedy: "raise it",
        };
        assert_eq!(
            meet(&"hackbench:2", [demand(Some(99))]).unwrap_err().to_string(),
            "hackbench:2 needs 100 open files, and fs.file-max leaves 99: raise it"
        );
        assert!(meet(&"hackbench:2", [demand(Some(100)), demand(None)]).is_ok());
    }

    #[test]
    fn more_than_any_machine_has_is_refused() {
        assert!(meet(&"x", tasks(1 << 40)).is_err());
        assert!(meet(&"x", [memory(1 << 60)]).is_err());
        assert!(meet(&"x", tasks(1).into_iter().chain([memory(1), open_files(1)])).is_ok());
    }

    #[test]
    fn a_group_and_all_above() {
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", ""]);
        assert_eq!(ancestors("/").collect::<Vec<_>>(), [""]);
    }
}
