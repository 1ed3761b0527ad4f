//! Real-time priorities for the kernel's own threads: `ktimers=90,irq=50`, as chrt would set them.

use crate::processes::{self, Identity};
use crate::spec::SpecError;
use crate::sys::process::Pid;
use crate::sys::sched::Policy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::str::FromStr;

/// Threads by name, each with its SCHED_FIFO priority; 0 makes it an ordinary thread.
///
/// A name stands for all threads whose own name is it, or goes on with `/` or `-`: `ktimers` for those of every CPU, `irq` for
/// every interrupt's thread, `irq/7` for those of interrupt 7.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Priorities(Vec<(String, u8)>);

/// A thread of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelThread {
    /// Its name.
    pub name: String,
    /// Its number, and when it started.
    pub identity: Identity,
}

/// The thread whose children are the kernel's threads.
const KTHREADD: Pid = 2;
/// The kernel cuts a thread's name here.
const LONGEST_NAME: usize = 15;

impl Priorities {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets them; which thread has which now. Threads that come later keep what the kernel gives them.
    pub fn apply(&self) -> io::Result<Vec<(String, u8)>> {
        let mut set = Vec::new();
        for (thread, priority) in self.threads()? {
            policy(priority).apply_to(thread.identity.pid)?;
            set.push((thread.name, priority));
        }
        Ok(set)
    }

    /// The threads of this machine that they are for. A name that no thread has is an error.
    pub fn threads(&self) -> io::Result<Vec<(KernelThread, u8)>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let threads = kernel_threads()?;
        let mut all = Vec::new();
        for (name, priority) in &self.0 {
            let before = all.len();
            let named = threads.iter().filter(|thread| stands_for(name, &thread.name));
            all.extend(named.map(|thread| (thread.clone(), *priority)));
            if all.len() == before {
                return Err(io::Error::other(format!(
                    "no thread of this kernel is called '{name}': there are {}",
                    kinds(&threads)
                )));
            }
        }
        Ok(all)
    }
}

/// What a thread of this priority has.
pub const fn policy(priority: u8) -> Policy {
    match priority {
        0 => Policy::OTHER,
        n => Policy::fifo(n),
    }
}

fn stands_for(name: &str, thread: &str) -> bool {
    thread
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '-']))
}

/// The names that a message offers, without their numbers.
fn kinds(threads: &[KernelThread]) -> String {
    let name = |thread: &KernelThread| thread.name.split('/').next().unwrap_or_default().to_string();
    let kinds: BTreeSet<String> = threads.iter().map(name).filter(|name| name != "kworker").collect();
    kinds.into_iter().collect::<Vec<_>>().join(", ")
}

/// By their numbers. One that ends meanwhile is none.
fn kernel_threads() -> io::Result<Vec<KernelThread>> {
    let mut pids: Vec<Pid> = fs::read_dir("/proc")?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    let thread = |pid| {
        let stat = processes::stat(pid).filter(|stat| stat.ppid == KTHREADD)?;
        Some(KernelThread {
            name: stat.comm,
            identity: Identity {
                pid,
                start: stat.starttime,
            },
        })
    };
    Ok(pids.into_iter().filter_map(thread).collect())
}

impl fmt::Display for Priorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(|(name, n)| format!("{name}={n}")).collect();
        f.pad(&words.join(","))
    }
}

impl FromStr for Priorities {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Priorities, SpecError> {
        let one = |word: &str| {
            let wrong = || {
                SpecError(format!(
                    "'{}' is not a kernel thread's name and priority, like ktimers=90 (1 to 99: SCHED_FIFO, 0: SCHED_OTHER)",
                    word.escape_debug()
                ))
            };
            let (name, priority) = word.split_once('=').ok_or_else(wrong)?;
            let priority = priority.parse().ok().filter(|n| *n <= 99).ok_or_else(wrong)?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || "_-/.:".contains(c);
            if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_name) {
                return Err(wrong());
            }
            Ok((name.to_string(), priority))
        };
        let mut words = text.split(',').filter(|_| !text.is_empty());
        words.try_fold(Priorities::default(), |mut all, word| {
            let (name, priority) = one(word)?;
            if all.0.iter().any(|(other, _)| *other == name) {
                return Err(SpecError(format!("the threads '{name}' have two priorities")));
            }
            all.0.push((name, priority));
            Ok(all)
        })
    }
}

impl TryFrom<String> for Priorities {
    type Error = SpecError;
    fn try_from(text: String) -> Result<Priorities, SpecError> {
        text.parse()
    }
}

impl From<Priorities> for String {
    fn from(priorities: Priorities) -> String {
        priorities.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_written_as_they_are_read_and_mistakes_are_told() {
        for text in ["", "ktimers=90", "irq/7=0,rcuc=50"] {
            assert_eq!(text.parse::<Priorities>().unwrap().to_string(), text);
        }
        for text in [
            "ktimers",
            "ktimers=",
            "=3",
            "a b=3",
            "ktimers=100",
            "irq=1,",
            "ktimers=-1",
        ] {
            let error = text.parse::<Priorities>().unwrap_err().0;
            assert!(error.contains("like ktimers=90"), "{text}: {error}");
        }
        let twice = "irq=1,irq=2".parse::<Priorities>().unwrap_err();
        assert_eq!(twice.0, "the threads 'irq' have two priorities");
    }

    #[test]
    fn a_name_stands_for_the_threads_of_all_cpus_and_interrupts() {
        for (name, thread) in [
            ("ktimers", "ktimers/0"),
            ("irq", "irq/9-acpi"),
            ("irq/9", "irq/9-acpi"),
            ("kthreadd", "kthreadd"),
        ] {
            assert!(stands_for(name, thread), "{name} {thread}");
        }
        for (name, thread) in [("ktimer", "ktimers/0"), ("irq/9", "irq/91-x"), ("rcu", "rcuc/0")] {
            assert!(!stands_for(name, thread), "{name} {thread}");
        }
    }

    #[test]
    fn a_thread_that_is_not_there_is_told() {
        let error = "no-such=1"
            .parse::<Priorities>()
            .unwrap()
            .apply()
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("no thread of this kernel is called 'no-such': there are "),
            "{error}"
        );
    }
}
