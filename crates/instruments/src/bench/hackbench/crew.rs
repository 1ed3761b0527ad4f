//! The children of a run: started, watched, reaped, and ended if they are not needed any more.

use super::Hackbench;
use super::shared::{Shared, USED};
use crate::bench::{BenchError, Transport};
use crate::loads::board::Board;
use crate::sys::process::{self, Exit, Pid, Waited};
use crate::sys::signal;
use crate::sys::thread::{self, Body};
use crate::sys::usage::{self, Usage};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// Children that have not been reaped. Dropping it ends and reaps them.
#[derive(Default)]
pub(super) struct Crew {
    alive: BTreeSet<Pid>,
    used: Usage,
}

impl Crew {
    /// Processes: each a child. `false` if somebody wanted an end meanwhile.
    ///
    /// The parent keeps no end that messages are read from, and those that they are written to only until their
    /// group is complete. A receiver keeps its own end only, so that it sees when all its senders have gone.
    pub(super) fn fork(
        &mut self,
        shared: &Shared<'_>,
        wants_end: &mut dyn FnMut() -> bool,
    ) -> Result<bool, BenchError> {
        let what = &shared.plan.what;
        for group in 0..what.groups as usize {
            if wants_end() {
                return Ok(false);
            }
            let mut writers = Vec::with_capacity(what.pairs.into());
            for i in 0..what.pairs as usize {
                let (reader, writer) = channel(what).map_err(BenchError::system("making a socket pair or pipe"))?;
                writers.push(writer);
                self.start("starting a receiver", || {
                    writers.clear(); // the child's copies: the parent keeps its own
                    let index = group * what.pairs as usize + i;
                    code(
                        &shared.board,
                        shared.enter().and_then(|()| shared.receive(&reader, index)),
                    )
                })?;
            }
            for i in 0..what.pairs as usize {
                self.start("starting a sender", || {
                    let index = group * what.pairs as usize + i;
                    code(
                        &shared.board,
                        shared.enter().and_then(|()| shared.send(&writers, index)),
                    )
                })?;
            }
        }
        Ok(true)
    }

    /// Threads: all of one child, so that they can be ended, and counted, as one.
    pub(super) fn fork_threads(&mut self, shared: &mut Shared<'_>) -> Result<(), BenchError> {
        self.start("starting the process of the threads", || {
            let done = shared.enter().and_then(|()| run_threads(shared));
            shared.alive = None; // the parent takes the time
            let used = usage::own_process() - usage::own_thread();
            for (place, value) in USED.into_iter().zip([used.cpu.0, used.voluntary, used.involuntary]) {
                shared.board.add(place, value);
            }
            code(&shared.board, done)
        })
    }

    fn start(&mut self, doing: &'static str, body: impl FnOnce() -> i32) -> Result<(), BenchError> {
        let pid = process::fork(signal::SIGKILL, body).map_err(BenchError::system(doing))?;
        self.alive.insert(pid);
        Ok(())
    }

    /// Reaps who has ended; an error if one of them failed.
    pub(super) fn look(&mut self, board: &Board) -> Result<(), BenchError> {
        while self.reap(board, false)? {}
        Ok(())
    }

    /// Reaps all, who are about to end; returns what they used together.
    pub(super) fn join(&mut self, board: &Board) -> Result<Usage, BenchError> {
        while self.reap(board, true)? {}
        Ok(self.used)
    }

    /// Whether one was reaped.
    fn reap(&mut self, board: &Board, block: bool) -> Result<bool, BenchError> {
        if self.alive.is_empty() {
            return Ok(false);
        }
        // This process' own group: loads are in groups of theirs.
        let (waited, used) =
            process::reap(0, block).map_err(BenchError::system("waiting for senders and receivers"))?;
        match waited {
            Waited::Running => Ok(false),
            Waited::NoChild => {
                self.alive.clear();
                Err(BenchError::Books("somebody else reaped senders or receivers".into()))
            }
            Waited::Ended(pid, exit) => {
                if self.alive.remove(&pid) {
                    self.used = self.used + used;
                    if exit != Exit::Code(0) {
                        return Err(failed(exit, board));
                    }
                }
                Ok(true)
            }
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for &pid in &self.alive {
            // One that has ended already is just as well.
            let _ = process::kill(pid, signal::SIGKILL);
        }
        while let Some(pid) = self.alive.pop_first() {
            let _ = process::wait(pid, true);
        }
    }
}

/// A child's exit code; why it failed is left on the board.
fn code(board: &Board, done: Result<(), String>) -> i32 {
    match done {
        Ok(()) => 0,
        Err(message) => {
            board.report(&message);
            1
        }
    }
}

/// Who was killed left no words; whatever is on the board then is what that did to others.
fn failed(exit: Exit, board: &Board) -> BenchError {
    let words = match exit {
        Exit::Code(_) => board.message(),
        Exit::Signal(_) => None,
    };
    let why = words.unwrap_or_else(|| exit.to_string());
    BenchError::Books(format!("a sender or receiver failed: {why}"))
}

/// Where messages are read from, and where they are written to.
fn channel(what: &Hackbench) -> io::Result<(File, File)> {
    let (reader, writer): (OwnedFd, OwnedFd) = match what.transport {
        Transport::Sockets => UnixStream::pair().map(|(a, b)| (a.into(), b.into()))?,
        Transport::Pipes => io::pipe().map(|(a, b)| (a.into(), b.into()))?,
    };
    Ok((reader.into(), writer.into()))
}

/// Starts all threads and returns when all have ended. One that fails ends the process: the others could wait for it
/// for ever.
fn run_threads(shared: &Shared<'_>) -> Result<(), String> {
    let what = &shared.plan.what;
    let made: io::Result<Vec<(File, File)>> = (0..what.receivers()).map(|_| channel(what)).collect();
    let made = made.map_err(|e| format!("making a socket pair or pipe: {e}"))?;
    let (readers, writers): (Vec<File>, Vec<File>) = made.into_iter().unzip();
    let fail = |message: &str| -> ! {
        shared.board.report(message);
        process::exit_now(1)
    };
    let done = |result: Result<(), String>| result.unwrap_or_else(|message| fail(&message));
    let done = &done;
    let pairs = what.pairs as usize;
    let mut bodies: Vec<Body<'_>> = Vec::with_capacity(what.tasks());
    for (group, (readers, writers)) in readers.chunks(pairs).zip(writers.chunks(pairs)).enumerate() {
        for (i, reader) in readers.iter().enumerate() {
            bodies.push(Box::new(move || done(shared.receive(reader, group * pairs + i))));
        }
        for i in 0..pairs {
            bodies.push(Box::new(move || done(shared.send(writers, group * pairs + i))));
        }
    }
    thread::run_all(&bodies, |e| fail(&format!("starting a thread: {e}")));
    Ok(())
}
