//! The state folder, with the journals of this user's running (or killed) commands.
//!
//! `$WORSTCASE_STATE`, or for root `/run/worstcase`, else `$XDG_RUNTIME_DIR/worstcase`, else a folder below the
//! temporary one with the user's id in its name.

use super::HostError;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use worstcase_base::lock::FileLock;
use worstcase_base::trust;

const SUFFIX: &str = ".journal";

/// A folder that only this user can write to.
#[derive(Clone, Debug)]
pub struct StateFolder {
    path: PathBuf,
}

impl StateFolder {
    /// The folder of this user.
    pub fn open() -> Result<StateFolder, HostError> {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let user = rustix::process::geteuid();
        let path = if let Some(path) = set("WORSTCASE_STATE") {
            path
        } else if user.is_root() {
            PathBuf::from("/run/worstcase")
        } else if let Some(runtime) = set("XDG_RUNTIME_DIR").filter(|p| p.is_dir()) {
            runtime.join("worstcase")
        } else {
            std::env::temp_dir().join(format!("worstcase-{}", user.as_raw()))
        };
        StateFolder::at(&path)
    }

    /// A folder at a place of the caller's choice; made if it is missing.
    pub(crate) fn at(path: &Path) -> Result<StateFolder, HostError> {
        let failed = |source| HostError::State {
            path: path.to_path_buf(),
            source,
        };
        let path = std::path::absolute(path).map_err(failed)?;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(failed)?;
        let is = fs::symlink_metadata(&path).map_err(failed)?;
        let why = match trust::others_than_root(&path).map_err(failed)? {
            _ if !is.is_dir() => "it is no folder".to_string(),
            Some(others) => others.to_string(),
            None if !is_only_ours(&is) => "it is another user's, or others can write to it".to_string(),
            None => return Ok(StateFolder { path }),
        };
        Err(HostError::StateNotOurs { path, why })
    }

    /// Held while a process makes or examines a journal: an unfinished one has no owner yet.
    pub(super) fn lock(&self) -> Result<FileLock, HostError> {
        let file = File::options().create(true).append(true).open(self.path.join("lock"));
        file.and_then(FileLock::exclusive).map_err(|e| self.failed(e))
    }

    /// A new, empty journal file with a unique name.
    pub(super) fn make_journal(&self) -> Result<(File, PathBuf), HostError> {
        tempfile::Builder::new()
            .prefix("run-")
            .suffix(SUFFIX)
            .tempfile_in(&self.path)
            .and_then(|file| file.keep().map_err(|e| e.error))
            .map_err(|e| self.failed(e))
    }

    /// The existing journals, the oldest first.
    pub(super) fn journals(&self) -> Result<Vec<PathBuf>, HostError> {
        let list = || -> io::Result<Vec<_>> {
            let mut found = Vec::new();
            for entry in fs::read_dir(&self.path)? {
                let entry = entry?;
                if entry.file_name().to_string_lossy().ends_with(SUFFIX) {
                    found.push((entry.metadata()?.modified()?, entry.path()));
                }
            }
            found.sort();
            Ok(found)
        };
        let found = list().map_err(|e| self.failed(e))?;
        Ok(found.into_iter().map(|(_, path)| path).collect())
    }

    /// Held shared by every measurement that runs, with the number of those that began.
    pub(super) fn measuring(&self) -> PathBuf {
        self.path.join("measuring")
    }

    pub(super) fn failed(&self, source: io::Error) -> HostError {
        HostError::State {
            path: self.path.clone(),
            source,
        }
    }
}

/// Whether a folder or a file belongs to this user, and no other user can write to it.
pub(super) fn is_only_ours(is: &fs::Metadata) -> bool {
    is.uid() == rustix::process::geteuid().as_raw() && is.mode() & 0o022 == 0
}

/// The id of this boot: settings and addresses of kernel code are valid for one boot.
pub fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(StateFolder::at(&open), Err(HostError::StateNotOurs { .. })));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert!(matches!(StateFolder::at(&link), Err(HostError::StateNotOurs { .. })));
        StateFolder::at(&dir.path().join("new/folder")).unwrap();
    }
}
