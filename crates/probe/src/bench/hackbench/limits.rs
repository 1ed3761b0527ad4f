//! What the probe needs, and whether this machine has it.

use super::latency::SEAT_BYTES;
use crate::bench::{BenchError, Hackbench, Transport};
use crate::sys::process;
use crate::sys::rlimit::Resource;
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Kernel and user memory of one small process, and of one thread with the touched part of its stack: somewhat more than
/// what 5000 of each were seen to take.
const PROCESS: u64 = 128 << 10;
const THREAD: u64 = 48 << 10;
/// A pipe holds 16 pages.
const PIPE: u64 = 64 << 10;
/// Files of a run that are none of the channels: two pipes, and one being made.
const OTHER_FILES: u64 = 8;

/// One thing that there may be too little of.
struct Demand {
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
    fn refused(&self, what: &Hackbench) -> Option<BenchError> {
        let room = self.room.filter(|room| *room < self.need)?;
        Some(BenchError::Limit(format!(
            "{what} needs {} {}, and {} leaves {room}: {}",
            self.need, self.unit, self.limit, self.remedy
        )))
    }
}

/// Refuses what this machine has too little of.
pub(super) fn check(what: &Hackbench) -> Result<(), BenchError> {
    let refused = demands(what).iter().find_map(|demand| demand.refused(what));
    refused.map_or(Ok(()), Err)
}

fn demands(what: &Hackbench) -> [Demand; 7] {
    let tasks = what.tasks() as u64 + u64::from(what.threads);
    let task = |room, limit, remedy| Demand {
        need: tasks,
        room,
        unit: "processes or threads",
        limit,
        remedy,
    };
    let file = |need, room, limit, remedy| Demand {
        need,
        room,
        unit: "open files",
        limit,
        remedy,
    };
    let system_files = number_in("/proc/sys/fs/file-max").zip(number_in("/proc/sys/fs/file-nr"));
    [
        task(
            own_tasks_left(),
            "RLIMIT_NPROC",
            "raise it (ulimit -u, /etc/security/limits.conf), or ask for fewer groups",
        ),
        task(
            left(number_in("/proc/sys/kernel/threads-max"), all_tasks()),
            "kernel.threads-max",
            "raise it with sysctl, or ask for fewer groups",
        ),
        task(
            left(number_in("/proc/sys/kernel/pid_max"), all_tasks()),
            "kernel.pid_max",
            "raise it with sysctl, or ask for fewer groups",
        ),
        task(
            cgroup_tasks_left(),
            "pids.max of the control group",
            "raise it (systemd: TasksMax=), or ask for fewer groups",
        ),
        file(
            open_files_needed(what),
            Resource::Files.limit().ok().map(|limit| limit.hard),
            "the hard RLIMIT_NOFILE",
            "raise it (ulimit -Hn, /etc/security/limits.conf), or ask for less",
        ),
        file(
            what.tasks() as u64 + OTHER_FILES,
            system_files.map(|(most, used)| most.saturating_sub(used)),
            "fs.file-max",
            "raise it with sysctl, or ask for fewer groups",
        ),
        Demand {
            need: memory(what) >> 20,
            room: available_memory().map(|bytes| bytes >> 20),
            unit: "MiB of memory",
            limit: "the machine",
            remedy: "free some, or ask for fewer groups",
        },
    ]
}

/// Most files that one process has open at once: as threads all ends, else the ends of one group that are written to.
pub(super) fn open_files_needed(what: &Hackbench) -> u64 {
    let ends = if what.threads { what.tasks() } else { what.pairs.into() };
    let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    (ends + open) as u64 + OTHER_FILES
}

/// What silently changes the result.
pub(super) fn warnings(what: &Hackbench) -> Vec<String> {
    let pages = what.receivers() as u64 * PIPE / 4096;
    let granted = number_in("/proc/sys/fs/pipe-user-pages-soft").filter(|pages| *pages > 0);
    match granted {
        Some(granted) if what.transport == Transport::Pipes && pages > granted && !process::is_root() => {
            vec![format!(
                "SMALL PIPES: {} pipes exceed fs.pipe-user-pages-soft ({granted} pages), later ones hold 2 pages instead of 16: \
                 raise it with sysctl, or run as root",
                what.receivers()
            )]
        }
        _ => Vec::new(),
    }
}

/// Bytes at most, roughly: tasks, full channels, histograms.
fn memory(what: &Hackbench) -> u64 {
    let task = match what.threads {
        true => THREAD,
        false => PROCESS,
    };
    let channel = match what.transport {
        Transport::Pipes => PIPE,
        Transport::Sockets => number_in("/proc/sys/net/core/wmem_default").unwrap_or(212_992),
    };
    let seat = if what.latency { SEAT_BYTES as u64 } else { 0 };
    let message = u64::from(what.size);
    what.tasks() as u64 * (task + message) + what.receivers() as u64 * (channel.max(message) + seat)
}

fn left(most: Option<u64>, used: Option<u64>) -> Option<u64> {
    Some(most?.saturating_sub(used.unwrap_or(0)))
}

/// The first word of a file, if it is a number.
fn number_in(path: &str) -> Option<u64> {
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
    let most = Resource::Processes.limit().ok()?.soft;
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
            "pids" => Some(("/sys/fs/cgroup/pids", path)),
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

/// Bytes that could be had without paging, as the kernel estimates.
fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;

    fn hackbench(name: &str) -> Hackbench {
        match name.parse() {
            Ok(Bench::Hackbench(what)) => what,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn too_little_is_refused_in_one_line() {
        let what = hackbench("hackbench:2");
        let mut demand = Demand {
            need: 100,
            room: Some(99),
            unit: "open files",
            limit: "fs.file-max",
            remedy: "raise it",
        };
        assert_eq!(
            demand.refused(&what).map(|e| e.to_string()).as_deref(),
            Some("hackbench:2x25x100x100+sockets needs 100 open files, and fs.file-max leaves 99: raise it")
        );
        for enough in [Some(100), None] {
            demand.room = enough;
            assert!(demand.refused(&what).is_none());
        }
    }

    #[test]
    fn threads_need_all_files_in_one_process() {
        let files = |name| open_files_needed(&hackbench(name));
        let rest = files("hackbench:1x1") - 1;
        assert_eq!(files("hackbench:10x25") - rest, 25);
        assert_eq!(files("hackbench:10x25+threads") - rest, 500);
    }

    #[test]
    fn memory_grows_with_all_that_is_asked_for() {
        let memory = |name| memory(&hackbench(name));
        assert!(memory("hackbench:2") > memory("hackbench:1"));
        assert!(memory("hackbench:1x25x100x64k") > memory("hackbench:1"));
        assert_eq!(
            memory("hackbench:1+latency") - memory("hackbench:1"),
            25 * SEAT_BYTES as u64
        );
    }

    #[test]
    fn a_group_and_all_above() {
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", ""]);
        assert_eq!(ancestors("/").collect::<Vec<_>>(), [""]);
    }
}
