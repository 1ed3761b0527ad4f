//! Walks a path to an output file name by name.
//!
//! The kernel follows every link on a path. Here a link is followed only if its owner is trusted: for root that is root,
//! and the user who became root by sudo. Each folder is opened in the one before, so nobody can replace a folder that was
//! passed already.

use super::MissingFolders;
use crate::trust;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The kernel's limit.
const MOST_LINKS: usize = 40;
const STICKY: u32 = 0o1000;
const WRITABLE_BY_ALL: u32 = 0o002;

const FOLDER: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A name in an open folder, which is not a link.
pub(super) struct Spot {
    pub(crate) folder: OwnedFd,
    pub(crate) name: OsString,
    /// The type of the file with this name, if there is one.
    pub(crate) there: Option<FileType>,
}

/// Walks to `path`. Folders before the last name that are missing are made or refused.
pub(super) fn to(path: &Path, missing: MissingFolders) -> io::Result<Spot> {
    let whole = match path.file_name() {
        Some(_) => path.to_path_buf(),
        // A path that ends in `.` or `..` gets its real name.
        None => std::fs::canonicalize(path)?,
    };
    let mut names = trust::words(&whole);
    let mut walk = FolderWalk::begin(whole.is_absolute())?;
    let mut links = 0;
    while let Some(name) = names.pop_front() {
        if name == ".." {
            walk.enter(&name)?;
            continue;
        }
        let is = match rustix::fs::statat(&walk.at, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(is) => Some(is),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        let there = is.map(|is| FileType::from_raw_mode(is.st_mode));
        if let (Some(is), Some(FileType::Symlink)) = (is, there) {
            links += 1;
            if links > MOST_LINKS {
                return Err(Errno::LOOP.into());
            }
            walk.follow(&name, &is, &mut names)?;
            continue;
        }
        if names.is_empty() {
            return Ok(Spot {
                folder: walk.at,
                name,
                there,
            });
        }
        if there.is_none() && missing == MissingFolders::Made {
            make(&walk.at, &name)?;
        }
        walk.enter(&name)?;
    }
    // The path is the root folder, or a link to a folder above.
    Err(Errno::ISDIR.into())
}

/// Makes a folder; one that another process made meanwhile is fine.
pub(super) fn make(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Opens a folder; refuses a link.
pub(super) fn open(parent: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(parent, name, FOLDER, Mode::empty())?)
}

struct FolderWalk {
    at: OwnedFd,
    /// The path so far, for messages.
    shown: PathBuf,
}

impl FolderWalk {
    fn begin(is_absolute: bool) -> io::Result<FolderWalk> {
        let from = if is_absolute { "/" } else { "." };
        Ok(FolderWalk {
            at: rustix::fs::openat(CWD, from, FOLDER, Mode::empty())?,
            shown: if is_absolute { from.into() } else { PathBuf::new() },
        })
    }

    fn enter(&mut self, name: &OsStr) -> io::Result<()> {
        self.at = open(&self.at, name)?;
        self.shown.push(name);
        Ok(())
    }

    fn follow(&mut self, name: &OsStr, link: &Stat, names: &mut VecDeque<OsString>) -> io::Result<()> {
        let folder = rustix::fs::fstat(&self.at)?;
        if !may_follow(link, &folder) {
            return Err(io::Error::other(format!(
                "{} is a link of user {}, which is not followed; name the place itself",
                self.shown.join(name).display(),
                link.st_uid
            )));
        }
        let target = rustix::fs::readlinkat(&self.at, name, Vec::new())?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            *self = FolderWalk::begin(true)?;
        }
        for word in trust::words(&target).into_iter().rev() {
            names.push_front(word);
        }
        Ok(())
    }
}

/// For an ordinary user the kernel's rule (protected_symlinks) holds: links of others are not followed in folders such as
/// /tmp.
fn may_follow(link: &Stat, folder: &Stat) -> bool {
    if trust::is_trusted_or_sudo(link.st_uid) {
        return true;
    }
    let all_write = folder.st_mode & STICKY != 0 && folder.st_mode & WRITABLE_BY_ALL != 0;
    !rustix::process::geteuid().is_root() && (!all_write || link.st_uid == folder.st_uid)
}
