//! Finds and removes what loads left when they were killed.

use super::folder::{WorkFolder, gone_is_fine};
use super::{LoadPlace, cgroup, mark, segments};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use worstcase_contract::Nanos;
use worstcase_contract::loads::{LoadKind, LoadSpec};
use worstcase_instruments::processes::Identity;
use worstcase_instruments::sys::clock;
use worstcase_instruments::sys::process::Pid;
use worstcase_io::null_block_folder;

const NULLB: &str = "/sys/kernel/config/nullb";
/// How long killed processes may take to be gone, and the interval of looking.
const PATIENCE: Nanos = Nanos::from_millis(20_000);
const LOOK: Nanos = Nanos::from_millis(2);

/// Where loads leave traces: known before they start, so that a journal can hold it.
///
/// Shared memory segments and processes need no entry: they are found through the workers that the work folder lists,
/// the control group, and a mark in the environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traces {
    /// The loads' control group.
    pub cgroup: Option<PathBuf>,
    /// The loads' work folder.
    pub work_dir: PathBuf,
    /// The folders of null_blk devices in configfs.
    pub(crate) null_blk: Vec<PathBuf>,
}

impl Traces {
    /// What `load` will make when process `worker` starts it at `place`.
    pub fn of(load: &LoadSpec, place: &LoadPlace, worker: Pid) -> Traces {
        let makes_device = |kind| matches!(kind, LoadKind::BlockRead | LoadKind::Apps);
        let parts = load.parts().iter().enumerate();
        Traces {
            cgroup: place.cgroup.clone(),
            work_dir: place.work_dir.clone(),
            null_blk: parts
                .filter(|(_, part)| makes_device(part.kind()))
                .map(|(nth, _)| null_block_folder(worker, nth))
                .collect(),
        }
    }
}

/// Something that loads left could not be removed.
#[derive(Debug, thiserror::Error)]
#[error("what loads left could not be removed: {what}: {source}; end what uses it, then worstcase host restore")]
pub struct CleanError {
    what: String,
    source: io::Error,
}

/// Ends all processes of the loads, and removes what they made. It may be called again, and by several processes at
/// once; the process that started the loads must be gone, or not need them any more.
///
/// A work folder that other users could have written to is left alone, and its list is not believed.
pub fn clean(traces: &Traces) -> Result<(), CleanError> {
    let opened = match WorkFolder::open(&traces.work_dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    };
    let work_dir = traces.work_dir.display();
    let (folder, opened) = match opened {
        Ok(folder) => (folder, Ok(())),
        Err(e) => (None, Err(e)),
    };
    let left = LeftProcesses::by(&traces.work_dir, folder.as_ref());
    let grouped = traces.cgroup.as_deref().map_or(Ok(Vec::new()), cgroup::members);
    let mut creators: Vec<Pid> = left.workers.iter().map(|worker| worker.pid).collect();
    creators.extend(grouped.unwrap_or_default()); // the group may be gone
    creators.extend(left.marked());

    let group = traces.cgroup.as_deref().map_or(Ok(()), cgroup::kill_and_remove);
    let processes = left.end();
    let device = traces.null_blk.iter().try_for_each(|device| remove_device(device));
    let since = folder.as_ref().and_then(WorkFolder::begun);
    let memory = since.map_or(Ok(()), |since| segments::remove_of(&creators, &left.users, since));
    let removed = folder.map_or(Ok(()), |folder| remove_folder(&traces.work_dir, &folder));

    let steps = [
        ("the control group".to_string(), group),
        ("processes".to_string(), processes),
        ("the null_blk device".to_string(), device),
        ("shared memory segments".to_string(), memory),
        (format!("the folder {work_dir}"), opened.and(removed)),
    ];
    for (what, result) in steps {
        result.map_err(|source| CleanError { what, source })?;
    }
    Ok(())
}

/// What identifies the processes that are left.
struct LeftProcesses<'a> {
    work_dir: &'a Path,
    workers: Vec<Identity>,
    /// The users to whom they can belong.
    users: BTreeSet<u32>,
}

impl<'a> LeftProcesses<'a> {
    fn by(work_dir: &'a Path, folder: Option<&WorkFolder>) -> LeftProcesses<'a> {
        let users = folder.and_then(|folder| folder.users().ok());
        LeftProcesses {
            work_dir,
            workers: folder.and_then(mark::workers).unwrap_or_default(),
            users: users.unwrap_or_else(|| BTreeSet::from([rustix::process::geteuid().as_raw()])),
        }
    }

    fn marked(&self) -> Vec<Pid> {
        mark::marked(self.work_dir, &self.users)
    }

    /// Kills listed workers and marked programs until there are none.
    fn end(&self) -> io::Result<()> {
        let deadline = clock::monotonic() + PATIENCE;
        loop {
            let noted: Vec<&Identity> = self.workers.iter().filter(|worker| worker.lives()).collect();
            let marked = self.marked();
            if noted.is_empty() && marked.is_empty() {
                return Ok(());
            }
            if clock::monotonic() > deadline {
                return Err(io::Error::other(format!("{noted:?} {marked:?} do not end")));
            }
            for worker in noted {
                mark::kill_if(worker.pid, || worker.lives());
            }
            for pid in marked {
                mark::kill_if(pid, || mark::is_marked(pid, self.work_dir, &self.users));
            }
            clock::sleep_until(clock::monotonic() + LOOK);
        }
    }
}

fn remove_device(folder: &Path) -> io::Result<()> {
    if !folder.starts_with(NULLB) {
        return Err(io::Error::other(format!("{} is no null_blk device", folder.display())));
    }
    // A device that was never switched on refuses this; removing the folder is what counts.
    let _ = fs::write(folder.join("power"), "0");
    gone_is_fine(fs::remove_dir(folder))
}

/// Removes a work folder of loads, or an empty one; any other folder is not ours.
fn remove_folder(work_dir: &Path, folder: &WorkFolder) -> io::Result<()> {
    if folder.list().is_none() {
        return gone_is_fine(fs::remove_dir(work_dir));
    }
    let deadline = clock::monotonic() + PATIENCE;
    loop {
        // A process that has only just received its death signal may still have made a file.
        match folder.remove() {
            Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty && clock::monotonic() < deadline => {
                clock::sleep_until(clock::monotonic() + LOOK);
            }
            result => return result,
        }
    }
}
