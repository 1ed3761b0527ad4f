//! One load that runs: forked workers in a process group of their own, their counters, how to stop and undo.
//!
//! What a body (the file of a load) uses while it starts is in `start`.

mod start;

pub use start::unique_name;

use super::board::Board;
use super::error::LoadError;
use super::request::LoadRequest;
use super::surroundings::{BegunPart, Surroundings};
use crate::record::Work;
use crate::sys::process::{self, Pid, Waited};
use crate::sys::{clock, signal};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use worstcase_logs::Nanos;

/// How long workers may take to end when asked to, and how often one looks meanwhile.
const PATIENCE: Nanos = Nanos::from_millis(10_000);
pub(super) const LOOK: Nanos = Nanos::from_millis(1);
/// What `cmd` calls a completed program, and what it is to a load that builds.
const RUNS: &str = "runs";
const BUILDS: &str = "builds";

/// Reads a unit of work, given the workers that are there.
pub type UnitReading = fn(&[Pid]) -> u64;

/// How a worker takes its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It can be killed anywhere.
    Anywhere,
    /// It sees SIGTERM as a pending (blocked) signal and returns when it holds nothing.
    Asked,
}

/// One step back of what `start` made.
struct Undo {
    what: String,
    step: Box<dyn FnOnce() -> io::Result<()>>,
}

/// A worker that is a thread of this process.
enum OwnThread {
    /// To be started once nothing is forked any more.
    Planned(ThreadBody),
    Running(JoinHandle<()>),
}

/// A started load of a [`super::RunningLoad`]. Dropping it ends it.
pub struct RunningPart {
    request: LoadRequest,
    name: &'static str,
    units: &'static [&'static str],
    /// Its place among the loads that run at once.
    place: usize,
    surroundings: Surroundings,
    board: Arc<Board>,
    workers: Vec<Pid>,
    thread: Option<OwnThread>,
    group: Pid,
    folder: Option<PathBuf>,
    undo: Vec<Undo>,
    helpers: Vec<RunningPart>,
    notes: Vec<String>,
    /// Workers that say when they have set up what they work on.
    awaited: u64,
    /// What a program makes when it has.
    ready_file: Option<PathBuf>,
    /// Units that are read when the work is asked for.
    readings: Vec<(usize, UnitReading)>,
}

