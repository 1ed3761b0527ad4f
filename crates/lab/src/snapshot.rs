//! A subject booted once and stopped at its ready point, from which every cell is forked.
//!
//! QEMU writes guest memory straight to a file (`share=on`) and the devices' state to another (migration with
//! `x-ignore-shared`). A fork maps the memory file privately, so that the snapshot never changes.

use super::boot_state::BootState;
use super::direct_kernel;
use super::handed::Handed;
use super::invocation::MachineFiles;
use super::prepared::Prepared;
use super::ready::ReadyReport;
use super::warm::WarmSnapshots;
use super::{BOOT_AGAIN, LabError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use worstcase_base::cache::Cache;
use worstcase_base::room::HeldEntry;

/// Guest memory.
pub const MEMORY: &str = "memory";
/// The initramfs.
pub const INITRD: &str = "initrd";
/// The devices' state.
pub const STATE: &str = "state";

/// A snapshot in the cache.
#[derive(Clone, Debug)]
pub struct MachineSnapshot {
    folder: PathBuf,
    /// What it was booted from.
    kernel: PathBuf,
    /// Length and times of its memory file when it was opened.
    written: [i64; 5],
    /// Keeps it in the cache while it is used.
    _held: Option<Arc<HeldEntry>>,
    /// The guest's report before the stop.
    pub ready: ReadyReport,
    warm: Arc<WarmSnapshots>,
}

impl MachineSnapshot {
    /// The state of its boot.
    pub(crate) fn boot_state(&self) -> Result<BootState, LabError> {
        BootState::read(&self.folder)
    }

    /// Opens a finished snapshot; its warm ones are kept in `cache`. A file of another length is refused: QEMU would fill up a truncated memory file with
    /// zeros and run on.
    pub(super) fn open(
        folder: &Path,
        held: Option<HeldEntry>,
        prepared: &Prepared,
        cache: &Cache,
    ) -> Result<MachineSnapshot, LabError> {
        let damaged = |reason: &str| LabError::Damaged {
            folder: folder.to_path_buf(),
            reason: reason.into(),
            again: BOOT_AGAIN,
        };
        let ready = ReadyReport::of(folder)?;
        let length = |name: &str| std::fs::metadata(folder.join(name)).map_or(0, |file| file.len());
        if length(MEMORY) != memory_bytes(prepared) || length(INITRD) != prepared.initrd.len() as u64 {
            return Err(damaged("its memory or its image is cut short"));
        }
        Ok(MachineSnapshot {
            folder: folder.to_path_buf(),
            kernel: direct_kernel::of(folder, &prepared.subject.kernel),
            written: written(&folder.join(MEMORY))?,
            _held: held.map(Arc::new),
            ready,
            warm: Arc::new(WarmSnapshots::new(cache)),
        })
    }

    /// The files for a fork.
    pub(super) fn given(&self, prepared: &Prepared) -> Result<MachineFiles, LabError> {
        given(&self.folder, &self.kernel, prepared)
    }

    /// An error if its memory file was written to since it was opened: then no cell since then is valid.
    pub(super) fn is_as_it_was(&self) -> Result<(), LabError> {
        match written(&self.memory())? {
            now if now == self.written => Ok(()),
            _ => Err(LabError::Damaged {
                folder: self.folder.clone(),
                reason: "its memory was written to while a machine ran".into(),
                again: BOOT_AGAIN,
            }),
        }
    }

    /// Its warm ones.
    pub(crate) fn warm(&self) -> &WarmSnapshots {
        &self.warm
    }

    /// The same, with warm ones that are made again and kept in `cache`.
    pub(crate) fn to_warm_anew(&self, cache: &Cache) -> MachineSnapshot {
        MachineSnapshot {
            warm: Arc::new(WarmSnapshots::new(cache)),
            ..self.clone()
        }
    }

    /// Guest memory.
    pub fn memory(&self) -> PathBuf {
        self.folder.join(MEMORY)
    }

    /// The devices' state.
    pub fn state(&self) -> PathBuf {
        self.folder.join(STATE)
    }
}

/// Shows when a file was written to: its length, and the times of the last change, which no user can set (ctime).
fn written(path: &Path) -> Result<[i64; 5], LabError> {
    let is = std::fs::metadata(path).map_err(LabError::io(path))?;
    Ok([
        is.size().cast_signed(),
        is.mtime(),
        is.mtime_nsec(),
        is.ctime(),
        is.ctime_nsec(),
    ])
}

/// The length of a subject's memory file.
pub(super) fn memory_bytes(prepared: &Prepared) -> u64 {
    u64::from(prepared.subject.machine.memory_mb) << 20
}

/// The files for a machine: this kernel, and image and memory of the snapshot in this folder.
pub(super) fn given(folder: &Path, kernel: &Path, prepared: &Prepared) -> Result<MachineFiles, LabError> {
    let to_read = |path: &Path| Handed::to_read(path, prepared.qemu.program.user).map_err(LabError::io(path));
    let memory = folder.join(MEMORY);
    Ok(MachineFiles {
        kernel: to_read(kernel)?,
        initrd: to_read(&folder.join(INITRD))?,
        memory: Handed::as_is(&memory).map_err(LabError::io(memory))?,
    })
}
