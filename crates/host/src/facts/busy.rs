//! Which processes keep CPUs busy, by what they used between two looks.

use super::tree::FileTree;
use crate::CpuList;
use serde::Serialize;
use std::collections::BTreeMap;

/// A process that used at least this share of a CPU (%) is told.
const TOLD: f64 = 10.0;
/// Most of them that are told.
const MOST: usize = 8;
/// Clock ticks a second in /proc, on every architecture.
pub(super) const TICKS: f64 = 100.0;

/// A process that used CPUs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BusyProcess {
    /// Its name.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// What it used of one CPU (%).
    pub percent: f64,
    /// The CPUs on which its threads were last.
    pub cpus: CpuList,
}

/// The CPU time of every process so far, in ticks.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessTimes(BTreeMap<u32, u64>);

/// What /proc/PID/stat tells.
struct Stat {
    name: String,
    ticks: u64,
    cpu: u32,
}

impl ProcessTimes {
    /// Of all processes but this one.
    pub(super) fn read(tree: &FileTree) -> ProcessTimes {
        let own = std::process::id();
        let processes = tree.numbers("proc", "").into_iter().filter(|pid| *pid != own);
        let ticks = |pid: u32| Some((pid, stat(tree, &format!("proc/{pid}/stat"))?.ticks));
        ProcessTimes(processes.filter_map(ticks).collect())
    }

    /// Those that used CPUs from then until now, the busiest first.
    pub(super) fn busy_since(&self, tree: &FileTree, seconds: f64) -> Vec<BusyProcess> {
        let ProcessTimes(now) = ProcessTimes::read(tree);
        let used = now.into_iter().filter_map(|(pid, ticks)| {
            let percent = ticks.checked_sub(*self.0.get(&pid)?)? as f64 / TICKS / seconds * 100.0;
            (percent >= TOLD).then_some((pid, percent))
        });
        let mut used: Vec<(u32, f64)> = used.collect();
        used.sort_by(|a, b| b.1.total_cmp(&a.1));
        used.truncate(MOST);
        used.into_iter()
            .filter_map(|(pid, percent)| busy(tree, pid, percent))
            .collect()
    }
}

fn busy(tree: &FileTree, pid: u32, percent: f64) -> Option<BusyProcess> {
    let threads = tree.numbers(&format!("proc/{pid}/task"), "").into_iter();
    let cpu = |thread: u32| Some(stat(tree, &format!("proc/{pid}/task/{thread}/stat"))?.cpu);
    Some(BusyProcess {
        name: stat(tree, &format!("proc/{pid}/stat"))?.name,
        pid,
        percent,
        cpus: threads.filter_map(cpu).collect(),
    })
}

/// The name in a text of /proc/PID/stat, and the fields behind it: state, parent, ...
pub(super) fn fields_of(text: &str) -> Option<(&str, Vec<&str>)> {
    // The name may hold spaces and brackets.
    let (head, rest) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    Some((name, rest.split_ascii_whitespace().collect()))
}

fn stat(tree: &FileTree, path: &str) -> Option<Stat> {
    let text = tree.text(path)?;
    let (name, fields) = fields_of(&text)?;
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Stat {
        name: name.to_string(),
        ticks: number(11)? + number(12)?,
        cpu: u32::try_from(number(36)?).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_process_is_named_with_its_cpus() {
        let root = tempfile::tempdir().unwrap();
        let write = |pid: u32, name: &str, ticks: u32| {
            for (folder, cpu) in [
                (format!("proc/{pid}"), 0),
                (format!("proc/{pid}/task/{pid}"), 0),
                (format!("proc/{pid}/task/{}", pid + 1), 3),
            ] {
                let folder = root.path().join(folder);
                fs::create_dir_all(&folder).unwrap();
                let before = "S 1 7 7 0 -1 0 0 0 0 0";
                let after = "0 0 20 0 2 0 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";
                fs::write(
                    folder.join("stat"),
                    format!("{pid} ({name}) {before} {ticks} 0 {after} 17 {cpu} 0 0\n"),
                )
                .unwrap();
            }
        };
        let tree = FileTree::at(root.path());
        write(70, "ros2) control", 100);
        write(80, "idle", 40);
        let before = ProcessTimes::read(&tree);
        write(70, "ros2) control", 120);
        write(80, "idle", 41);
        let busy = before.busy_since(&tree, 0.25);
        let [one] = busy.as_slice() else { panic!("{busy:?}") };
        assert_eq!(
            (one.name.as_str(), one.pid, one.percent, one.cpus.to_string()),
            ("ros2) control", 70, 80.0, "0,3".into())
        );
    }
}
