//! A control group for the loads alone, so that all of them can be ended at once, whatever they forked.
//!
//! ```text
//! where      own_group(): the group of this process, v2 before v1's freezer and pids hierarchies
//! propose    the folder that a group of the loads would have, if it could be made there
//! Membership this process joins it while it forks the loads, and returns to where it was
//! kill       ends everything in a group and waits until it is empty
//! ```
//! The group is a child of the caller's own and gets no controllers of its own (v2), so that loads compete
//! for the CPU as they would without it. Version 2 hierarchies are found wherever they are mounted.

use super::mark;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use worstcase_base::unforeseen;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;
use worstcase_instruments::sys::process::{self, Pid};

/// Prefix of every group that worstcase makes; digits that no other group has follow.
const PREFIX: &str = "worstcase-";
const PROCS: &str = "cgroup.procs";
/// How long killed processes may take to be gone (one may wait for a slow device), and the interval of looking.
const PATIENCE: Nanos = Nanos::from_millis(20_000);
const LOOK: Nanos = Nanos::from_millis(2);

/// The folder for a new group of loads; `None` without the right to make one.
///
/// It makes nothing, so that a journal can be written first.
pub fn propose() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let name = unforeseen::name(PREFIX).ok()?;
    own_groups(&mounts, &groups)
        .into_iter()
        .find(|own| is_writable(own) && is_writable(&own.join(PROCS)))
        .map(|own| own.join(name))
}

fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// This process's own groups in the usable hierarchies, the best first.
fn own_groups(mounts: &str, groups: &str) -> Vec<PathBuf> {
    [None, Some("freezer"), Some("pids")]
        .into_iter()
        .filter_map(|controller| {
            let (root, mounted_at) = mount_of(mounts, controller)?;
            let own = own_path(groups, controller)?;
            // A mount can show a part of the hierarchy only; a group outside of this part cannot be reached.
            let below = Path::new(own).strip_prefix(root).ok()?;
            let outside = below.components().any(|c| c == std::path::Component::ParentDir);
            (!outside).then(|| Path::new(mounted_at).join(below))
        })
        .collect()
}

/// Root and mount point of the hierarchy of `controller` (v1), or of version 2.
fn mount_of<'a>(mounts: &'a str, controller: Option<&str>) -> Option<(&'a str, &'a str)> {
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, mounted_at) = (place.next()?, place.next()?);
        let mut kind = kind.split(' ');
        let (fs_type, options) = (kind.next()?, kind.nth(1)?);
        let is_it = match controller {
            None => fs_type == "cgroup2",
            Some(name) => fs_type == "cgroup" && options.split(',').any(|option| option == name),
        };
        is_it.then_some((root, mounted_at))
    })
}

/// This process's path in the hierarchy.
fn own_path<'a>(groups: &'a str, controller: Option<&str>) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let is_it = match controller {
            None => number == "0" && controllers.is_empty(),
            Some(name) => controllers.split(',').any(|c| c == name),
        };
        is_it.then_some(path)
    })
}

/// This process's membership in a group that it made; [`Membership::leave`] ends it.
#[derive(Debug)]
pub(super) struct Membership {
    group: PathBuf,
    before: PathBuf,
}

impl Membership {
    /// Makes `group` and joins it.
    pub(super) fn join(group: &Path) -> io::Result<Membership> {
        let before = group.parent().ok_or(io::ErrorKind::InvalidInput)?.to_path_buf();
        fs::create_dir(group)?;
        let membership = Membership {
            group: group.to_path_buf(),
            before,
        };
        match enter(group) {
            Ok(()) => Ok(membership),
            Err(e) => {
                // The error of joining is the one to report.
                let _ = fs::remove_dir(group);
                Err(e)
            }
        }
    }

    /// Returns this process to its former group; the group's other members stay.
    pub(super) fn leave(self) -> io::Result<PathBuf> {
        enter(&self.before)?;
        Ok(self.group)
    }
}

fn enter(group: &Path) -> io::Result<()> {
    fs::write(group.join(PROCS), "0") // 0: the writing process
}

/// The processes in a group, without those of groups below it.
pub(super) fn members(group: &Path) -> io::Result<Vec<Pid>> {
    let text = fs::read_to_string(group.join(PROCS))?;
    Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
}

