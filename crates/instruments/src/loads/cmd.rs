//! `cmd:PROGRAM ARGUMENTS`: any program, started again whenever it ends with success.
//!
//! ```text
//! measuring process -> supervisor (adopts orphans) -> the program, in a process group of its own -> its children
//! ```
//! The supervisor keeps the last line of the program's standard error for the message when it fails, and ends
//! everything below itself when it is asked to, or when the measuring process is gone.

use super::LoadError;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::process_tree;
use crate::sys::process::{self, Exit, Pid, Waited};
use crate::sys::signal::{self, SignalFd};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

/// Read from /proc.
const CPU_TIME: usize = 0;
const RUNS: usize = 1;
/// Exit code of a program that could not be started, as shells use it.
const CANNOT_RUN: i32 = 127;
/// Bytes of standard error that are kept.
const TAIL: usize = 512;

/// Names the file by which a program says that it is ready.
const READY: &str = "WORSTCASE_READY";

/// Any program.
pub const CMD: LoadCode = LoadCode {
    name: "cmd",
    units: &["cpu_time_us", "runs"],
    body: Some(start),
};

/// Any program that says when it is ready.
pub const CMD_READY: LoadCode = LoadCode {
    name: "cmd-ready",
    units: &["cpu_time_us", "runs"],
    body: Some(start_ready),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    supervise(load, None)
}

/// The same, and the program says when it is ready.
fn start_ready(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let file = load.folder()?.join("ready");
    load.await_file(file.clone());
    supervise(load, Some(file))
}

fn supervise(load: &mut RunningPart, ready: Option<PathBuf>) -> Result<(), LoadError> {
    let words = load.request().words().to_vec();
    load.read_unit(CPU_TIME, |workers| {
        let supervisor = workers.first();
        supervisor.map_or(0, |&supervisor| process_tree::cpu_time_below(supervisor).0 / 1_000)
    });
    load.spawn(Ending::Asked, move |board| {
        if let Some(file) = &ready {
            process::set_variable(READY, file);
        }
        process::adopt_orphans(true).map_err(|e| format!("becoming the reaper of orphans: {e}"))?;
        let signals =
            SignalFd::new(&[signal::SIGCHLD, signal::SIGTERM]).map_err(|e| format!("waiting for signals: {e}"))?;
        let result = loop {
            match run(&words, &signals) {
                Ok(CommandEnd::Success) => board.add(RUNS, 1),
                Ok(CommandEnd::AskedToEnd) => break Ok(()),
                Err(message) => break Err(message),
            }
        };
        process_tree::kill_below_self();
        result
    })
}

enum CommandEnd {
    Success,
    AskedToEnd,
}

/// Runs the program once; whatever it leaves running ends with it.
fn run(words: &[String], signals: &SignalFd) -> Result<CommandEnd, String> {
    let (errors, writer) = process::pipe().map_err(|e| format!("making a pipe: {e}"))?;
    let child = process::fork(signal::SIGKILL, || {
        let failed = become_program(&writer)
            .err()
            .unwrap_or_else(|| process::exec(&words[0], &words[1..]));
        eprintln!("cannot run '{}': {failed}", words[0]);
        CANNOT_RUN
    })
    .map_err(|e| format!("fork: {e}"))?;
    drop(writer);
    let mut tail = Tail {
        file: Some(errors),
        bytes: Vec::new(),
    };
    loop {
        let (signalled, readable) =
            signal::poll(signals.fd(), tail.file.as_ref().map(|f| f.as_fd())).map_err(|e| format!("poll: {e}"))?;
        if readable {
            tail.read();
        }
        if !signalled {
            continue;
        }
        if signals.next().map_err(|e| format!("reading a signal: {e}"))? == signal::SIGTERM {
            return Ok(CommandEnd::AskedToEnd);
        }
        if let Some(exit) = reap(child)? {
            tail.read();
            process_tree::kill_below_self();
            return match exit {
                Exit::Code(0) => Ok(CommandEnd::Success),
                exit => Err(format!("'{}' ended with {exit}: {}", words[0], tail.last_line())),
            };
        }
    }
}

/// Reaps what has ended; says how `child` did, if it is among them.
fn reap(child: Pid) -> Result<Option<Exit>, String> {
    let mut its_end = None;
    loop {
        match process::wait(-1, false) {
            Ok(Waited::Ended(pid, exit)) if pid == child => its_end = Some(exit),
            Ok(Waited::Ended(..)) => {}
            Ok(Waited::Running | Waited::NoChild) => return Ok(its_end),
            Err(e) => return Err(format!("waiting for the program: {e}")),
        }
    }
}

/// A process group of its own, standard error into the pipe, and silence otherwise.
fn become_program(errors: &OwnedFd) -> io::Result<()> {
    process::set_group(0, 0)?;
    process::redirect(errors.as_fd(), 2)?;
    // A lab guest may have no /dev/null; then the program keeps the console.
    if let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        process::redirect(null.as_fd(), 0)?;
        process::redirect(null.as_fd(), 1)?;
    }
    Ok(())
}

/// The last bytes of the program's standard error.
struct Tail {
    /// The pipe, until its end was read.
    file: Option<File>,
    bytes: Vec<u8>,
}

impl Tail {
    /// Takes what the (non-blocking) pipe holds now.
    fn read(&mut self) {
        let mut buffer = [0; 4096];
        while let Some(file) = &mut self.file {
            match file.read(&mut buffer) {
                Ok(0) => self.file = None,
                Ok(n) => {
                    self.bytes.extend_from_slice(&buffer[..n]);
                    let surplus = self.bytes.len().saturating_sub(TAIL);
                    self.bytes.drain(..surplus);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.file = None,
            }
        }
    }

    fn last_line(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.unwrap_or("nothing on its standard error").to_string()
    }
}
