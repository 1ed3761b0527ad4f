//! Forked processes that are all reaped in the end, and one way to hear of them.

use super::board::{Board, Trouble};
use crate::bench::{BenchError, Observer};
use crate::sys::process::{self, Exit, Pid, Waited};
use crate::sys::signal;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use worstcase_logs::Nanos;

/// How often one looks whether a process died and whether an end is wanted.
const LOOK: Nanos = Nanos::from_millis(100);

/// What is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    /// One has something to tell.
    Done,
    /// All have ended.
    Ended,
    /// None has.
    Nothing,
}

/// The processes. Dropping it ends and reaps them.
pub(super) struct Crew {
    running: Vec<Pid>,
    /// At its end when all have ended: each holds the other side.
    news: File,
    teller: Option<File>,
}

impl Crew {
    pub(super) fn new() -> Result<Crew, BenchError> {
        let (news, teller) = process::pipe().map_err(BenchError::system("making a pipe"))?;
        Ok(Crew {
            running: Vec::new(),
            news,
            teller: Some(File::from(teller)),
        })
    }

    /// Forks one that runs `body`, which can write to the file that it is given to say [`News::Done`].
    pub(super) fn start(
        &mut self,
        board: &Board,
        body: impl FnOnce(&File) -> Result<(), Trouble>,
    ) -> Result<(), BenchError> {
        let teller = self.teller.as_ref().expect("not complete yet");
        let forked = process::fork(signal::SIGKILL, || match body(teller) {
            Ok(()) => 0,
            Err(trouble) => {
                board.report(trouble);
                1
            }
        });
        self.running
            .push(forked.map_err(BenchError::system("starting a process of the ring"))?);
        Ok(())
    }

    /// No more will be started.
    pub(super) fn complete(&mut self) {
        self.teller = None;
    }

    fn news(&mut self) -> Result<News, BenchError> {
        let failed = BenchError::system("waiting for the ring");
        if !signal::readable_within(self.news.as_fd(), LOOK).map_err(&failed)? {
            return Ok(News::Nothing);
        }
        match self.news.read(&mut [0]) {
            Ok(0) => Ok(News::Ended),
            Ok(_) => Ok(News::Done),
            Err(error) => Err(failed(error)),
        }
    }

    /// Waits until one is done; false if an end is wanted before that.
    pub(super) fn wait_until_done(&mut self, board: &Board, observer: &mut dyn Observer) -> Result<bool, BenchError> {
        loop {
            match self.news()? {
                News::Done => return Ok(true),
                News::Ended => {
                    self.reap(board, true)?;
                    return Err(BenchError::Books("the ring ended before its laps were done".into()));
                }
                News::Nothing => {
                    self.reap(board, false)?;
                    if observer.wants_end() {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Waits until all have ended well; false if an end is wanted before that.
    pub(super) fn wait_until_ended(&mut self, board: &Board, observer: &mut dyn Observer) -> Result<bool, BenchError> {
        loop {
            match self.news()? {
                News::Ended => {
                    self.reap(board, true)?;
                    return Ok(true);
                }
                News::Done => {}
                News::Nothing => {
                    self.reap(board, false)?;
                    if observer.wants_end() {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Reaps those that have ended (`all`: waits for each); an error if one of them failed.
    fn reap(&mut self, board: &Board, all: bool) -> Result<(), BenchError> {
        let mut failed = None;
        let mut result = Ok(());
        self.running.retain(|&pid| match process::wait(pid, all) {
            Ok(Waited::Running) => true,
            Ok(Waited::Ended(_, Exit::Code(0))) => false,
            Ok(Waited::Ended(_, exit)) => {
                failed.get_or_insert(exit);
                false
            }
            Ok(Waited::NoChild) => false,
            Err(error) => {
                result = Err(error);
                true
            }
        });
        result.map_err(BenchError::system("reaping the ring"))?;
        match (failed, board.trouble()) {
            (None, _) => Ok(()),
            (Some(_), Some(trouble)) => Err(trouble.into()),
            (Some(exit), None) => Err(BenchError::System {
                doing: "running the ring",
                source: io::Error::other(format!("a member ended with {exit}")),
            }),
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for &pid in &self.running {
            // One that has ended is still there to be reaped, so that its id is nobody else's.
            let _ = process::kill(pid, signal::SIGKILL);
        }
        for &pid in &self.running {
            let _ = process::wait(pid, true);
        }
    }
}
