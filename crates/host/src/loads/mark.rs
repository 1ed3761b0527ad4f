//! How the processes of a run's loads are recognized when the process that started them is gone.
//!
//! ```text
//! the work folder's list        boot, and process id and start time of every worker (see `folder`)
//! environment WORSTCASE_LOADS   the work folder, in every program that a load executes, and in what that executes
//! ```
//! A process id may be used again, and anybody can set a variable. So a listed process must have started at the listed
//! time, in this boot, and a marked process must belong to a user that the loads run as.

use super::folder::WorkFolder;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use worstcase_instruments::processes::{self, Identity};
use worstcase_instruments::sys::process::{self, Pid};
use worstcase_instruments::sys::signal;

const VARIABLE: &str = "WORSTCASE_LOADS";

/// Kills process `pid` if `is_meant` confirms it. A pidfd is held meanwhile, so that the id cannot pass to another
/// process.
pub(super) fn kill_if(pid: Pid, is_meant: impl FnOnce() -> bool) {
    let Some(raw) = rustix::process::Pid::from_raw(pid).filter(|_| pid > 1) else {
        return;
    };
    let held = pidfd_open(raw, PidfdFlags::empty());
    if !is_meant() {
        return;
    }
    // If the process is gone already, that is as good.
    match held {
        Ok(held) => drop(pidfd_send_signal(held, Signal::KILL)),
        Err(rustix::io::Errno::SRCH) => {}
        // Linux before 5.3 has no pidfd, and some containers forbid it.
        Err(_) => drop(process::kill(pid, signal::SIGKILL)),
    }
}

pub(super) fn children() -> BTreeSet<Pid> {
    processes::children(process::own_pid()).into_iter().collect()
}

pub(super) fn write_workers(folder: &WorkFolder, workers: impl IntoIterator<Item = Pid>) -> io::Result<()> {
    let lines = workers
        .into_iter()
        .filter_map(Identity::of)
        .map(|worker| format!("{} {}\n", worker.pid, worker.start));
    let text: String = std::iter::once(format!("{}\n", boot()?)).chain(lines).collect();
    folder.write_list(&text)
}

fn boot() -> io::Result<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(id.trim().to_string())
}

/// The workers that were listed in this boot; `None` if this is no work folder of loads.
pub(super) fn workers(folder: &WorkFolder) -> Option<Vec<Identity>> {
    let text = folder.list()?;
    let mut lines = text.lines();
    if lines.next() != boot().ok().as_deref() {
        return Some(Vec::new());
    }
    let identity = |line: &str| {
        let (pid, start) = line.split_once(' ')?;
        Some(Identity {
            pid: pid.parse().ok()?,
            start: start.parse().ok()?,
        })
    };
    Some(lines.filter_map(identity).collect())
}

/// Living processes of `users` that carry the mark of `work_dir`.
pub(super) fn marked(work_dir: &Path, users: &BTreeSet<u32>) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pid = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    entries
        .filter_map(pid)
        .filter(|&pid| pid != process::own_pid())
        .filter(|&pid| is_marked(pid, work_dir, users))
        .collect()
}

/// Whether a process carries the mark of `work_dir`, and was started by one of `users`: a set-user-ID program has the
/// environment of the user who starts it.
pub(super) fn is_marked(pid: Pid, work_dir: &Path, users: &BTreeSet<u32>) -> bool {
    let mark = [VARIABLE.as_bytes(), b"=", work_dir.as_os_str().as_encoded_bytes()].concat();
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|all| all.split(|&byte| byte == 0).any(|entry| entry == mark))
        && real_user(pid).is_some_and(|user| users.contains(&user))
}

fn real_user(pid: Pid) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_ascii_whitespace().next()?.parse().ok()
}

/// Variables of this process's environment, set for programs that it executes; restored when dropped.
pub(super) struct Environment(Vec<(&'static str, Option<OsString>)>);

impl Environment {
    /// Sets the mark of `work_dir`, and `temporary` as the folder for temporary files. The process must have one
    /// thread.
    pub(super) fn mark(work_dir: &Path, temporary: PathBuf) -> Environment {
        let set = [
            (VARIABLE, work_dir.as_os_str().to_os_string()),
            ("TMPDIR", temporary.into_os_string()),
        ];
        Environment(set.map(|(name, value)| (name, replace(name, Some(value)))).into())
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        for (name, before) in self.0.drain(..) {
            replace(name, before);
        }
    }
}

fn replace(name: &str, value: Option<OsString>) -> Option<OsString> {
    let before = std::env::var_os(name);
    // SAFETY: the process has one thread: `RunningLoad::start` refuses others before it begins a load, and programs are marked
    // only after that.
    unsafe {
        match value {
            Some(value) => std::env::set_var(name, value),
            None => std::env::remove_var(name),
        }
    }
    before
}
