//! Processes as /proc tells of them.

use crate::sys::process::Pid;
use procfs::process::{Process, Stat};

/// What /proc/PID/stat says; `None` if there is no such process.
pub fn stat(pid: Pid) -> Option<Stat> {
    Process::new(pid).ok()?.stat().ok()
}

/// The processes that the first thread of `pid` started, or inherited: all of them where it has one thread.
pub fn children(pid: Pid) -> Vec<Pid> {
    let children = || Process::new(pid)?.task_from_tid(pid)?.children();
    let children = children().unwrap_or_default();
    children.into_iter().map(|child| child as Pid).collect()
}

/// A process that cannot be mistaken for another: an id may be used again, an id with a start time not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// Its id.
    pub pid: Pid,
    /// When it started, in clock ticks after boot.
    pub start: u64,
}

impl Identity {
    /// Of the process that has the id now.
    pub fn of(pid: Pid) -> Option<Identity> {
        let start = stat(pid)?.starttime;
        Some(Identity { pid, start })
    }

    /// Whether it still runs; one that only waits to be reaped does not.
    pub fn lives(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.starttime == self.start && !has_ended(&stat))
    }
}

/// Whether it has ended, and only waits to be reaped.
pub fn has_ended(stat: &Stat) -> bool {
    matches!(stat.state, 'Z' | 'X')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_is_itself_until_it_has_ended() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat");
        let pid = child.id() as Pid;
        let identity = Identity::of(pid).expect("it runs");
        assert!(identity.lives());
        let other = Identity {
            start: identity.start + 1,
            ..identity
        };
        assert!(!other.lives());
        drop(child.stdin.take());
        while identity.lives() {}
        assert_eq!(stat(pid).map(|stat| has_ended(&stat)), Some(true), "not reaped yet");
        child.wait().expect("wait");
        assert_eq!(Identity::of(pid), None);
    }
}