/// Kills every process in `group` (which worstcase must have made), waits for their end, and removes it. A group that
/// is gone is fine.
pub fn kill_and_remove(group: &Path) -> io::Result<()> {
    if !is_ours(group) {
        return Err(io::Error::other(format!(
            "{} is not a control group of ours",
            group.display()
        )));
    }
    if !group.exists() {
        return Ok(());
    }
    let end = clock::monotonic() + PATIENCE;
    loop {
        let left = members(group)?;
        if left.is_empty() && fs::remove_dir(group).is_ok() {
            return Ok(());
        }
        if !group.exists() {
            return Ok(()); // another process cleans up too
        }
        if left.contains(&process::own_pid()) {
            return Err(io::Error::other("this process is in the group itself"));
        }
        if clock::monotonic() > end {
            return Err(io::Error::other(format!("processes {left:?} do not end")));
        }
        kill(group, &left)?;
        clock::sleep_until(clock::monotonic() + LOOK);
    }
}

fn is_ours(group: &Path) -> bool {
    let named = |name: &std::ffi::OsStr| {
        name.to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let made_by_us = || {
        let is = fs::symlink_metadata(group);
        is.is_ok_and(|is| is.is_dir() && is.uid() == rustix::process::geteuid().as_raw()) && group.join(PROCS).exists()
    };
    group.file_name().is_some_and(named) && (!group.exists() || made_by_us())
}

/// Sends SIGKILL to all processes of the group, by the means of this kernel; frozen processes cannot fork meanwhile.
fn kill(group: &Path, members: &[Pid]) -> io::Result<()> {
    let has = |file: &str| group.join(file).exists();
    let set = |file: &str, value: &str| fs::write(group.join(file), value);
    if has("cgroup.kill") {
        return set("cgroup.kill", "1"); // Linux 5.14
    }
    let hold = if has("cgroup.freeze") {
        Some(("cgroup.freeze", "1", "0"))
    } else if has("freezer.state") {
        Some(("freezer.state", "FROZEN", "THAWED"))
    } else if has("pids.max") {
        Some(("pids.max", "0", "max"))
    } else {
        None
    };
    if let Some((file, hold, _)) = hold {
        set(file, hold)?;
    }
    for &pid in members {
        mark::kill_if(pid, || self::members(group).is_ok_and(|now| now.contains(&pid)));
    }
    // A frozen process of version 1 receives its signal only when it is thawed.
    hold.map_or(Ok(()), |(file, _, release)| set(file, release))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer
40 31 0:36 / /sys/fs/cgroup/both rw,relatime shared:5 - cgroup cgroup rw,cpu,pids
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

    fn found(mounts: &str, groups: &str) -> Vec<String> {
        let paths = own_groups(mounts, groups);
        paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn own_groups_are_found_in_every_hierarchy_wherever_it_is_mounted() {
        assert_eq!(
            found(
                HYBRID,
                "8:cpu,pids:/p\n6:freezer:/a/b\n1:name=systemd:/x\n0::/user.slice\n"
            ),
            [
                "/sys/fs/cgroup/unified/user.slice",
                "/sys/fs/cgroup/freezer/a/b",
                "/sys/fs/cgroup/both/p"
            ]
        );
        let unified = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        assert_eq!(found(unified, "0::/\n"), ["/sys/fs/cgroup/"]);
        assert!(found("", "0::/\n").is_empty());
    }

    #[test]
    fn a_mount_of_a_part_of_the_hierarchy_is_taken_into_account() {
        let part = "30 23 0:26 /docker/7 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(found(part, "0::/docker/7/x\n"), ["/sys/fs/cgroup/x"]);
        assert!(found(part, "0::/user.slice\n").is_empty());
        assert!(found(HYBRID, "0::/../outside\n").is_empty());
    }

    #[test]
    fn no_two_groups_are_called_the_same() {
        let (Some(one), Some(two)) = (propose(), propose()) else {
            worstcase_skips::skip!("no control groups can be made here");
        };
        assert_ne!(one, two);
        assert!(is_ours(&one), "{}", one.display());
    }

    #[test]
    fn only_groups_of_ours_are_touched() {
        assert!(is_ours(Path::new("/nowhere/worstcase-17f")));
        for name in [
            "/nowhere/user.slice",
            "/nowhere/worstcase-",
            "/nowhere/worstcase-x",
            "/",
        ] {
            assert!(kill_and_remove(Path::new(name)).is_err(), "{name}");
        }
        assert!(kill_and_remove(Path::new("/nowhere/worstcase-17")).is_ok());
    }
}
