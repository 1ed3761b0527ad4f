//! What loads may leave when they were killed, and how whoever survives removes it.

use super::{LoadPlace, cgroup, mark, segments};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use worstcase_probe::Nanos;
use worstcase_probe::loads::{self, LoadSpec};
use worstcase_probe::processes::Identity;
use worstcase_probe::sys::clock;
use worstcase_probe::sys::process::{self, Pid};
use worstcase_probe::sys::signal;

const NULLB: &str = "/sys/kernel/config/nullb";
/// How long killed processes may take to be gone, and how often one looks.
const PATIENCE: Nanos = Nanos::from_millis(20_000);
const LOOK: Nanos = Nanos::from_millis(2);

/// Where loads leave traces: known before they start, so that a journal can hold it.
///
/// Shared memory segments and processes need no entry: they are known by the workers that the work folder lists,
/// by the group, and by a mark in the environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traces {
    /// The loads' control group.
    pub cgroup: Option<PathBuf>,
    /// The loads' work folder.
    pub work_dir: PathBuf,
    /// The folders of null_blk devices in configfs.
    pub null_blk: Vec<PathBuf>,
}

impl Traces {
    /// What `load` will make when process `worker` starts it at `place`.
    pub fn of(load: &LoadSpec, place: &LoadPlace, worker: Pid) -> Traces {
        Traces {
            cgroup: place.cgroup.clone(),
            work_dir: place.work_dir.clone(),
            null_blk: loads::devices(load, worker),
        }
    }
}

/// Something that loads left is still there.
#[derive(Debug, thiserror::Error)]
#[error("what loads left could not be removed: {what}: {source}; end what uses it, then worstcase host restore")]
pub struct CleanError {
    what: String,
    source: io::Error,
}

/// Ends whatever is left of the loads, and removes what they made. May be called again, and by several at once;
/// the process that started the loads must be gone, or not need them any more.
pub fn clean(traces: &Traces) -> Result<(), CleanError> {
    let workers = mark::workers(&traces.work_dir);
    let grouped = traces.cgroup.as_deref().map_or(Ok(Vec::new()), cgroup::members);
    let mut creators: Vec<Pid> = workers.iter().flatten().map(|worker| worker.pid).collect();
    creators.extend(grouped.unwrap_or_default()); // the group may be gone
    creators.extend(mark::marked(&traces.work_dir));
    let work_dir = traces.work_dir.display();

    let group = traces.cgroup.as_deref().map_or(Ok(()), cgroup::kill_and_remove);
    let processes = end(&traces.work_dir, workers.as_deref().unwrap_or_default());
    let device = traces.null_blk.iter().try_for_each(|device| remove_device(device));
    let memory = mark::begun(&traces.work_dir).map_or(Ok(()), |since| segments::remove_of(&creators, since));
    let folder = remove_folder(&traces.work_dir);

    let steps = [
        ("the control group".to_string(), group),
        ("processes".to_string(), processes),
        ("the null_blk device".to_string(), device),
        ("shared memory segments".to_string(), memory),
        (format!("the folder {work_dir}"), folder),
    ];
    for (what, result) in steps {
        result.map_err(|source| CleanError { what, source })?;
    }
    Ok(())
}

/// Kills noted workers and marked programs until there are none.
fn end(work_dir: &Path, workers: &[Identity]) -> io::Result<()> {
    let deadline = clock::monotonic() + PATIENCE;
    loop {
        let noted = workers.iter().filter(|worker| worker.lives()).map(|worker| worker.pid);
        let mut left: Vec<Pid> = noted.collect();
        left.extend(mark::marked(work_dir));
        if left.is_empty() {
            return Ok(());
        }
        if clock::monotonic() > deadline {
            return Err(io::Error::other(format!("{left:?} do not end")));
        }
        for pid in left {
            // One that is gone already is just as well.
            let _ = process::kill(pid, signal::SIGKILL);
        }
        clock::sleep_until(clock::monotonic() + LOOK);
    }
}

fn remove_device(folder: &Path) -> io::Result<()> {
    if !folder.starts_with(NULLB) {
        return Err(io::Error::other(format!("{} is no null_blk device", folder.display())));
    }
    // A device that was never switched on refuses this; the folder's removal is what counts.
    let _ = fs::write(folder.join("power"), "0");
    gone_is_fine(fs::remove_dir(folder))
}

/// Removes a work folder of loads, or an empty one; another is not ours.
fn remove_folder(work_dir: &Path) -> io::Result<()> {
    if mark::workers(work_dir).is_none() {
        return gone_is_fine(fs::remove_dir(work_dir));
    }
    let deadline = clock::monotonic() + PATIENCE;
    loop {
        // A process that its parent's death has only just reached may still have made a file.
        match mark::end(work_dir) {
            Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty && clock::monotonic() < deadline => {
                clock::sleep_until(clock::monotonic() + LOOK);
            }
            result => return result,
        }
    }
}

pub(super) fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
