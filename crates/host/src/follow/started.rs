//! A command of the user's, in the hands of its [keeper](super::keeper): held, then running.

use super::keeper::{END, GO, KILL, KeeperWord};
use crate::HostError;
use rustix::io::{FdFlags, fcntl_setfd};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use worstcase_base::interrupt::LastWork;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramExit {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// A command that is kept from its first instruction.
pub(super) struct HeldProgram {
    program: String,
    id: u32,
    keeper: Keeper,
}

/// A running command; dropped, it ends with all that it started.
pub(super) struct StartedProgram {
    exit: Option<ProgramExit>,
    keeper: Keeper,
    _at_once: LastWork,
}

/// A keeper; dropped, it has ended, and all that it kept.
struct Keeper {
    socket: UnixStream,
    process: Arc<Mutex<Child>>,
}

/// So long a keeper takes at most to tell how its command ended.
const TOLD: Duration = Duration::from_secs(2);

impl HeldProgram {
    /// Starts it; what it writes to standard output goes to standard errors if that is asked.
    pub fn start(command: &[String], is_output_to_errors: bool) -> Result<HeldProgram, HostError> {
        let program = command
            .first()
            .filter(|program| !program.is_empty())
            .ok_or_else(|| HostError::Argument("the command to follow is empty: name a program behind --".into()))?
            .clone();
        let started = Keeper::start(command, is_output_to_errors).and_then(|keeper| match keeper.next()? {
            KeeperWord::Held(id) => Ok((id, keeper)),
            other => Err(other.refusal()),
        });
        match started {
            Ok((id, keeper)) => Ok(HeldProgram { program, id, keeper }),
            Err(source) => Err(HostError::Command { program, source }),
        }
    }

    /// Its process id, which is that of its only thread.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Lets it become the program.
    pub fn release(self) -> Result<StartedProgram, HostError> {
        let gone = (&self.keeper.socket).write_all(&[GO]);
        match gone.and_then(|()| self.keeper.next()) {
            Ok(KeeperWord::Began(Ok(()))) => Ok(StartedProgram {
                exit: None,
                _at_once: self.keeper.ended_at_once().map_err(|source| HostError::Command {
                    program: self.program,
                    source,
                })?,
                keeper: self.keeper,
            }),
            other => Err(HostError::Command {
                program: self.program,
                source: other.map_or_else(|e| e, KeeperWord::refusal),
            }),
        }
    }
}

impl KeeperWord {
    /// Why a command does not run.
    fn refusal(self) -> io::Error {
        match self {
            KeeperWord::Began(Err(error)) => io::Error::from_raw_os_error(error),
            _ => io::ErrorKind::UnexpectedEof.into(),
        }
    }
}

impl StartedProgram {
    /// How it ended; call this when it has.
    pub fn exit(&mut self) -> Option<ProgramExit> {
        if self.exit.is_none() {
            let _ = self.keeper.socket.set_read_timeout(Some(TOLD));
            self.exit = match self.keeper.next() {
                Ok(KeeperWord::Exited(code)) => Some(ProgramExit::Code(code)),
                Ok(KeeperWord::Killed(signal)) => Some(ProgramExit::Signal(signal)),
                _ => None,
            };
        }
        self.exit
    }
}

impl Keeper {
    fn start(command: &[String], is_output_to_errors: bool) -> io::Result<Keeper> {
        let (socket, theirs) = UnixStream::pair()?;
        // A new build may have replaced the file at our path.
        let mut keeper = Command::new("/proc/self/exe");
        keeper.arg0("worstcase").arg("host-keeper");
        keeper.arg(theirs.as_raw_fd().to_string()).arg("--").args(command);
        if is_output_to_errors {
            keeper.stdout(Stdio::from(io::stderr()));
        }
        // SAFETY: between fork and exec only fcntl is called, which is async-signal-safe.
        let process = unsafe { keeper.pre_exec(move || Ok(fcntl_setfd(&theirs, FdFlags::empty())?)) }.spawn()?;
        // With the closure our copy of their end is closed.
        drop(keeper);
        Ok(Keeper {
            socket,
            process: Arc::new(Mutex::new(process)),
        })
    }

    fn next(&self) -> io::Result<KeeperWord> {
        KeeperWord::next(&self.socket)
    }

    /// Kills all if this process is ended at once.
    fn ended_at_once(&self) -> io::Result<LastWork> {
        let socket = self.socket.try_clone()?;
        let process = Arc::clone(&self.process);
        Ok(LastWork::new(move || {
            // It may be ending already.
            let _ = (&socket).write_all(&[KILL]);
            wait(&process);
        }))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // It may have ended, as nothing was left to keep.
        let _ = self.socket.write_all(&[END]);
        wait(&self.process);
    }
}

fn wait(process: &Mutex<Child>) {
    // Waiting fails only for one that was waited for.
    let _ = process.lock().unwrap_or_else(PoisonError::into_inner).wait();
}
