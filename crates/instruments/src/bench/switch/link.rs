//! The links of a ring: what a token is passed through, from one member to the next.

use super::plan::Plan;
use crate::bench::Via;
use crate::bench::link::Link;
use crate::sys::eventfd::EventFd;
use crate::sys::futex::Scope;
use crate::sys::memory::Mapping;
use std::io::{self, PipeReader, PipeWriter};
use std::sync::atomic::AtomicU32;

/// Half words between two futexes: a cache line each.
const STRIDE: usize = 16;

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
