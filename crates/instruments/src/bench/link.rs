//! What a token is passed through.

use crate::sys::eventfd::EventFd;
use crate::sys::futex::{self, Scope};
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};

const EMPTY: u32 = 0;
const TOKEN: u32 = 1;

/// A place for one token, between processes or threads.
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
