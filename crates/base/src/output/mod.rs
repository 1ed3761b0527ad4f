//! How results are written: into a folder that is held open, as files that are there whole or not at all.
//!
//! Root may write into a folder that belongs to another user. That user can replace any name in it by a link at any moment, so
//! nothing here is opened twice by its name: a folder is opened once ([`OutputFolder`]), and its files are made in it under
//! random names, never through a link, and then renamed.

mod begun;
mod descriptor;
mod way;

use crate::{trust, unforeseen};
use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

pub use begun::BegunFolder;

/// Prefix of an unfinished file that needs a name; 32 random digits follow.
pub const UNFINISHED: &str = ".worstcase-";
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

/// What becomes of folders that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFolders {
    /// Missing folders are made.
    Made,
    /// A missing folder is an error.
    Refused,
}

/// A folder that is held open: files go there even if the folder is renamed.
#[derive(Debug)]
pub struct OutputFolder {
    handle: OwnedFd,
}

impl OutputFolder {
    /// Opens a folder; makes it and those above if they are missing.
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

    /// A path to this folder through its descriptor, for functions that take paths. Child processes can use it while this
    /// process runs. An error where /proc is not mounted.
    pub fn held(&self) -> io::Result<PathBuf> {
        // getpid() gives another number if /proc belongs to another PID namespace.
        let us = std::fs::read_link("/proc/self").map_err(|_| io::Error::other("/proc is not mounted"))?;
        let number = self.handle.as_raw_fd().to_string();
        Ok(Path::new("/proc").join(us).join("fd").join(number))
    }

    /// The folder's owner and mode.
    pub fn metadata(&self) -> io::Result<Metadata> {
        // Of a duplicate, because only a `File` can be asked.
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
        // An unnamed file leaves nothing behind if this process is killed while it writes.
        let nameless = self.file(OsStr::new("."), OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC);
        let is_named = match nameless {
            Ok(file) => temporary.named(&filled(file)?).is_ok(),
            Err(_) => false,
        };
        if !is_named {
            // The file system has no unnamed files, or /proc is not mounted.
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

/// The name of a file until it is complete and renamed; dropping this removes the name.
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
        // Usually it has been renamed, and the name is gone.
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
    /// The place of this path. A link on the way is followed only if its owner is trusted.
    pub fn of(path: &Path, missing: MissingFolders) -> io::Result<FolderPlace> {
        let spot = way::to(path, missing)?;
        Ok(FolderPlace {
            parent: OutputFolder { handle: spot.folder },
            name: spot.name,
        })
    }
}

/// Writes a file, replacing one that is there. If the path is a link of a trusted owner, its target is replaced, not the link;
/// another's link is an error. Terminals, null devices and open descriptors (`/dev/stdout`, `/dev/fd/3`) are written directly.
/// Anything else that is not a regular file is refused.
pub fn write(path: &Path, data: &[u8]) -> io::Result<()> {
    if let Some(open) = descriptor::named(path)? {
        return File::from(open).write_all(data);
    }
    let FolderPlace { parent, name } = FolderPlace::of(path, MissingFolders::Refused)?;
    parent.write(name, data)
}

/// An error if a folder cannot be made at `path` for want of a right: before hours of work whose results would go there.
pub fn check_may_make(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    if !there.is_dir() {
        let what = format!("{} is a file; name a folder", there.display());
        return Err(io::Error::new(io::ErrorKind::NotADirectory, what));
    }
    Ok(rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK)?)
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

/// For root: which other users could put links into this folder, through which root would write. A user who became root by
/// sudo may own the folder. The folders above do not matter, because this one is held open.
pub fn others_in(folder: &OutputFolder, shown: &Path) -> io::Result<Option<trust::OtherWriters>> {
    trust::others_in_output(shown, &folder.metadata()?)
}

#[cfg(test)]
mod tests;