impl RunningPart {
    /// The load at `place` of those that run at once, with its name and its units; nothing runs yet.
    pub(super) fn new(
        request: &LoadRequest,
        (name, units): (&'static str, &'static [&'static str]),
        place: usize,
        surroundings: &Surroundings,
        begun: BegunPart,
    ) -> Result<RunningPart, LoadError> {
        let board = Board::new().map_err(LoadError::preparing(name, "mapping the page of counters"))?;
        Ok(RunningPart {
            request: request.clone(),
            name,
            units,
            place,
            surroundings: surroundings.clone(),
            board: Arc::new(board),
            workers: Vec::new(),
            thread: None,
            group: 0,
            folder: begun.folder,
            undo: Vec::new(),
            helpers: Vec::new(),
            notes: begun.notes,
            awaited: 0,
            ready_file: None,
            readings: Vec::new(),
        })
    }

    /// Work so far, in the order of the load's units; what helpers count is added, other units follow.
    pub(super) fn work(&self) -> Vec<Work> {
        let count = |(i, unit): (usize, &&str)| Work {
            unit: unit.to_string(),
            count: self.board.count(i),
        };
        let mut work: Vec<Work> = self.units.iter().enumerate().map(count).collect();
        for (unit, read) in &self.readings {
            work[*unit].count = read(&self.workers);
        }
        for mut other in self.helpers.iter().flat_map(RunningPart::work) {
            if other.unit == RUNS && self.units.contains(&BUILDS) {
                other.unit = BUILDS.into();
            }
            match work.iter_mut().find(|known| known.unit == other.unit) {
                Some(known) => known.count += other.count,
                None => work.push(other),
            }
        }
        work
    }

    /// Whether its own workers and every helper have done something, if they count anything.
    pub(super) fn has_worked(&self) -> bool {
        let no_workers = self.workers.is_empty() && self.thread.is_none();
        let nothing_to_do = no_workers || self.units.is_empty();
        let all_helpers = self.helpers.iter().all(RunningPart::has_worked);
        // Without helpers, what is read from /proc counts too.
        let own = match self.helpers.is_empty() {
            true => self.work().iter().any(|work| work.count > 0),
            false => (0..self.units.len()).any(|unit| self.board.count(unit) > 0),
        };
        all_helpers && (nothing_to_do || own)
    }

    /// Whether what has to be set up before the load is what it is to be, is: every worker that was awaited, and the file.
    pub(super) fn is_set_up(&self) -> bool {
        let all_helpers = self.helpers.iter().all(RunningPart::is_set_up);
        let file = self.ready_file.as_ref().is_none_or(|file| file.exists());
        all_helpers && file && self.board.ready() >= self.awaited
    }

    /// Gives its workers, and those of its helpers, a seed.
    pub(super) fn give_seed(&self, seed: u64) {
        self.board.give_seed(seed);
        self.helpers.iter().for_each(|helper| helper.give_seed(seed));
    }

    /// Whether every worker is still there.
    pub(super) fn check(&mut self) -> Result<(), LoadError> {
        for i in 0..self.workers.len() {
            let how = match process::wait(self.workers[i], false) {
                Ok(Waited::Running) => continue,
                Ok(Waited::Ended(_, exit)) => {
                    self.workers.remove(i);
                    format!("a worker ended by itself, {exit}")
                }
                Ok(Waited::NoChild) => "somebody else reaped a worker".into(),
                Err(e) => e.to_string(),
            };
            return Err(LoadError::Ended {
                load: self.name(),
                cause: self.board.message().unwrap_or(how),
            });
        }
        let name = self.name();
        if matches!(&self.thread, Some(OwnThread::Running(thread)) if thread.is_finished()) {
            return Err(LoadError::Ended {
                load: name,
                cause: self.board.message().unwrap_or("its thread ended by itself".into()),
            });
        }
        self.helpers
            .iter_mut()
            .try_for_each(|helper| helper.check().map_err(|e| e.of_load(name)))
    }

    /// Ends and reaps every process, and undoes what was made; the last error is told. May be called again.
    pub(super) fn end(&mut self) -> Result<(), LoadError> {
        if let Some(OwnThread::Running(thread)) = self.thread.take() {
            self.board.ask_for_end();
            // A panic has said so itself.
            let _ = thread.join();
        }
        for &worker in &self.workers {
            // A worker that is gone already is just as well.
            let _ = process::kill(worker, signal::SIGTERM);
        }
        let end = clock::monotonic() + PATIENCE;
        loop {
            self.workers
                .retain(|&worker| matches!(process::wait(worker, false), Ok(Waited::Running)));
            if self.workers.is_empty() || clock::monotonic() > end {
                break;
            }
            clock::sleep_until(clock::monotonic() + LOOK);
        }
        if self.group != 0 {
            // Whatever is left: workers that did not listen, and children of workers.
            let _ = process::kill(-self.group, signal::SIGKILL);
            while let Ok(Waited::Ended(..)) = process::wait(-self.group, true) {}
            self.group = 0;
        }
        let (name, mut result) = (self.name(), Ok(()));
        while let Some(mut helper) = self.helpers.pop() {
            result = helper.end().map_err(|e| e.of_load(name)).and(result);
        }
        while let Some(Undo { what, step }) = self.undo.pop() {
            if let Err(source) = step() {
                result = Err(LoadError::Undo {
                    load: name,
                    what,
                    source,
                });
            }
        }
        result
    }

    /// Starts what was planned: nothing may be forked afterwards.
    pub(super) fn start_own_thread(&mut self) -> Result<(), LoadError> {
        let Some(OwnThread::Planned(body)) = self.thread.take() else {
            return Ok(());
        };
        let (board, name) = (Arc::clone(&self.board), format!("load-{}", self.name()));
        let run = move || {
            if let Err(message) = body(&board) {
                board.report(&message);
            }
        };
        let started = thread::Builder::new().name(name).spawn(run);
        self.thread = Some(OwnThread::Running(
            started.map_err(self.preparing("starting a thread"))?,
        ));
        Ok(())
    }

    /// The error for a load that is not set up in time.
    pub(super) fn not_ready(&self, patience: Nanos) -> LoadError {
        LoadError::NotReady {
            load: self.name(),
            seconds: patience.0 / 1_000_000_000,
            how: match &self.ready_file {
                Some(_) => "its program has to make the file that $WORSTCASE_READY names",
                None => "its workers are slow to prepare what they work on",
            },
        }
    }

    pub(super) fn notes(&self) -> impl Iterator<Item = &String> {
        self.notes.iter()
    }

    pub(super) fn no_work(&self, when: &'static str) -> LoadError {
        LoadError::NoWork {
            load: self.name(),
            when,
            units: self.units.join(", "),
        }
    }
}

impl Drop for RunningPart {
    fn drop(&mut self) {
        // An error here would only hide the one that made the holder give up.
        let _ = self.end();
    }
}

/// What a worker does that is a thread of this process.
type ThreadBody = Box<dyn FnOnce(&Board) -> Result<(), String> + Send>;
