//! What one thread wakes another by.

use super::Via;
use super::link::Link;
use super::wire::Wire;
use crate::sys::epoll::Epoll;
use crate::sys::eventfd::EventFd;
use crate::sys::futex::Scope;
use std::io::{self, PipeReader, PipeWriter};
use std::sync::atomic::AtomicU32;
use worstcase_logs::Nanos;

/// What the sleeper is woken by.
#[derive(Debug)]
pub(super) enum Way {
    Pipe(PipeReader, PipeWriter),
    Eventfd(EventFd),
    Futex(AtomicU32),
    Epoll(Epoll, EventFd),
    /// A pulse on a wire.
    Wire(Box<dyn Wire>),
}

impl Way {
    pub(super) fn new(via: Via) -> io::Result<Way> {
        Ok(match via {
            Via::Pipe => {
                let (reader, writer) = io::pipe()?;
                Way::Pipe(reader, writer)
            }
            Via::Eventfd => Way::Eventfd(EventFd::new()?),
            Via::Futex => Way::Futex(AtomicU32::new(0)),
        })
    }

    /// The waker: what has to be done before the clock is read.
    #[inline(always)]
    pub(super) fn prepare(&self) -> io::Result<()> {
        match self {
            Way::Wire(wire) => wire.prepare(),
            _ => Ok(()),
        }
    }

    /// The waker: wakes.
    #[inline(always)]
    pub(super) fn send(&self) -> io::Result<()> {
        match self {
            Way::Pipe(reader, writer) => Link::Pipe(reader, writer).send(),
            Way::Eventfd(counter) | Way::Epoll(_, counter) => Link::Eventfd(counter).send(),
            Way::Futex(word) => Link::Futex(word, Scope::Private).send(),
            Way::Wire(wire) => wire.send(),
        }
    }

    /// The sleeper: what was before is no reason to wake up.
    pub(super) fn forget(&self) -> io::Result<()> {
        match self {
            Way::Epoll(_, counter) => counter.forget(),
            Way::Wire(wire) => wire.forget(),
            _ => Ok(()),
        }
    }

    /// The sleeper: waits; when the kernel saw why, where it tells.
    #[inline(always)]
    pub(super) fn receive(&self) -> io::Result<Option<Nanos>> {
        let received = match self {
            Way::Pipe(reader, writer) => Link::Pipe(reader, writer).receive(),
            Way::Eventfd(counter) => Link::Eventfd(counter).receive(),
            Way::Futex(word) => Link::Futex(word, Scope::Private).receive(),
            Way::Epoll(epoll, _) => epoll.wait(),
            Way::Wire(wire) => return wire.receive(),
        };
        received.map(|()| None)
    }
}
