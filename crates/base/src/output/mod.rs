//! How results are written: into a folder that is held open, as files that are there whole or not at all.
//!
//! Root may write into a folder that belongs to somebody else. That user can exchange any name in it for a link at any moment,
//! so nothing here is opened twice by its name: a folder is opened once ([`OutputFolder`]), and its files are made in it under
//! names that nobody can foresee, never through a link, and then renamed.

mod descriptor;
mod way;

use crate::{trust, unforeseen};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Files that are not whole yet have this before 32 random digits, where they need a name at all.
pub const UNFINISHED: &str = ".worstcase-";
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

/// What becomes of folders that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFolders {
    /// They are made.
    Made,
    /// They are an error.
    Refused,
}

/// A folder that is held open: what is written goes there, whatever becomes of its name.
#[derive(Debug)]
pub struct OutputFolder {
    handle: OwnedFd,
}

impl OutputFolder {
    /// Opens a folder, which is made if it is missing, with all above it.
    pub fn create(path: &Path) -> io::Result<OutputFolder> {
        let spot = way::to(path, MissingFolders::Made)?;
        if spot.there.is_none() {
            way::make(&spot.folder, &spot.name)?;
        }
        let handle = way::open(&spot.folder, &spot.name)?;
        Ok(OutputFolder { handle })
    }

    /// Opens a folder in this one; `None` if nothing is there. A link is an error.
    pub fn open(&self, name: &OsStr) -> io::Result<Option<OutputFolder>> {
        match way::open(&self.handle, name) {
            Ok(handle) => Ok(Some(OutputFolder { handle })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A path to this folder through its handle, for what takes paths; also for processes that this one starts, while it runs.
    /// An error where /proc is not mounted.
    pub fn held(&self) -> io::Result<PathBuf> {
        // Not by our number, which is another one if /proc is of another PID namespace.
        let us = std::fs::read_link("/proc/self").map_err(|_| io::Error::other("/proc is not mounted"))?;
        let number = self.handle.as_raw_fd().to_string();
        Ok(Path::new("/proc").join(us).join("fd").join(number))
    }

    /// Whose it is, and who may write to it.
    pub fn metadata(&self) -> io::Result<Metadata> {
        // Of a copy, for only a file tells it.
        File::from(self.handle.try_clone()?).metadata()
    }

    /// Writes a file, replacing one that is there. A link that is there is replaced, not followed.
    pub fn write(&self, name: impl AsRef<OsStr>, data: &[u8]) -> io::Result<()> {
        self.put(name.as_ref(), data, false)
    }

    /// The same, flushed to the disk.
    pub fn write_synced(&self, name: impl AsRef<OsStr>, data: &[u8]) -> io::Result<()> {
        self.put(name.as_ref(), data, true)?;
        let folder = rustix::fs::openat(&self.handle, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(rustix::fs::fsync(folder)?)
    }

    fn put(&self, name: &OsStr, data: &[u8], synced: bool) -> io::Result<()> {
        match self.kind(name)? {
            None | Some(FileType::RegularFile | FileType::Symlink) => {}
            Some(FileType::CharacterDevice) => {
                let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
                return self.file(name, flags)?.write_all(data);
            }
            Some(other) => return Err(no_file(other)),
        }
        let filled = |mut file: File| -> io::Result<File> {
            file.write_all(data)?;
            if synced {
                file.sync_all()?;
            }
            Ok(file)
        };
        let temporary = Temporary {
            folder: self,
            name: unforeseen::name(UNFINISHED)?,
        };
        // A file without a name leaves nothing if we are killed while we write it.
        let nameless = self.file(OsStr::new("."), OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC);
        let is_named = match nameless {
            Ok(file) => temporary.named(&filled(file)?).is_ok(),
            Err(_) => false,
        };
        if !is_named {
            // This file system has none, or /proc is not mounted.
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            filled(self.file(OsStr::new(&temporary.name), flags)?)?;
        }
        Ok(rustix::fs::renameat(&self.handle, &temporary.name, &self.handle, name)?)
    }

    fn file(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        Ok(rustix::fs::openat(&self.handle, name, flags, NEW_FILE)?.into())
    }

    fn kind(&self, name: &OsStr) -> io::Result<Option<FileType>> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(is) => Ok(Some(FileType::from_raw_mode(is.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The name under which a file becomes whole; nothing is left at it when dropped.
struct Temporary<'a> {
    folder: &'a OutputFolder,
    name: String,
}

impl Temporary<'_> {
    fn named(&self, file: &File) -> io::Result<()> {
        let through = format!("/proc/self/fd/{}", file.as_raw_fd());
        let folder = &self.folder.handle;
        Ok(rustix::fs::linkat(
            CWD,
            through,
            folder,
            &self.name,
            AtFlags::SYMLINK_FOLLOW,
        )?)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // Gone as a rule: it was renamed.
        let _ = rustix::fs::unlinkat(&self.folder.handle, &self.name, AtFlags::empty());
    }
}

/// Where a folder is, or will be: a name in a folder that is held open.
#[derive(Debug)]
pub struct FolderPlace {
    /// The folder above.
    pub parent: OutputFolder,
    /// The name in it, at which there is no link.
    pub name: std::ffi::OsString,
}

impl FolderPlace {
    /// Of this path. Links on the way are followed if somebody made them whose word counts.
    pub fn of(path: &Path, missing: MissingFolders) -> io::Result<FolderPlace> {
        let spot = way::to(path, missing)?;
        Ok(FolderPlace {
            parent: OutputFolder { handle: spot.folder },
            name: spot.name,
        })
    }
}

/// Writes a file, replacing one that is there. The target of a link is replaced, not the link, if somebody made it whose word
/// counts; else it is an error. To a terminal, a null device and what this process has open (`/dev/stdout`, `/dev/fd/3`) it is
/// written as it is. Other things that are no files are refused.
pub fn write(path: &Path, data: &[u8]) -> io::Result<()> {
    if let Some(open) = descriptor::named(path)? {
        return File::from(open).write_all(data);
    }
    let FolderPlace { parent, name } = FolderPlace::of(path, MissingFolders::Refused)?;
    parent.write(name, data)
}

fn no_file(kind: FileType) -> io::Error {
    let what = match kind {
        FileType::Directory => return io::ErrorKind::IsADirectory.into(),
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::BlockDevice => "a disk",
        _ => "no file",
    };
    io::Error::other(format!("it is {what}; name a file, or /dev/stdout for a pipe"))
}

/// For root: who else could put links into this folder, through which root would write. Who became root by sudo keeps folders
/// of their own. The folders above count for nothing: the folder is held open.
pub fn others_in(folder: &OutputFolder, shown: &Path) -> io::Result<Option<trust::OtherWriters>> {
    trust::others_in_output(shown, &folder.metadata()?)
}

#[cfg(test)]
mod tests;
