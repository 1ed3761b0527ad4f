//! What a token is passed through, from one member to the next.

use super::plan::Plan;
use crate::bench::Via;
use crate::sys::eventfd::EventFd;
use crate::sys::futex::{self, Scope};
use crate::sys::memory::Mapping;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};

/// Half words between two futexes: a cache line each.
const STRIDE: usize = 16;
const EMPTY: u32 = 0;
const TOKEN: u32 = 1;

/// One for each member, which sends through its own and receives through that of the member before it.
pub(super) enum Links {
    Pipe(Vec<(PipeReader, PipeWriter)>),
    Eventfd(Vec<EventFd>),
    Futex(Mapping, Scope),
}

impl Links {
    /// Fresh ones, without a token.
    pub(super) fn new(plan: &Plan) -> io::Result<Links> {
        let all = 0..plan.members;
        Ok(match plan.via {
            Via::Pipe => Links::Pipe(all.map(|_| io::pipe()).collect::<io::Result<_>>()?),
            Via::Eventfd => Links::Eventfd(all.map(|_| EventFd::new()).collect::<io::Result<_>>()?),
            Via::Futex => {
                let words = Mapping::shared(plan.members * STRIDE * size_of::<AtomicU32>())?;
                let scope = if plan.threads { Scope::Private } else { Scope::Shared };
                Links::Futex(words, scope)
            }
        })
    }

    pub(super) fn get(&self, member: usize) -> Link<'_> {
        match self {
            Links::Pipe(pipes) => Link::Pipe(&pipes[member].0, &pipes[member].1),
            Links::Eventfd(counters) => Link::Eventfd(&counters[member]),
            Links::Futex(words, scope) => Link::Futex(&words.half_words()[member * STRIDE], *scope),
        }
    }
}

/// One of them.
#[derive(Clone, Copy)]
pub(super) enum Link<'a> {
    Pipe(&'a PipeReader, &'a PipeWriter),
    Eventfd(&'a EventFd),
    Futex(&'a AtomicU32, Scope),
}

impl Link<'_> {
    /// Puts the token in.
    #[inline(always)]
    pub(super) fn send(self) -> io::Result<()> {
        match self {
            Link::Pipe(_, mut writer) => match writer.write(&[0])? {
                1 => Ok(()),
                _ => Err(ErrorKind::WriteZero.into()),
            },
            Link::Eventfd(counter) => counter.add(),
            Link::Futex(word, scope) => {
                word.store(TOKEN, Ordering::Release);
                futex::wake_one(word, scope)
            }
        }
    }

    /// Waits for the token and takes it out: always with one system call at least, also where the token is there already.
    #[inline(always)]
    pub(super) fn receive(self) -> io::Result<()> {
        match self {
            Link::Pipe(mut reader, _) => match reader.read(&mut [0])? {
                1 => Ok(()),
                _ => Err(ErrorKind::UnexpectedEof.into()),
            },
            Link::Eventfd(counter) => match counter.take()? {
                1 => Ok(()),
                _ => Err(ErrorKind::InvalidData.into()),
            },
            Link::Futex(word, scope) => loop {
                futex::wait(word, EMPTY, scope)?;
                if word.swap(EMPTY, Ordering::Acquire) == TOKEN {
                    return Ok(());
                }
            },
        }
    }
}
