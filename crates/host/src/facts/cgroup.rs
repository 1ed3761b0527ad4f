//! A process's control group, and the CPU time it allows.

use super::tree::{FileTree, field};
use crate::CpuList;
use serde::Serialize;

/// A process's control group and its limits.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cgroup {
    /// 1, 2, or both.
    pub version: Option<Version>,
    /// The group that limits CPU time, from the root of its hierarchy.
    pub path: Option<String>,
    /// The tightest quota on the way from the group to the root: CPUs' worth of time, e.g. 1.5.
    pub quota_cpus: Option<f64>,
    /// CPU time of the group's real-time tasks in a period (version 1 with CONFIG_RT_GROUP_SCHED); 0: they are refused.
    pub rt_runtime_us: Option<i64>,
    /// CPUs the process may use.
    pub allowed: Option<CpuList>,
    /// The cpuset that holds for the group.
    pub(crate) cpuset: Option<Cpuset>,
}

/// A control group's CPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Cpuset {
    /// The nearest group that has a cpuset, from the root of its hierarchy.
    pub group: String,
    /// The CPUs that it allows.
    pub cpus: CpuList,
}

/// Which control groups are mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// Version 1 only.
    V1,
    /// Version 2 only.
    V2,
    /// Controllers of version 1, with version 2 beside them.
    Hybrid,
}

const MOUNT: &str = "sys/fs/cgroup";

pub(super) fn read(tree: &FileTree) -> Cgroup {
    of_process(tree, "self")
}

/// That of a process, by its name in /proc.
pub(crate) fn of_process(tree: &FileTree, process: &str) -> Cgroup {
    let groups = tree.text(&format!("proc/{process}/cgroup")).unwrap_or_default();
    let version = if tree.exists(&format!("{MOUNT}/cgroup.controllers")) {
        Some(Version::V2)
    } else if tree.exists(&format!("{MOUNT}/unified")) {
        Some(Version::Hybrid)
    } else if tree.exists(&format!("{MOUNT}/cpu")) {
        Some(Version::V1)
    } else {
        None
    };
    let unified = version == Some(Version::V2);
    let path = groups.lines().find_map(|line| group(line, unified));
    let base = if unified {
        MOUNT.to_string()
    } else {
        format!("{MOUNT}/cpu")
    };
    let folders = path.as_deref().map(|path| up_to_root(&base, path)).unwrap_or_default();
    let quotas = folders.iter().filter_map(|folder| quota(tree, folder));
    let status = tree.text(&format!("proc/{process}/status")).unwrap_or_default();
    Cgroup {
        cpuset: cpuset(tree, &groups, unified),
        quota_cpus: quotas.reduce(f64::min),
        rt_runtime_us: folders
            .first()
            .and_then(|own| tree.value(&format!("{own}/cpu.rt_runtime_us"))),
        allowed: field(&status, "Cpus_allowed_list").and_then(|list| list.parse().ok()),
        version,
        path,
    }
}

/// The nearest cpuset on the way from the group to the root.
fn cpuset(tree: &FileTree, groups: &str, unified: bool) -> Option<Cpuset> {
    let (base, file) = match unified {
        true => (MOUNT.to_string(), "cpuset.cpus.effective"),
        false => (format!("{MOUNT}/cpuset"), "cpuset.effective_cpus"),
    };
    let path = groups.lines().find_map(|line| group_of(line, unified, "cpuset"))?;
    up_to_root(&base, &path).into_iter().find_map(|folder| {
        Some(Cpuset {
            cpus: tree.value(&format!("{folder}/{file}"))?,
            group: match folder.strip_prefix(&base) {
                None | Some("") => "/".into(),
                Some(group) => group.into(),
            },
        })
    })
}

/// The path of the cpu controller's group, or of the unified one.
fn group(line: &str, unified: bool) -> Option<String> {
    group_of(line, unified, "cpu")
}

/// The path of a line `id:controllers:path`, for the unified hierarchy or for a controller.
fn group_of(line: &str, unified: bool, controller: &str) -> Option<String> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let wanted = match unified {
        true => controllers.is_empty(),
        false => controllers.split(',').any(|name| name == controller),
    };
    wanted.then(|| path.to_string())
}

/// The folders from the group up to the root, its own first.
fn up_to_root(base: &str, path: &str) -> Vec<String> {
    let mut path = path.trim_end_matches('/');
    let mut folders = vec![format!("{base}{path}")];
    while let Some((above, _)) = path.rsplit_once('/') {
        path = above;
        folders.push(format!("{base}{path}"));
    }
    folders
}

/// CPUs' worth of time that one group allows.
fn quota(tree: &FileTree, folder: &str) -> Option<f64> {
    if let Some(max) = tree.text(&format!("{folder}/cpu.max")) {
        let (quota, period) = max.split_once(' ')?;
        return Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?);
    }
    let quota: f64 = tree.value(&format!("{folder}/cpu.cfs_quota_us"))?;
    let period: f64 = tree.value(&format!("{folder}/cpu.cfs_period_us"))?;
    (quota > 0.0).then_some(quota / period)
}
