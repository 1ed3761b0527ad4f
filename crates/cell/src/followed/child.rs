//! The program: held until the trace is on, ended when its time is over.

use super::{FollowedError, RawTrace};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use worstcase_instruments::sys::process::{self, Exit, Pid, Waited};
use worstcase_instruments::sys::signal;
use worstcase_instruments::sys::{affinity, clock};
use worstcase_logs::Nanos;

/// Where its output goes.
const OUTPUT: &str = "/tmp/follow-output";
/// Bytes of its output that are kept.
const TAIL: usize = 4096;
/// Exit code of a program that could not be started, as shells use it.
const CANNOT_RUN: i32 = 127;

#[derive(Debug)]
pub(super) struct Child {
    pub pid: Pid,
    /// What is written here lets it begin.
    gate: OwnedFd,
}

impl Child {
    /// Forks it: an ordinary thread on these CPUs, in a process group of its own, which waits.
    pub fn hold(words: &[String], cpus: Vec<u32>) -> Result<Child, FollowedError> {
        let output = File::create(OUTPUT).map_err(FollowedError::system(format!("cannot make {OUTPUT}")))?;
        let (mut held, gate) = process::blocking_pipe().map_err(FollowedError::system("cannot make a pipe"))?;
        let become_program = || {
            process::set_group(0, 0)?;
            process::redirect(output.as_fd(), 1)?;
            process::redirect(output.as_fd(), 2)?;
            if !cpus.is_empty() {
                affinity::set(&cpus)?;
            }
            held.read_exact(&mut [0])?;
            Err::<(), _>(process::exec(&words[0], &words[1..]))
        };
        let pid = process::fork(signal::SIGKILL, || {
            if let Err(e) = { become_program }() {
                eprintln!("cannot run '{}': {e}", words[0]);
            }
            CANNOT_RUN
        });
        Ok(Child {
            pid: pid.map_err(FollowedError::system("cannot fork"))?,
            gate,
        })
    }

    /// Lets it begin.
    pub fn release(&self) -> Result<(), FollowedError> {
        let gate = self
            .gate
            .try_clone()
            .map_err(FollowedError::system("cannot let the program begin"))?;
        File::from(gate)
            .write_all(&[0])
            .map_err(FollowedError::system("cannot let the program begin"))
    }

    /// Waits for its end; none if it does not come before that instant.
    pub fn wait_until(&self, end: Nanos) -> Result<Option<Exit>, FollowedError> {
        let failed = || FollowedError::system("cannot wait for the program");
        let watched = process::watch(self.pid).map_err(failed())?;
        loop {
            let left = end.saturating_sub(clock::monotonic());
            if signal::readable_within(watched.as_fd(), left).map_err(failed())? {
                return match process::wait(self.pid, true).map_err(failed())? {
                    Waited::Ended(_, exit) => Ok(Some(exit)),
                    _ => Ok(None),
                };
            }
            if left == Nanos(0) {
                return Ok(None);
            }
        }
    }

    /// The end of what it wrote.
    pub fn output(&self) -> String {
        let written = fs::read(OUTPUT).unwrap_or_default();
        String::from_utf8_lossy(&written[written.len().saturating_sub(TAIL)..]).into_owned()
    }

    /// Ends its whole group; an error if it had ended by itself, and not with success.
    pub fn finish(self, ended: Option<Exit>, words: &[String], trace: &RawTrace) -> Result<(), FollowedError> {
        // A group that is gone is no error.
        let _ = process::kill(-self.pid, signal::SIGKILL);
        if ended.is_none() {
            process::wait(self.pid, true).map_err(FollowedError::system("cannot end the program"))?;
        }
        let last = trace.output.lines().rev().find(|line| !line.trim().is_empty());
        match ended {
            None | Some(Exit::Code(0)) => Ok(()),
            Some(exit) => Err(FollowedError::Program {
                program: words[0].clone(),
                how: exit.to_string(),
                last: last.unwrap_or("it wrote nothing").to_string(),
            }),
        }
    }
}
