//! A command of the user's as it runs.

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use worstcase_base::interrupt::LastWork;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramExit {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// A running command; dropped, it ends with all that it started.
pub(super) struct StartedProgram {
    id: u32,
    exit: Option<ProgramExit>,
    /// Keeps the thread that started it.
    _starter: Sender<()>,
    _at_once: LastWork,
}

/// How long a program may take to end by itself before it is killed.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it is waited for what is killed.
const DEATH: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(10);

impl StartedProgram {
    pub fn of(id: u32, starter: Sender<()>) -> StartedProgram {
        let at_once = move || {
            for member in family(&BTreeSet::from([id])) {
                send(member, Signal::KILL);
            }
        };
        StartedProgram {
            id,
            exit: None,
            _starter: starter,
            _at_once: LastWork::new(at_once),
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// How it ended; none while it runs.
    pub fn exit(&mut self) -> Option<ProgramExit> {
        if self.exit.is_none() {
            self.exit = reaped(self.id);
        }
        self.exit
    }

    /// Ends it and what it started: asks first, then kills.
    pub fn end(&mut self) {
        if self.exit().is_some() {
            return;
        }
        // Who loses its parent meanwhile comes to this process, and is found.
        let _ = set_child_subreaper(Some(getpid()));
        let mut known = BTreeSet::from([self.id]);
        for (signal, patience) in [(Signal::TERM, PATIENCE), (Signal::KILL, DEATH)] {
            let until = Instant::now() + patience;
            let mut asked = BTreeSet::new();
            while Instant::now() < until {
                let members = family(&known);
                if members.is_empty() {
                    return;
                }
                for member in members.iter().filter(|member| asked.insert(**member)) {
                    send(*member, signal);
                }
                known = members;
                std::thread::sleep(LOOK);
                let _ = self.exit();
                for other in known.iter().filter(|member| **member != self.id) {
                    let _ = reaped(*other);
                }
            }
        }
    }
}

impl Drop for StartedProgram {
    fn drop(&mut self) {
        self.end();
    }
}

fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(id).ok()?)
}

fn send(id: u32, signal: Signal) {
    // It may have ended by itself just now.
    let _ = pid(id).map(|pid| kill_process(pid, signal));
}

/// How a child of this process ended, if it has.
fn reaped(id: u32) -> Option<ProgramExit> {
    let (_, status) = waitpid(pid(id), WaitOptions::NOHANG).ok()??;
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(ProgramExit::Code(code)),
        (None, signal) => signal.map(ProgramExit::Signal),
    }
}

/// Those of these processes that are there below this one, and all that they have started.
fn family(of: &BTreeSet<u32>) -> BTreeSet<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for process in crate::isolate::threads::processes() {
        if let Some(parent) = parent(process) {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = BTreeSet::new();
    let mut next = vec![(std::process::id(), false)];
    while let Some((process, is_member)) = next.pop() {
        for child in children.remove(&process).unwrap_or_default() {
            let is_member = is_member || of.contains(&child);
            next.push((child, is_member));
            if is_member {
                found.insert(child);
            }
        }
    }
    found
}

fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::follow::held::HeldProgram;
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    fn is_there(id: &str) -> bool {
        fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|line| !line.is_empty())
    }

    #[test]
    fn it_ends_with_all_that_it_started_even_if_it_does_not_want_to() {
        let folder = tempfile::tempdir().unwrap();
        let ids = folder.path().join("ids");
        let script = format!(
            "trap '' TERM; sleep 1000 & echo $! >{0}.new; (trap '' TERM; sleep 1000) & echo $! >>{0}.new; mv {0}.new {0}; wait",
            ids.display()
        );
        let command = ["sh", "-c", &script].map(String::from);
        let mut started = HeldProgram::start(&command, true).unwrap().release().unwrap();
        while !Path::new(&ids).exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let started_ids = fs::read_to_string(&ids).unwrap();
        assert!(started_ids.lines().all(is_there));
        started.end();
        assert!(started.exit().is_some());
        assert!(!started_ids.lines().any(is_there), "{started_ids}");
    }
}
