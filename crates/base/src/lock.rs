//! Locks on open files (flock), released at once when dropped.
//!
//! Closing the file is not enough: a child that another thread has forked holds the lock too, until it calls exec.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

/// A held lock; dropping it releases it.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Waits until no other process holds the lock.
    pub fn exclusive(file: File) -> io::Result<FileLock> {
        exclusive(&file)?;
        Ok(FileLock { file })
    }

    /// Waits until no process holds the lock exclusively.
    pub fn shared(file: File) -> io::Result<FileLock> {
        wait(&file, FlockOperation::LockShared)?;
        Ok(FileLock { file })
    }

    /// Opens a file or folder and locks it; `None` if another process holds the lock now.
    pub fn try_open(path: &Path) -> io::Result<Option<FileLock>> {
        FileLock::try_exclusive(File::open(path)?)
    }

    /// `None` if another process holds the lock now.
    pub(crate) fn try_exclusive(file: File) -> io::Result<Option<FileLock>> {
        Ok(try_exclusive(&file)?.then_some(FileLock { file }))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // If unlocking fails, closing the file releases the lock.
        let _ = let_go(&self.file);
    }
}

/// Locks a file that its owner goes on to write: waits until no other process holds the lock, whatever signals come.
pub fn exclusive(file: &File) -> io::Result<()> {
    wait(file, FlockOperation::LockExclusive)
}

/// Takes the lock unless another process holds it; says whether it did.
pub fn try_exclusive(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// Unlocks the file.
pub fn let_go(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::Unlock)?)
}

fn wait(file: &File, how: FlockOperation) -> io::Result<()> {
    loop {
        match flock(file, how) {
            Err(Errno::INTR) => continue,
            other => return Ok(other?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_free_when_dropped_though_a_copy_of_the_file_is_open() {
        let dir = tempfile::tempdir().unwrap();
        let held = FileLock::try_open(dir.path()).unwrap().unwrap();
        let in_a_process_being_started = held.file.try_clone().unwrap();
        assert!(FileLock::try_open(dir.path()).unwrap().is_none());
        drop(held);
        assert!(FileLock::try_open(dir.path()).unwrap().is_some());
        drop(in_a_process_being_started);
    }

    #[test]
    fn shared_ones_keep_away_only_who_wants_it_alone() {
        let dir = tempfile::tempdir().unwrap();
        let open = || File::open(dir.path()).unwrap();
        let first = FileLock::shared(open()).unwrap();
        let second = FileLock::shared(open()).unwrap();
        drop(first);
        assert!(FileLock::try_open(dir.path()).unwrap().is_none());
        drop(second);
        assert!(FileLock::try_open(dir.path()).unwrap().is_some());
    }
}
