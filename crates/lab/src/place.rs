//! The folder that a QEMU works in. QEMU can only read the files that it is given there, and write those that are made
//! for it. It cannot make, remove or rename any, so the files that are read afterwards are the same ones.

use super::LabError;
use super::confine::{User, UserAccess};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Error messages of a QEMU and its plugin.
pub(crate) const ERRORS: &str = "errors";

/// See the module.
pub(crate) struct QemuPlace<'a> {
    folder: &'a Path,
    user: User,
    lent: Vec<PathBuf>,
}

impl QemuPlace<'_> {
    /// The place in this folder, for a QEMU that runs as this user.
    pub fn new(folder: &Path, user: User) -> QemuPlace<'_> {
        QemuPlace {
            folder,
            user,
            lent: Vec::new(),
        }
    }

    /// Makes a file that QEMU reads.
    pub fn read(&mut self, name: &str, content: &[u8]) -> Result<(), LabError> {
        let path = self.folder.join(name);
        fs::write(&path, content).map_err(LabError::io(&path))?;
        self.lend(path, UserAccess::Read).map(drop)
    }

    /// Makes an empty file that QEMU writes; gives its path.
    pub(crate) fn written(&mut self, name: &str) -> Result<PathBuf, LabError> {
        let path = self.folder.join(name);
        File::create(&path).map_err(LabError::io(&path))?;
        self.lend(path, UserAccess::Write)
    }

    /// Makes the file for QEMU's error messages.
    pub fn errors(&mut self) -> Result<Stdio, LabError> {
        let path = self.folder.join(ERRORS);
        let file = File::create(&path).map_err(LabError::io(path))?;
        self.lend(self.folder.to_path_buf(), UserAccess::Pass)?;
        Ok(file.into())
    }

    /// Called when QEMU has ended: gives every file back to the caller.
    pub(crate) fn take_back(self) -> Result<(), LabError> {
        let back = |path: &PathBuf| self.user.take_back(path).map_err(LabError::io(path));
        self.lent.iter().try_for_each(back)
    }

    fn lend(&mut self, path: PathBuf, access: UserAccess) -> Result<PathBuf, LabError> {
        self.user.lend(&path, access).map_err(LabError::io(&path))?;
        self.lent.push(path.clone());
        Ok(path)
    }
}
