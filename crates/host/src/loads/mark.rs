//! How processes of a run's loads are known again when whoever started them is gone.
//!
//! ```text
//! work folder/worstcase-loads   a line a worker: process id and start time (a process id alone may be used again)
//! environment WORSTCASE_LOADS   the work folder, in every program that a load executes, and in what that executes
//! ```

use super::clean::gone_is_fine;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use worstcase_probe::processes::{self, Identity};
use worstcase_probe::sys::process::{self, Pid};

const VARIABLE: &str = "WORSTCASE_LOADS";
const LIST: &str = "worstcase-loads";

/// The children of this process.
pub(super) fn children() -> BTreeSet<Pid> {
    processes::children(process::own_pid()).into_iter().collect()
}

/// Begins a run's work folder: made if need be, refused if something of somebody else is in it.
pub(super) fn begin(work_dir: &Path) -> io::Result<()> {
    fs::create_dir_all(work_dir)?;
    if fs::read_dir(work_dir)?.next().is_some() {
        return Err(io::Error::other("it is not empty; loads need a folder of their own"));
    }
    fs::write(work_dir.join(LIST), "")
}

/// Notes the workers.
pub(super) fn write_workers(work_dir: &Path, workers: impl IntoIterator<Item = Pid>) -> io::Result<()> {
    let lines: Vec<String> = workers
        .into_iter()
        .filter_map(Identity::of)
        .map(|worker| format!("{} {}\n", worker.pid, worker.start))
        .collect();
    fs::write(work_dir.join(LIST), lines.concat())
}

/// Removes a work folder that was begun, the list last: what is left of an interrupted removal is still known as ours.
pub(super) fn end(work_dir: &Path) -> io::Result<()> {
    let list = work_dir.join(LIST);
    for entry in fs::read_dir(work_dir)? {
        let entry = entry?;
        let path = entry.path();
        if path == list {
            continue;
        }
        gone_is_fine(if entry.file_type()?.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        })?;
    }
    gone_is_fine(fs::remove_file(list))?;
    gone_is_fine(fs::remove_dir(work_dir))
}

/// The workers that were noted; `None` if this is no work folder of loads.
pub(super) fn workers(work_dir: &Path) -> Option<Vec<Identity>> {
    let text = fs::read_to_string(work_dir.join(LIST)).ok()?;
    let identity = |line: &str| {
        let (pid, start) = line.split_once(' ')?;
        Some(Identity {
            pid: pid.parse().ok()?,
            start: start.parse().ok()?,
        })
    };
    Some(text.lines().filter_map(identity).collect())
}

/// When the work folder was begun, in seconds since 1970, a little early rather than late.
pub(super) fn begun(work_dir: &Path) -> Option<u64> {
    let begun = fs::metadata(work_dir).ok()?.created().ok();
    let begun = begun.or_else(|| fs::metadata(work_dir.join(LIST)).ok()?.modified().ok())?;
    let since = begun.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(since.as_secs().saturating_sub(1))
}

/// Living processes that carry the mark of `work_dir`.
pub(super) fn marked(work_dir: &Path) -> Vec<Pid> {
    let mark = [VARIABLE.as_bytes(), b"=", work_dir.as_os_str().as_encoded_bytes()].concat();
    let carries = |pid: &Pid| {
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|all| all.split(|&byte| byte == 0).any(|entry| entry == mark))
    };
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pid = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    entries
        .filter_map(pid)
        .filter(|&pid| pid != process::own_pid())
        .filter(carries)
        .collect()
}

/// Variables of this process's environment, set for what it executes, as they were again when dropped.
pub(super) struct Environment(Vec<(&'static str, Option<OsString>)>);

impl Environment {
    /// The mark of `work_dir`, and `temporary` as the folder for temporary files. The process must have one thread.
    pub(super) fn mark(work_dir: &Path, temporary: PathBuf) -> Environment {
        let set = [
            (VARIABLE, work_dir.as_os_str().to_os_string()),
            ("TMPDIR", OsString::from_vec(temporary.into_os_string().into_vec())),
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
    // SAFETY: the process has one thread: `RunningHostLoad::start` refuses others before it marks.
    unsafe {
        match value {
            Some(value) => std::env::set_var(name, value),
            None => std::env::remove_var(name),
        }
    }
    before
}
