//! Where loads work: their folder, their control group, and whether the machine has room.

use std::path::{Path, PathBuf};
use worstcase_instruments::loads::{LoadError, RunningPart};

const MIB: u64 = 1 << 20;

/// Where loads work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadPlace {
    /// A folder for the loads alone, which does not exist yet; removed with its contents when they stop. Other users
    /// must not be able to rename it: its parent belongs to this user or root, or is sticky (as /tmp).
    pub work_dir: PathBuf,
    /// The control group to make for them (see [`super::cgroup::propose`]).
    pub cgroup: Option<PathBuf>,
    /// The CPUs that they run on; if empty, those of this process.
    pub cpus: Vec<u32>,
}

/// Refuses a folder with less than `bytes` of free space, so that a load does not fill the user's disk.
pub(super) fn need_space(load: &RunningPart, folder: &Path, bytes: u64) -> Result<(), LoadError> {
    let fs = rustix::fs::statvfs(folder)
        .map_err(|e| load.preparing(format!("asking for the free space at {}", folder.display()))(e.into()))?;
    let free = fs.f_bavail * fs.f_frsize;
    if free < bytes {
        return Err(load.not_available(format!(
            "it needs {} MiB at {}, where {} MiB are free; choose another work folder",
            bytes.div_ceil(MIB),
            folder.display(),
            free / MIB
        )));
    }
    Ok(())
}
