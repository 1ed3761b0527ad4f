//! The work folder of a run's loads: made anew, and believed only while no other user can have changed it.
//!
//! ```text
//! work folder          of this user alone; others may pass through it where a load runs as another user
//!   worstcase-loads    the boot, then a line a worker: process id and start time
//!   N-NAME, N-tmp      what a load makes, and its temporary files; these may belong to the user it runs as
//! ```
//! The clean-up kills the processes that the list names, as root if root measured. So the folder must not exist when a
//! run begins, nothing in it is reached through a link, and one that belongs to another user is not touched.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const LIST: &str = "worstcase-loads";
const NEW_LIST: &str = "worstcase-loads.new";
/// Limit in bytes; no list is that long.
const MOST_LISTED: u64 = 1 << 20;
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// An open work folder of this user.
#[derive(Debug)]
pub(super) struct WorkFolder {
    path: PathBuf,
    folder: OwnedFd,
}

impl WorkFolder {
    /// Makes the folder, with an empty list; refused if anything of this name exists.
    pub(super) fn begin(path: &Path) -> io::Result<WorkFolder> {
        DirBuilder::new().mode(0o700).create(path).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => {
                io::Error::other("it is there already; loads need a new folder of their own")
            }
            _ => e,
        })?;
        let folder = WorkFolder::open(path)?;
        // Made in one step, because a folder without its list would not be recognized as ours.
        folder.make_file(LIST)?;
        Ok(folder)
    }

    fn make_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.folder, name, flags, Mode::from_raw_mode(0o600))?.into())
    }

    /// Opens a folder that was begun; refused if other users could have written to it.
    pub(super) fn open(path: &Path) -> io::Result<WorkFolder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(|e| match e {
            Errno::NOTDIR | Errno::LOOP => io::Error::other("it is no folder; look what it is, and remove it"),
            e => e.into(),
        })?;
        let folder = File::from(folder);
        let is = folder.metadata()?;
        if !is_ours(&is) {
            return Err(io::Error::other(format!(
                "it belongs to user {}, or others can write to it (mode {:o}), so it is left alone; remove it yourself",
                is.uid(),
                is.mode() & 0o7777
            )));
        }
        Ok(WorkFolder {
            path: path.to_path_buf(),
            folder: folder.into(),
        })
    }

    /// Lets other users pass through it to the folders of loads that run as them; they can neither list nor change it.
    pub(super) fn let_others_pass(&self) -> io::Result<()> {
        Ok(rustix::fs::fchmod(&self.folder, Mode::from_raw_mode(0o711))?)
    }

    /// Replaces the list in one step.
    pub(super) fn write_list(&self, text: &str) -> io::Result<()> {
        self.make_file(NEW_LIST)?.write_all(text.as_bytes())?;
        Ok(rustix::fs::renameat(&self.folder, NEW_LIST, &self.folder, LIST)?)
    }

    /// The list; `None` if this is no work folder of loads.
    pub(super) fn list(&self) -> Option<String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.folder, LIST, flags, Mode::empty()).ok()?);
        let is = file.metadata().ok()?;
        if !is.is_file() || !is_ours(&is) {
            return None;
        }
        let mut text = String::new();
        file.take(MOST_LISTED).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// This user, and the users that loads run as: only worstcase can have given them a folder in here.
    pub(super) fn users(&self) -> io::Result<BTreeSet<u32>> {
        let mut users = BTreeSet::from([own_user()]);
        for entry in entries(&self.folder)? {
            match rustix::fs::statat(&self.folder, entry, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(is) => users.insert(is.st_uid),
                Err(Errno::NOENT) => false,
                Err(e) => return Err(e.into()),
            };
        }
        Ok(users)
    }

    /// When the folder was begun, in seconds since 1970, rounded to an earlier time. With an unset clock this may be before
    /// 1970.
    pub(super) fn begun(&self) -> Option<i64> {
        let folder = File::from(self.folder.try_clone().ok()?);
        let begun = folder.metadata().ok()?.created().ok();
        let list = || rustix::fs::statat(&self.folder, LIST, AtFlags::SYMLINK_NOFOLLOW).ok();
        let begun = match begun {
            Some(time) => seconds(time)?,
            None => list()?.st_mtime,
        };
        Some(begun.saturating_sub(1))
    }

    /// Removes the folder, the list last, so that a folder whose removal was interrupted is still recognized.
    pub(super) fn remove(&self) -> io::Result<()> {
        for name in entries(&self.folder)? {
            if name.as_bytes() != LIST.as_bytes() {
                remove_below(&self.folder, &name)?;
            }
        }
        gone_is_fine(rustix::fs::unlinkat(&self.folder, LIST, AtFlags::empty()).map_err(io::Error::from))?;
        gone_is_fine(fs::remove_dir(&self.path))
    }
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn is_ours(is: &fs::Metadata) -> bool {
    is.uid() == own_user() && is.mode() & WRITABLE_BY_OTHERS == 0
}

fn entries(folder: impl AsFd) -> io::Result<Vec<std::ffi::CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if ![c".", c".."].contains(&name.as_c_str()) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Removes a file, a link, or a folder with everything in it.
fn remove_below(folder: impl AsFd, name: &CStr) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let removal = match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
        Ok(inner) => {
            entries(&inner)?
                .iter()
                .try_for_each(|name| remove_below(&inner, name))?;
            AtFlags::REMOVEDIR
        }
        Err(Errno::NOTDIR | Errno::LOOP) => AtFlags::empty(),
        Err(Errno::NOENT) => return Ok(()),
        // An unreadable folder can be removed if it is empty.
        Err(Errno::ACCESS) => match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(is) if FileType::from_raw_mode(is.st_mode) == FileType::Directory => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        },
        Err(e) => return Err(e.into()),
    };
    gone_is_fine(rustix::fs::unlinkat(&folder, name, removal).map_err(io::Error::from))
}

pub(super) fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
/// Seconds since 1970, rounded down.
fn seconds(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).ok(),
        Err(before) => Some(-1 - i64::try_from(before.duration().as_secs()).ok()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_clock_before_1970_has_seconds_too() {
        let before = |ns| UNIX_EPOCH - Duration::from_nanos(ns);
        assert_eq!(seconds(UNIX_EPOCH), Some(0));
        assert_eq!(seconds(UNIX_EPOCH + Duration::from_nanos(1_999_999_999)), Some(1));
        assert_eq!(seconds(before(1)), Some(-1));
        assert_eq!(seconds(before(500_000_000)), Some(-1));
        // Rounded to an earlier time.
        assert_eq!(seconds(before(1_000_000_000)), Some(-2));
    }
}
