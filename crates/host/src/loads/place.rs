//! Where loads work: their folder, their control group, and what the machine has room for.

use super::LoadError;
use super::crew::preparing;
use std::fs;
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;

/// Where loads work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadPlace {
    /// A folder for the loads alone, not there yet; removed with everything in it when they stop. Nobody but root and
    /// this user may be able to rename what is in the folder above it, or what is there must be theirs (as in /tmp).
    pub work_dir: PathBuf,
    /// A control group to make for them (see [`super::cgroup::propose`]).
    pub cgroup: Option<PathBuf>,
}

/// The error for a machine that lacks something.
pub(super) fn not_available(load: &'static str, reason: impl Into<String>) -> LoadError {
    LoadError::NotAvailable {
        load,
        reason: reason.into(),
    }
}

/// Refuses a folder with less than `bytes` of free space, so that a load does not fill the user's disk.
pub(super) fn need_space(load: &'static str, folder: &Path, bytes: u64) -> Result<(), LoadError> {
    let fs = rustix::fs::statvfs(folder)
        .map_err(|e| preparing(load, format!("asking for the free space at {}", folder.display()))(e.into()))?;
    let free = fs.f_bavail * fs.f_frsize;
    if free < bytes {
        return Err(not_available(
            load,
            format!(
                "it needs {} MiB at {}, where {} MiB are free; choose another work folder",
                bytes.div_ceil(MIB),
                folder.display(),
                free / MIB
            ),
        ));
    }
    Ok(())
}

/// Bytes that could be had without paging, as the kernel estimates.
pub(super) fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// CPUs that loads may use.
pub(super) fn cpus() -> u64 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u64)
}
