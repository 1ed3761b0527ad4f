//! The folder that a QEMU works in. It can do nothing there but read the files that it is given, and write those that are
//! made for it: it makes, removes and renames none, so that what is read afterwards is not something else.

use super::LabError;
use super::confine::{User, UserAccess};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// What a QEMU and its plugin complain of.
pub const ERRORS: &str = "errors";

/// See the module.
pub struct QemuPlace<'a> {
    folder: &'a Path,
    user: User,
    lent: Vec<PathBuf>,
}

impl QemuPlace<'_> {
    /// In this folder, for a QEMU of this user's.
    pub fn new(folder: &Path, user: User) -> QemuPlace<'_> {
        QemuPlace {
            folder,
            user,
            lent: Vec::new(),
        }
    }

    /// A file that QEMU reads.
    pub fn read(&mut self, name: &str, content: &[u8]) -> Result<(), LabError> {
        let path = self.folder.join(name);
        fs::write(&path, content).map_err(LabError::io(&path))?;
        self.lend(path, UserAccess::Read).map(drop)
    }

    /// A file that QEMU writes, empty so far; where it is.
    pub fn written(&mut self, name: &str) -> Result<PathBuf, LabError> {
        let path = self.folder.join(name);
        File::create(&path).map_err(LabError::io(&path))?;
        self.lend(path, UserAccess::Write)
    }

    /// Where it writes what is wrong.
    pub fn errors(&mut self) -> Result<Stdio, LabError> {
        let path = self.folder.join(ERRORS);
        let file = File::create(&path).map_err(LabError::io(path))?;
        self.lend(self.folder.to_path_buf(), UserAccess::Pass)?;
        Ok(file.into())
    }

    /// Once QEMU has ended: everything is the caller's own again.
    pub fn take_back(self) -> Result<(), LabError> {
        let back = |path: &PathBuf| self.user.take_back(path).map_err(LabError::io(path));
        self.lent.iter().try_for_each(back)
    }

    fn lend(&mut self, path: PathBuf, access: UserAccess) -> Result<PathBuf, LabError> {
        self.user.lend(&path, access).map_err(LabError::io(&path))?;
        self.lent.push(path.clone());
        Ok(path)
    }
}
