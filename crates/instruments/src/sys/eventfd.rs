//! An event counter (eventfd) as a place for one token.

use rustix::event::{EventfdFlags, eventfd};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

/// The counter; forked children share it.
#[derive(Debug)]
pub(crate) struct EventFd(File);

impl EventFd {
    /// A counter of 0.
    pub fn new() -> io::Result<EventFd> {
        Ok(EventFd(File::from(eventfd(0, EventfdFlags::CLOEXEC)?)))
    }

    /// The same, of which [`EventFd::forget`] may be asked.
    pub(crate) fn without_waiting() -> io::Result<EventFd> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(EventFd(File::from(eventfd(0, flags)?)))
    }

    /// Sets the counter to 0, whatever it is.
    pub fn forget(&self) -> io::Result<()> {
        match self.take() {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(()),
            taken => taken.map(drop),
        }
    }

    /// Adds 1.
    #[inline(always)]
    pub fn add(&self) -> io::Result<()> {
        (&self.0).write(&1u64.to_ne_bytes()).map(drop)
    }

    /// Waits until the counter is not 0, sets it to 0 and returns what it was.
    #[inline(always)]
    pub fn take(&self) -> io::Result<u64> {
        let mut value = [0; 8];
        (&self.0).read_exact(&mut value)?;
        Ok(u64::from_ne_bytes(value))
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_forgotten_and_nothing_is_waited_for() {
        let counter = EventFd::without_waiting().unwrap();
        counter.forget().unwrap();
        counter.add().unwrap();
        counter.forget().unwrap();
        assert_eq!(counter.take().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn what_is_added_is_taken() {
        let counter = EventFd::new().unwrap();
        counter.add().unwrap();
        counter.add().unwrap();
        assert_eq!(counter.take().unwrap(), 2);
    }
}
