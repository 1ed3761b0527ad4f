//! A command of the user's, started, but kept from its first instruction until it is released.

use super::started::StartedProgram;
use crate::HostError;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use worstcase_base::child::ends_with_us;

/// A process that is still a copy of this one, and waits. Dropped without being released it ends.
pub(super) struct HeldProgram {
    program: String,
    id: u32,
    /// A byte lets it go; closed, it ends.
    gate: File,
    /// Whether it became the program.
    began: Receiver<io::Result<()>>,
    /// The kernel ends a child when the thread that started it ends, so that thread stays until this is dropped.
    starter: Sender<()>,
}

impl HeldProgram {
    /// Starts it; what it writes to standard output goes to standard errors if that is asked.
    pub fn start(command: &[String], is_output_to_errors: bool) -> Result<HeldProgram, HostError> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| HostError::Argument("there is no command to run".into()))?;
        let failed = |source: io::Error| HostError::Command {
            program: program.clone(),
            source,
        };
        let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|e| failed(e.into()));
        let ((told, tell), (wait, gate)) = (pipe()?, pipe()?);
        let mut start = Command::new(program);
        start.args(arguments);
        if is_output_to_errors {
            start.stdout(Stdio::from(io::stderr()));
        }
        ends_with_us(&mut start, Signal::TERM);
        hold(&mut start, tell, wait, &gate);
        let (starter, stay) = mpsc::channel();
        let (say, began) = mpsc::channel();
        std::thread::spawn(move || {
            let spawned = start.spawn();
            // Closes its ends of the pipes, so that nobody waits for a child that there is not.
            drop(start);
            let (told, child) = match spawned {
                Ok(child) => (Ok(()), Some(child)),
                Err(why) => (Err(why), None),
            };
            // Whoever dropped the program asks no more.
            let _ = say.send(told);
            let _ = stay.recv();
            // One that was not released has ended by itself, and nobody else waits for it.
            let _ = child.map(|mut child| child.wait());
        });
        let mut id = [0; 4];
        match File::from(told).read_exact(&mut id) {
            Ok(()) => Ok(HeldProgram {
                program: program.clone(),
                id: u32::from_ne_bytes(id),
                gate: gate.into(),
                began,
                starter,
            }),
            Err(closed) => Err(failed(match began.recv() {
                Ok(Err(why)) => why,
                _ => closed,
            })),
        }
    }

    /// Its process id, which is that of its only thread.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Lets it become the program.
    pub fn release(mut self) -> Result<StartedProgram, HostError> {
        let released = self.gate.write_all(&[1]);
        let began = self.began.recv().map_err(io::Error::other).flatten();
        match released.and(began) {
            Ok(()) => Ok(StartedProgram::of(self.id, self.starter)),
            Err(source) => Err(HostError::Command {
                program: self.program,
                source,
            }),
        }
    }
}

/// Has the child tell its id before it becomes the program, and wait.
fn hold(start: &mut Command, tell: OwnedFd, wait: OwnedFd, gate: &OwnedFd) {
    let gate = gate.as_raw_fd();
    let held = move || {
        // SAFETY: the child's own copy of the descriptor, which nothing of the child uses; without this its read below would
        // never see that the parent is gone.
        unsafe { libc::close(gate) };
        let id = std::process::id().to_ne_bytes();
        rustix::io::write(&tell, &id)?;
        match rustix::io::retry_on_intr(|| rustix::io::read(&wait, &mut [0; 1]))? {
            // An error would be told to the parent, which may be gone, and then written to the user's terminal.
            // SAFETY: it ends this process, which has begun nothing.
            0 => unsafe { libc::_exit(1) },
            _ => Ok(()),
        }
    };
    // SAFETY: between fork and exec only close, getpid, write, read and _exit are called, which are async-signal-safe.
    unsafe { start.pre_exec(held) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::ProgramExit;
    use std::path::Path;
    use std::time::Duration;

    fn command(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn nothing_of_it_runs_before_it_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made");
        let held = HeldProgram::start(&command(&["touch", made.to_str().unwrap()]), true).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        assert!(!made.exists());
        let id = held.id();
        let mut started = held.release().unwrap();
        assert_eq!(started.id(), id);
        let exit = loop {
            match started.exit() {
                Some(exit) => break exit,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        assert_eq!(exit, ProgramExit::Code(0));
        assert!(made.exists());
    }

    #[test]
    fn one_that_is_not_released_ends() {
        let held = HeldProgram::start(&command(&["sleep", "1000"]), false).unwrap();
        let path = format!("/proc/{}", held.id());
        drop(held);
        for _ in 0..200 {
            if Path::new(&path).exists() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        assert!(!Path::new(&path).exists());
    }

    #[test]
    fn one_that_there_is_not_is_told_when_it_is_released() {
        let held = HeldProgram::start(&command(&["/no/such/program"]), false).unwrap();
        let error = held.release().err().unwrap().to_string();
        assert!(
            error.starts_with("cannot run /no/such/program: No such file"),
            "{error}"
        );
    }
}
