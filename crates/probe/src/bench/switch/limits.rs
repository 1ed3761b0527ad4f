//! What this machine allows, looked at before anything is started.

use super::plan::Plan;
use crate::bench::{BenchError, Via};
use crate::sys::memory::PAGE;
use crate::sys::process;
use crate::sys::rlimit::Resource;
use std::fs;
use std::path::{Path, PathBuf};

/// Files that are open for other reasons while the ring runs, beside those open now.
const SPARE_FILES: u64 = 16;
/// Bytes that a process takes beside its working set: stacks, page tables, copied pages.
const PER_PROCESS: u64 = 128 << 10;

pub(super) fn check(plan: &Plan) -> Result<(), BenchError> {
    check_tasks(plan.members as u64 + 1)?;
    check_files(plan)?;
    check_memory(plan)
}

fn refused(what: String) -> Result<(), BenchError> {
    Err(BenchError::Limit(what))
}

fn check_tasks(wanted: u64) -> Result<(), BenchError> {
    // The kernel holds root to no number of processes.
    if !process::is_root() {
        let limit = Resource::Processes
            .limit()
            .map_err(BenchError::system("reading the limit of processes"))?;
        if limit.soft < wanted {
            return refused(format!(
                "switch needs {wanted} processes, this user may have {} (RLIMIT_NPROC): raise it with ulimit -u, or take fewer members",
                limit.soft
            ));
        }
    }
    let running = number_in("/proc/loadavg", |text| {
        text.split_ascii_whitespace()
            .nth(3)?
            .split_once('/')
            .map(|(_, all)| all)
    });
    for name in ["threads-max", "pid_max"] {
        let limit = number_in(format!("/proc/sys/kernel/{name}"), |text| Some(text));
        if let (Some(limit), Some(running)) = (limit, running)
            && limit < running + wanted
        {
            return refused(format!(
                "switch needs {wanted} processes beside the {running} there are, kernel.{name} is {limit}: raise it with sysctl, or take fewer members"
            ));
        }
    }
    for group in own_groups() {
        let limit = number_in(group.join("pids.max"), |text| Some(text));
        let now = number_in(group.join("pids.current"), |text| Some(text)).unwrap_or(0);
        if let Some(limit) = limit
            && limit < now + wanted
        {
            return refused(format!(
                "switch needs {wanted} processes beside the {now} in its control group, {} is {limit}: raise it (systemd: TasksMax=), or take fewer members",
                group.join("pids.max").display()
            ));
        }
    }
    Ok(())
}

/// Files that must be allowed to be open at once.
pub(super) fn files(plan: &Plan) -> u64 {
    let open = fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let each = match plan.via {
        Via::Pipe => 2,
        Via::Eventfd => 1,
        Via::Futex => 0,
    };
    // Threads look at their own moves, each with a file of its own.
    let own = if plan.threads { plan.members as u64 } else { 1 };
    each * plan.members as u64 + own + open + SPARE_FILES
}

fn check_files(plan: &Plan) -> Result<(), BenchError> {
    let limit = Resource::Files
        .limit()
        .map_err(BenchError::system("reading the limit of open files"))?;
    let wanted = files(plan);
    if wanted > limit.hard {
        return refused(format!(
            "switch needs {wanted} open files, a process may have {} (hard RLIMIT_NOFILE): raise it with ulimit -Hn, take fewer members, or +futex, which needs none",
            limit.hard
        ));
    }
    Ok(())
}

fn check_memory(plan: &Plan) -> Result<(), BenchError> {
    let members = plan.members as u64;
    let set = plan.size.next_multiple_of(PAGE) as u64;
    let wanted = (members * (2 * set + PER_PROCESS)).div_ceil(1 << 20);
    let available = number_in("/proc/meminfo", |text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")
    })
    .map(|kib| kib / 1024);
    match available {
        Some(available) if available < wanted => refused(format!(
            "switch needs some {wanted} MiB of memory for {members} working sets of {} bytes, {available} MiB are available: end something, or take fewer or smaller ones",
            plan.size
        )),
        _ => Ok(()),
    }
}

/// The number that `pick` finds in a file; nothing where there is no such file or number ("max").
fn number_in(path: impl AsRef<Path>, pick: impl Fn(&str) -> Option<&str>) -> Option<u64> {
    pick(&fs::read_to_string(path).ok()?)?.trim().parse().ok()
}

/// This process' control group and those around it, where the number of processes may be limited.
fn own_groups() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some((root, path)) = text.lines().find_map(group_of) else {
        return Vec::new();
    };
    let path = root.join(path.trim_start_matches('/'));
    let around = path.ancestors().take_while(|group| group.starts_with(root));
    around.map(Path::to_path_buf).collect()
}

/// From a line of /proc/self/cgroup: where the hierarchy with the controller `pids` is mounted, and the group in it.
fn group_of(line: &str) -> Option<(&'static Path, &str)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    match controllers {
        "" if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() => Some((Path::new("/sys/fs/cgroup"), path)),
        _ if controllers.split(',').any(|c| c == "pids") => Some((Path::new("/sys/fs/cgroup/pids"), path)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;

    fn plan(text: &str) -> Plan {
        let Ok(Bench::Switch(switch)) = text.parse() else {
            panic!("{text}");
        };
        Plan::new(&switch, &[])
    }

    fn says(refused: Result<(), BenchError>, words: &[&str]) {
        let error = refused.expect_err("allowed").to_string();
        for word in words {
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn what_is_small_is_allowed() {
        check(&plan("switch:2x4k")).unwrap();
    }

    #[test]
    fn more_than_the_machine_has_is_refused() {
        says(check_tasks(1 << 40), &["1099511627776 processes", "fewer members"]);
        says(
            check_memory(&plan("switch:4096x64m")),
            &["some 524800 MiB", "MiB are available"],
        );
    }

    #[test]
    fn files_are_those_of_the_links() {
        let more = |via: &str| files(&plan(&format!("switch:1002x0{via}"))) - files(&plan(&format!("switch:2x0{via}")));
        assert_eq!((more(""), more("+eventfd"), more("+futex")), (2000, 1000, 0));
    }

    #[test]
    fn the_group_that_counts_processes_is_found() {
        let v1 = Path::new("/sys/fs/cgroup/pids");
        assert_eq!(group_of("8:pids:/a/b"), Some((v1, "/a/b")));
        assert_eq!(group_of("5:cpu,pids:/"), Some((v1, "/")));
        assert_eq!(group_of("3:memory:/a"), None);
    }
}
