//! What a load's body uses while it starts: [`RunningPart::spawn`] forks a worker, [`RunningPart::folder`] gives a folder,
//! [`RunningPart::on_stop`] remembers a step back.

use super::{Ending, OwnThread, RunningPart, Undo, UnitReading};
use crate::loads::board::Board;
use crate::loads::error::LoadError;
use crate::loads::request::LoadRequest;
use crate::loads::surroundings::Surroundings;
use crate::loads::worker::ordinary_process;
use crate::sys::process::{self, Pid};
use crate::sys::rlimit::Resource;
use crate::sys::signal;
use std::fs;
use std::io;
use std::path::PathBuf;

/// What a worker may have open besides.
const OTHER_FILES: u64 = 64;

impl RunningPart {
    /// What it is asked for.
    pub fn request(&self) -> &LoadRequest {
        &self.request
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it finds around it.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// A name that no other load of this process has: `worstcase` and two numbers.
    pub fn unique_name(&self) -> String {
        unique_name(process::own_pid(), self.place)
    }

    /// Forks a worker: SCHED_OTHER, nice 0. `body` runs until it is killed, or asked to end; an error is reported in its words.
    pub fn spawn(&mut self, ending: Ending, body: impl FnOnce(&Board) -> Result<(), String>) -> Result<(), LoadError> {
        let death_signal = match ending {
            Ending::Anywhere => signal::SIGKILL,
            Ending::Asked => signal::SIGTERM,
        };
        let (group, board) = (self.group, &self.board);
        let name = format!("load-{}", self.name());
        let forked = process::fork(death_signal, || {
            if ending == Ending::Asked {
                signal::block(&[signal::SIGTERM]);
            }
            match ordinary_process(&name, group).and_then(|()| body(board)) {
                Ok(()) => 0,
                Err(message) => {
                    board.report(&message);
                    1
                }
            }
        });
        let pid = forked.map_err(self.preparing("starting a worker"))?;
        self.workers.push(pid);
        if self.group == 0 {
            self.group = pid;
        }
        // The worker does the same; whoever is first, the group exists before it is needed.
        let _ = process::set_group(pid, self.group);
        Ok(())
    }

    /// Plans a worker that is a thread of this process: `body` runs until it is asked to end, at SCHED_OTHER, where the load runs.
    pub(crate) fn own_thread(&mut self, body: impl FnOnce(&Board) -> Result<(), String> + Send + 'static) {
        self.thread = Some(OwnThread::Planned(Box::new(body)));
    }

    /// Nothing is measured before so many workers have called [`Board::set_up`].
    pub fn await_workers(&mut self, workers: u64) {
        self.awaited = workers;
    }

    /// Nothing is measured before this file is there.
    pub(crate) fn await_file(&mut self, file: PathBuf) {
        self.ready_file = Some(file);
    }

    /// A folder of this load's own, removed when it stops.
    pub fn folder(&mut self) -> Result<PathBuf, LoadError> {
        if let Some(made) = &self.folder {
            return Ok(made.clone());
        }
        let path = self.surroundings.work_dir.join(self.unique_name());
        fs::create_dir_all(&self.surroundings.work_dir)
            .and_then(|()| fs::create_dir(&path))
            .map_err(self.preparing(format!("making the folder {}", path.display())))?;
        let folder = path.clone();
        self.on_stop(format!("removing {}", path.display()), move || {
            fs::remove_dir_all(folder)
        });
        self.folder = Some(path.clone());
        Ok(path)
    }

    /// How many other loads run for this one.
    pub(crate) fn helpers(&self) -> usize {
        self.helpers.len()
    }

    /// Takes a started load that runs for this one.
    pub(crate) fn take_helper(&mut self, helper: RunningPart) {
        self.helpers.push(helper);
    }

    /// Has a unit read whenever the work is asked for; no worker counts it.
    pub fn read_unit(&mut self, unit: usize, reading: UnitReading) {
        self.readings.push((unit, reading));
    }

    /// The limit of open files with which a worker can have so many, which is to be raised to it.
    pub(crate) fn limit_of_files(&self, files: u64) -> Result<u64, LoadError> {
        let (wanted, hard) = (files + OTHER_FILES, Resource::Files.limit().hard);
        match wanted <= hard {
            true => Ok(wanted),
            false => Err(self.not_available(format!(
                "a process of it opens {files} files, and {hard} are allowed (ulimit -Hn)"
            ))),
        }
    }

    /// Remembers a step to take when the load stops; the last one is taken first.
    pub fn on_stop(&mut self, what: String, step: impl FnOnce() -> io::Result<()> + 'static) {
        self.undo.push(Undo {
            what,
            step: Box::new(step),
        });
    }

    /// Remembers what a user should know of how it runs.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The system's answer as this load's error, for `map_err`.
    pub fn preparing<S: Into<String>>(&self, what: S) -> impl FnOnce(io::Error) -> LoadError + use<S> {
        LoadError::preparing(self.name(), what)
    }

    /// The error for a machine that lacks something.
    pub fn not_available(&self, reason: impl Into<String>) -> LoadError {
        LoadError::NotAvailable {
            load: self.name(),
            reason: reason.into(),
        }
    }
}

/// What the load at `place` of the loads of process `pid` calls what it makes.
pub fn unique_name(pid: Pid, place: usize) -> String {
    format!("worstcase{pid}-{place}")
}
