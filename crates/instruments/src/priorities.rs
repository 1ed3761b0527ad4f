//! Real-time priorities for the kernel's own threads, as chrt would set them.
//!
//! A name stands for all threads whose own name is it, or goes on with `/` or `-`: `ktimers` for those of every CPU, `irq` for
//! every interrupt's thread, `irq/7` for those of interrupt 7.

use crate::processes::{self, Identity};
use crate::sys::process::Pid;
use crate::sys::sched::Policy;
use std::collections::BTreeSet;
use std::fs;
use std::io;

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

/// Gives the threads of each name its SCHED_FIFO priority, 0 makes them ordinary threads; which thread has which now. Threads
/// that come later keep what the kernel gives them.
pub fn apply(priorities: &[(String, u8)]) -> io::Result<Vec<(String, u8)>> {
    let mut set = Vec::new();
    for (thread, priority) in threads(priorities)? {
        policy(priority).apply_to(thread.identity.pid)?;
        set.push((thread.name, priority));
    }
    Ok(set)
}

/// The threads of this machine that they are for. A name that no thread has is an error.
pub fn threads(priorities: &[(String, u8)]) -> io::Result<Vec<(KernelThread, u8)>> {
    if priorities.is_empty() {
        return Ok(Vec::new());
    }
    let threads = kernel_threads()?;
    let mut all = Vec::new();
    for (name, priority) in priorities {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let error = apply(&[("no-such".into(), 1)]).unwrap_err().to_string();
        assert!(
            error.starts_with("no thread of this kernel is called 'no-such': there are "),
            "{error}"
        );
    }
}
