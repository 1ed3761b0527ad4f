//! The owner of a thread, by its id: looked up while the thread may still live, and remembered.

use crate::trace::ShortName;
use std::collections::HashMap;
use std::fs;

/// Bit in the flags of /proc/TID/stat: the thread belongs to the kernel (PF_KTHREAD).
const KERNEL: u64 = 0x0020_0000;
/// Limit for remembered threads.
const KEPT: usize = 1 << 16;

/// The owner of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ThreadKind {
    /// The CPU has nothing to do.
    Idle,
    /// The kernel.
    Kernel,
    /// A program, by its process id.
    Program(u32),
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Its owner.
    pub kind: ThreadKind,
    /// Its name; empty if the thread ended before it could be read.
    pub name: ShortName,
}

/// All threads that were looked up or seen in the trace. The owner stays; the name may change.
#[derive(Debug, Default)]
pub(crate) struct KnownThreads {
    kinds: HashMap<u32, ThreadKind>,
    lately: HashMap<u32, Known>,
    /// The last name that the trace reported; valid also for a thread that has ended.
    told: HashMap<u32, ShortName>,
}

impl KnownThreads {
    /// Looks up all threads of the machine: one that ends before its first event is read is known then.
    pub(crate) fn of_machine() -> KnownThreads {
        let mut threads = KnownThreads::default();
        for tid in processes().flat_map(threads_of) {
            threads.get(tid);
        }
        threads
    }

    /// The thread with this id.
    pub fn get(&mut self, tid: u32) -> Known {
        if self.kinds.len() >= KEPT {
            self.kinds.clear();
        }
        let (kinds, told) = (&mut self.kinds, &self.told);
        *self.lately.entry(tid).or_insert_with(|| {
            let Known { kind, name } = ask(tid);
            let kind = match name == ShortName::EMPTY {
                true => kinds.get(&tid).copied().unwrap_or(kind),
                false => kind,
            };
            kinds.insert(tid, kind);
            let name = told.get(&tid).copied().unwrap_or(name);
            Known { kind, name }
        })
    }

    /// Takes a thread's name from the trace; for a new thread also the thread of the same process that made it, if
    /// there is one.
    pub(crate) fn learn(&mut self, tid: u32, name: ShortName, is_new: Option<Option<u32>>) {
        if self.told.len() >= KEPT {
            self.told.clear();
        }
        match is_new {
            Some(Some(maker)) => {
                let kind = self.get(maker).kind;
                self.kinds.insert(tid, kind);
            }
            // The owner of an earlier thread with this id no longer holds.
            Some(None) => {
                self.kinds.remove(&tid);
            }
            None => {}
        }
        self.told.insert(tid, name);
        self.lately.remove(&tid);
    }

    /// Called when threads may have got other names.
    pub(crate) fn forget_names(&mut self) {
        self.lately.clear();
    }
}

/// The machine's processes.
pub(crate) fn processes() -> impl Iterator<Item = u32> {
    numbers("/proc")
}

/// The threads of a process.
pub(crate) fn threads_of(process: u32) -> impl Iterator<Item = u32> {
    numbers(&format!("/proc/{process}/task"))
}

/// The numbers among the names in a folder; none of one that has gone.
fn numbers(folder: &str) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn ask(tid: u32) -> Known {
    if tid == 0 {
        return Known {
            kind: ThreadKind::Idle,
            name: "idle".into(),
        };
    }
    let read = |file: &str| {
        let bytes = fs::read(format!("/proc/{tid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let ended = Known {
        kind: ThreadKind::Program(tid),
        name: ShortName::EMPTY,
    };
    let Some((flags, name)) = flags_and_name(&read("stat")) else {
        return ended;
    };
    let kind = match flags & KERNEL {
        0 => ThreadKind::Program(process_of(tid).unwrap_or(tid)),
        _ => ThreadKind::Kernel,
    };
    Known { kind, name }
}

/// Flags and name from a line of /proc/TID/stat: the name stands in brackets, may contain brackets, and the flags are
/// the seventh word after it.
fn flags_and_name(stat: &str) -> Option<(u64, ShortName)> {
    let (begin, rest) = stat.rsplit_once(')')?;
    let (_, name) = begin.split_once('(')?;
    Some((rest.split_whitespace().nth(6)?.parse().ok()?, name.into()))
}

/// The process of a thread.
pub(crate) fn process_of(tid: u32) -> Option<u32> {
    // A name may be of any bytes.
    let status = fs::read(format!("/proc/{tid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok()
}

/// The kind of a thread by its name, without the numbers of workers.
pub fn kind_of(comm: ShortName) -> ShortName {
    let text = comm.to_string();
    match text.split_once('/') {
        Some(("kworker", rest)) if rest.starts_with('u') => "kworker, unbound".into(),
        Some(("kworker", _)) => "kworker".into(),
        _ => comm,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_the_kernel_and_of_programs() {
        let stat = "17 (a) b (c) S 2 0 0 0 -1 2129984 0 0";
        assert_eq!(flags_and_name(stat), Some((2_129_984, "a) b (c".into())));
        assert_eq!(2_129_984 & KERNEL, KERNEL);
        assert_eq!(flags_and_name("17 (a"), None);
        let own = std::process::id();
        let mut threads = KnownThreads::default();
        assert_eq!(threads.get(own).kind, ThreadKind::Program(own));
        assert_eq!(threads.get(0).kind, ThreadKind::Idle);
        assert_eq!(threads.get(2).kind, ThreadKind::Kernel, "kthreadd");
    }

    #[test]
    fn threads_that_end_unseen_are_known_from_the_beginning() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (tell, tid) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_pid() as u32).unwrap();
            let _ = ended.recv();
        });
        let tid = tid.recv().unwrap();
        let mut threads = KnownThreads::of_machine();
        drop(end);
        thread.join().unwrap();
        threads.forget_names();
        assert_eq!(threads.get(tid).kind, ThreadKind::Program(std::process::id()));
    }

    const GONE: u32 = 1 << 23;

    #[test]
    fn one_that_has_ended_is_called_what_the_trace_called_it() {
        let mut threads = KnownThreads::default();
        assert_eq!(threads.get(GONE).name, ShortName::EMPTY);
        threads.learn(GONE, "sh".into(), Some(None));
        threads.learn(GONE, "cat".into(), None);
        let known = |kind, name: &str| Known {
            kind,
            name: name.into(),
        };
        assert_eq!(threads.get(GONE), known(ThreadKind::Program(GONE), "cat"));
        threads.learn(GONE + 1, "worker".into(), Some(Some(GONE)));
        assert_eq!(threads.get(GONE + 1), known(ThreadKind::Program(GONE), "worker"));
        // The id is used again.
        threads.learn(GONE + 1, "other".into(), Some(None));
        assert_eq!(threads.get(GONE + 1), known(ThreadKind::Program(GONE + 1), "other"));
    }

    #[test]
    fn workers_are_of_one_kind() {
        let kind = |name: &str| kind_of(name.into()).to_string();
        assert_eq!(kind("kworker/1:2-events"), "kworker");
        assert_eq!(kind("kworker/u8:0"), "kworker, unbound");
        assert_eq!(kind("migration/1"), "migration/1");
    }
}
