//! What a program's threads are. What cannot be read is absent.

use crate::CpuList;
use crate::facts::FileTree;
use crate::facts::cgroup::{self, Cgroup};
use crate::facts::tree::field;
use crate::isolate::threads::threads_of;
use serde::Serialize;
use std::path::Path;

/// A program and its threads.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProgramFacts {
    /// Its process id.
    pub pid: u32,
    /// The name of its file.
    pub name: String,
    /// Its threads, the first one first.
    pub threads: Vec<ThreadFacts>,
    /// Memory that stays in memory (KiB).
    pub locked_kib: Option<u64>,
    /// Memory that is in memory now (KiB).
    pub resident_kib: Option<u64>,
    /// Its control group, and the CPU time that it allows.
    pub cgroup: Cgroup,
    /// Time that real-time threads of this machine may run in a period; -1: no limit.
    pub rt_runtime_us: Option<i64>,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ThreadFacts {
    /// Its id.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// Its policy: other, fifo, rr, batch, idle, deadline, ext.
    pub policy: Option<&'static str>,
    /// Its real-time priority, 1 to 99; 0 if it has none.
    pub priority: Option<u32>,
    /// Its nice value.
    pub nice: Option<i32>,
    /// The CPUs that it may run on.
    pub cpus: Option<CpuList>,
    /// How much later than asked its sleeps may end.
    pub timer_slack_ns: Option<u64>,
}

/// The kernel's numbers of policies.
const POLICIES: [(u32, &str); 7] = [
    (0, "other"),
    (1, "fifo"),
    (2, "rr"),
    (3, "batch"),
    (5, "idle"),
    (6, "deadline"),
    (7, "ext"),
];

/// The name of a process's file, which may be gone.
fn file_name(pid: u32) -> Option<String> {
    let file = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = file.file_name()?.to_string_lossy().into_owned();
    Some(name.trim_end_matches(" (deleted)").to_string())
}

impl ProgramFacts {
    /// Of a process of this machine.
    pub fn of(pid: u32) -> ProgramFacts {
        let tree = FileTree::at(Path::new("/"));
        let status = tree.text(&format!("proc/{pid}/status")).unwrap_or_default();
        let kib = |key| field(&status, key)?.split(' ').next()?.parse().ok();
        let mut tids: Vec<u32> = threads_of(pid).collect();
        tids.sort_by_key(|tid| (*tid != pid, *tid));
        ProgramFacts {
            pid,
            name: file_name(pid)
                .or_else(|| tree.text(&format!("proc/{pid}/comm")))
                .unwrap_or_default(),
            threads: tids.iter().filter_map(|tid| ThreadFacts::of(&tree, *tid)).collect(),
            locked_kib: kib("VmLck"),
            resident_kib: kib("VmRSS"),
            cgroup: cgroup::of_process(&tree, &pid.to_string()),
            rt_runtime_us: tree.value("proc/sys/kernel/sched_rt_runtime_us"),
        }
    }

    /// Reads all again; of a program that has ended, which has no memory, all stays as it was.
    pub(super) fn look_again(&mut self) {
        let now = ProgramFacts::of(self.pid);
        if now.resident_kib.is_some() {
            *self = now;
        }
    }

    /// The thread with this id.
    pub fn thread(&self, tid: u32) -> Option<&ThreadFacts> {
        self.threads.iter().find(|thread| thread.tid == tid)
    }

    /// The CPUs on which threads run that are tied to some, or come before others.
    pub(super) fn wanted_cpus(&self, online: &CpuList) -> CpuList {
        let is_choosy = |thread: &&ThreadFacts| {
            thread.priority > Some(0)
                || thread
                    .cpus
                    .as_ref()
                    .is_some_and(|cpus| !online.without(cpus).is_empty())
        };
        let chosen = self
            .threads
            .iter()
            .filter(is_choosy)
            .filter_map(|thread| thread.cpus.as_ref());
        let mut all: Vec<u32> = chosen.flat_map(|cpus| cpus.iter()).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().collect()
    }
}

impl ThreadFacts {
    /// None of a thread that has ended.
    fn of(tree: &FileTree, tid: u32) -> Option<ThreadFacts> {
        let stat = tree.text(&format!("proc/{tid}/stat"))?;
        let (name, values) = stat.split_once('(')?.1.rsplit_once(')')?;
        let values: Vec<&str> = values.split_whitespace().collect();
        // The third value of the file is the first behind the name.
        let value = |nth: usize| values.get(nth - 3)?.parse::<i64>().ok();
        let policy = value(41);
        let status = tree.text(&format!("proc/{tid}/status")).unwrap_or_default();
        Some(ThreadFacts {
            tid,
            name: name.into(),
            policy: POLICIES
                .iter()
                .find(|(id, _)| policy == Some((*id).into()))
                .map(|(_, name)| *name),
            priority: value(40).and_then(|priority| priority.try_into().ok()),
            nice: value(19).and_then(|nice| nice.try_into().ok()),
            cpus: field(&status, "Cpus_allowed_list").and_then(|list| list.parse().ok()),
            timer_slack_ns: tree.value(&format!("proc/{tid}/timerslack_ns")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_known() {
        let own = ProgramFacts::of(std::process::id());
        assert!(own.resident_kib > Some(0) && !own.name.is_empty());
        let first = &own.threads[0];
        assert_eq!(
            (first.tid, first.policy, first.priority),
            (own.pid, Some("other"), Some(0))
        );
        assert!(first.cpus.as_ref().is_some_and(|cpus| !cpus.is_empty()));
        assert!(own.threads.len() > 1, "tests run in threads");
        assert!(ProgramFacts::of(1 << 30).threads.is_empty());
    }

    #[test]
    fn a_file_s_values_are_told_even_with_brackets_in_a_name() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("proc/7");
        std::fs::create_dir_all(&folder).unwrap();
        let mut values: Vec<String> = (3..=52).map(|nth| nth.to_string()).collect();
        for (nth, value) in [(19, "-5"), (40, "80"), (41, "1")] {
            values[nth - 3] = value.into();
        }
        std::fs::write(folder.join("stat"), format!("7 (a) (b) {}\n", values.join(" "))).unwrap();
        std::fs::write(folder.join("status"), "Name:\ta\nCpus_allowed_list:\t1-2\n").unwrap();
        std::fs::write(folder.join("timerslack_ns"), "50000\n").unwrap();
        let thread = ThreadFacts::of(&FileTree::at(root.path()), 7).unwrap();
        let expected = ThreadFacts {
            tid: 7,
            name: "a) (b".into(),
            policy: Some("fifo"),
            priority: Some(80),
            nice: Some(-5),
            cpus: "1-2".parse().ok(),
            timer_slack_ns: Some(50_000),
        };
        assert_eq!(thread, expected);
        let program = |cpus: &str, priority| ProgramFacts {
            threads: vec![ThreadFacts {
                cpus: cpus.parse().ok(),
                priority,
                ..ThreadFacts::default()
            }],
            ..ProgramFacts::default()
        };
        let online = "0-3".parse().unwrap();
        let wanted = |cpus, priority| program(cpus, Some(priority)).wanted_cpus(&online).to_string();
        assert_eq!(wanted("0-3", 0), CpuList::default().to_string(), "any CPU will do");
        assert_eq!(wanted("0-3", 50), "0-3");
        assert_eq!(wanted("1-2", 0), "1-2");
    }
}
