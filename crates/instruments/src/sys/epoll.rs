//! Waiting for an event counter with epoll.

use super::eventfd::EventFd;
use rustix::event::epoll;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

/// An instance with one event counter in it.
#[derive(Debug)]
pub struct Epoll(OwnedFd);

impl Epoll {
    /// Waits for this counter.
    pub(crate) fn of(counter: &EventFd) -> io::Result<Epoll> {
        let instance = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let data = epoll::EventData::new_u64(0);
        epoll::add(&instance, counter.as_fd(), data, epoll::EventFlags::IN)?;
        Ok(Epoll(instance))
    }

    /// Waits until the counter is not 0.
    #[inline(always)]
    pub fn wait(&self) -> io::Result<()> {
        let mut events = [MaybeUninit::<epoll::Event>::uninit(); 1];
        match epoll::wait(&self.0, &mut events, None)? {
            ([_], _) => Ok(()),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_for_what_is_added() {
        let counter = EventFd::new().unwrap();
        let epoll = Epoll::of(&counter).unwrap();
        counter.add().unwrap();
        epoll.wait().unwrap();
        // Until it is taken it is still there.
        epoll.wait().unwrap();
        assert_eq!(counter.take().unwrap(), 1);
    }
}
