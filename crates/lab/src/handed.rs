//! Open files that a QEMU inherits: it names them by their descriptors, so it need not have access to the folders that hold
//! them.

use super::confine::User;
use rustix::fs::MemfdFlags;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An inherited file.
#[derive(Debug)]
pub struct Handed(OwnedFd);

const READABLE_BY_OTHERS: u32 = 0o004;

impl Handed {
    /// The file itself, if this user can open it again, or need not do so.
    pub(crate) fn as_is(path: &Path) -> io::Result<Handed> {
        Ok(Handed(File::open(path)?.into()))
    }

    /// A file that this user opens again to read. If only the caller may read the file, it is a copy in memory.
    pub(crate) fn to_read(path: &Path, user: User) -> io::Result<Handed> {
        let mut file = File::open(path)?;
        if user == User::Caller || file.metadata()?.mode() & READABLE_BY_OTHERS != 0 {
            return Ok(Handed(file.into()));
        }
        let mut copy = File::from(rustix::fs::memfd_create("worstcase", MemfdFlags::CLOEXEC)?);
        io::copy(&mut file, &mut copy)?;
        Ok(Handed(copy.into()))
    }

    /// Its descriptor, which is the same in QEMU.
    pub fn number(&self) -> i32 {
        self.0.as_raw_fd()
    }

    /// Its path in QEMU, for code that opens files by name.
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.number()).into()
    }

    /// Keeps the descriptor open across exec. Async-signal-safe.
    pub(crate) fn keep_over_exec(number: i32) -> io::Result<()> {
        // SAFETY: no pointers are passed.
        match unsafe { libc::fcntl(number, libc::F_SETFD, 0) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_only_root_may_read_is_handed_as_a_copy() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kernel");
        fs::write(&path, "image").unwrap();
        for (mode, user, is_copy) in [
            (0o644, User::Nobody, false),
            (0o640, User::Nobody, true),
            (0o600, User::Caller, false),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let handed = Handed::to_read(&path, user).unwrap();
            assert_eq!(fs::read_to_string(handed.path()).unwrap(), "image");
            let is_itself = fs::metadata(handed.path()).unwrap().ino() == fs::metadata(&path).unwrap().ino();
            assert_eq!(is_itself, !is_copy, "{mode:o} {user:?}");
        }
    }
}
