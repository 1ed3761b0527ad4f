//! Locks on open files (flock), let go at once when dropped.
//!
//! Closing the file is not enough: a process that another thread starts holds it too, until it executes its program.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

/// Held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Waits until nobody else holds it.
    pub fn exclusive(file: File) -> io::Result<Lock> {
        exclusive(&file)?;
        Ok(Lock { file })
    }

    /// Waits until nobody holds it for himself alone.
    pub fn shared(file: File) -> io::Result<Lock> {
        wait(&file, FlockOperation::LockShared)?;
        Ok(Lock { file })
    }

    /// Opens a file or folder and locks it; nothing if somebody holds it now.
    pub fn try_open(path: &Path) -> io::Result<Option<Lock>> {
        Lock::try_exclusive(File::open(path)?)
    }

    /// Nothing if somebody holds it now.
    pub fn try_exclusive(file: File) -> io::Result<Option<Lock>> {
        Ok(try_exclusive(&file)?.then_some(Lock { file }))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A lock that cannot be let go goes with the file.
        let _ = let_go(&self.file);
    }
}

/// Locks a file that its owner goes on to write: waits until nobody else holds it, whatever signals come.
pub fn exclusive(file: &File) -> io::Result<()> {
    wait(file, FlockOperation::LockExclusive)
}

/// Whether it could be locked: nobody else holds it.
pub fn try_exclusive(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// Unlocks it.
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
        let held = Lock::try_open(dir.path()).unwrap().unwrap();
        let in_a_process_being_started = held.file.try_clone().unwrap();
        assert!(Lock::try_open(dir.path()).unwrap().is_none());
        drop(held);
        assert!(Lock::try_open(dir.path()).unwrap().is_some());
        drop(in_a_process_being_started);
    }

    #[test]
    fn shared_ones_keep_away_only_who_wants_it_alone() {
        let dir = tempfile::tempdir().unwrap();
        let open = || File::open(dir.path()).unwrap();
        let first = Lock::shared(open()).unwrap();
        let second = Lock::shared(open()).unwrap();
        drop(first);
        assert!(Lock::try_open(dir.path()).unwrap().is_none());
        drop(second);
        assert!(Lock::try_open(dir.path()).unwrap().is_some());
    }
}
