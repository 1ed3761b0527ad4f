//! Locks on open files (flock), let go at once when dropped.
//!
//! Closing the file is not enough: a process that another thread starts holds it too, until it executes its program.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;

/// Held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Waits until nobody else holds it, whatever signals come.
    pub fn exclusive(file: File) -> io::Result<Lock> {
        Lock::wait(file, FlockOperation::LockExclusive)
    }

    /// Waits until nobody holds it for himself alone.
    pub fn shared(file: File) -> io::Result<Lock> {
        Lock::wait(file, FlockOperation::LockShared)
    }

    /// Nothing if somebody holds it now.
    pub fn try_exclusive(file: File) -> io::Result<Option<Lock>> {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock { file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// The file or folder that is locked.
    pub fn file(&self) -> &File {
        &self.file
    }

    fn wait(file: File, how: FlockOperation) -> io::Result<Lock> {
        loop {
            match flock(&file, how) {
                Err(Errno::INTR) => continue,
                Err(e) => return Err(e.into()),
                Ok(()) => return Ok(Lock { file }),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A lock that cannot be let go goes with the file.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_free_when_dropped_though_a_copy_of_the_file_is_open() {
        let dir = tempfile::tempdir().unwrap();
        let open = || File::open(dir.path()).unwrap();
        let held = Lock::try_exclusive(open()).unwrap().unwrap();
        let in_a_process_being_started = held.file().try_clone().unwrap();
        assert!(Lock::try_exclusive(open()).unwrap().is_none());
        drop(held);
        assert!(Lock::try_exclusive(open()).unwrap().is_some());
        drop(in_a_process_being_started);
    }

    #[test]
    fn shared_ones_keep_away_only_who_wants_it_alone() {
        let dir = tempfile::tempdir().unwrap();
        let open = || File::open(dir.path()).unwrap();
        let first = Lock::shared(open()).unwrap();
        let second = Lock::shared(open()).unwrap();
        drop(first);
        assert!(Lock::try_exclusive(open()).unwrap().is_none());
        drop(second);
        assert!(Lock::try_exclusive(open()).unwrap().is_some());
    }
}
