//! A load that runs: forked workers in a process group of their own, their counters, how to stop and undo.

use super::board::Board;
use super::error::{LoadEnvironment, LoadError, Venue};
use super::{LoadKind, LoadSpec, process_tree};
use crate::record::Work;
use crate::sys::process::{self, Pid, Waited};
use crate::sys::{clock, sched, signal};
use crate::units::Nanos;
use std::fs;
use std::io;
use std::path::PathBuf;

/// How long a load may take to do its first work, and to end when asked to.
const PATIENCE: Nanos = Nanos::from_millis(10_000);
/// How often one looks meanwhile.
const LOOK: Nanos = Nanos::from_millis(1);

/// How a worker takes its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
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

/// A started load. Dropping it stops it; [`RunningLoad::stop`] also tells whether that worked.
pub struct RunningLoad {
    spec: LoadSpec,
    board: Board,
    workers: Vec<Pid>,
    group: Pid,
    undo: Vec<Undo>,
    adopted_before: bool,
    work_dir: PathBuf,
    venue: Venue,
    stopped: bool,
}

impl RunningLoad {
    /// Makes what the load needs and starts its workers. The process must have one thread only.
    pub fn start(spec: &LoadSpec, seed: u64, env: &LoadEnvironment) -> Result<RunningLoad, LoadError> {
        let mut load = RunningLoad {
            board: Board::new().map_err(|source| LoadError::Prepare {
                load: spec.name(),
                what: "mapping the page of counters".into(),
                source,
            })?,
            spec: spec.clone(),
            workers: Vec::new(),
            group: 0,
            undo: Vec::new(),
            adopted_before: false,
            work_dir: env.work_dir.clone(),
            venue: env.venue,
            stopped: false,
        };
        load.refuse_threads()?;
        load.adopted_before = process::adopt_orphans(true).map_err(load.preparing("becoming the reaper of orphans"))?;
        match spec.kind() {
            LoadKind::Idle => {}
            LoadKind::Shm => super::shm::start(&mut load)?,
            LoadKind::Fork => super::fork::start(&mut load, seed)?,
            LoadKind::BlockRead => super::blockread::start(&mut load, seed)?,
            LoadKind::ProcRead => super::procread::start(&mut load)?,
            LoadKind::Find => super::find::start(&mut load, seed)?,
            LoadKind::Apps => super::apps::start(&mut load, seed)?,
            LoadKind::Sockets => super::sockets::start(&mut load)?,
            LoadKind::Compile => super::compile::start(&mut load, seed)?,
            LoadKind::Cmd => super::cmd::start(&mut load)?,
        }
        Ok(load)
    }

    fn refuse_threads(&self) -> Result<(), LoadError> {
        let threads = fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
        if threads > 1 {
            return Err(self.not_available(format!(
                "loads are forked, and this process has {threads} threads instead of one"
            )));
        }
        Ok(())
    }

    /// The load that runs.
    pub fn spec(&self) -> &LoadSpec {
        &self.spec
    }

    /// Work so far, in the order of [`LoadSpec::units`].
    pub fn work(&self) -> Vec<Work> {
        let count = |(i, unit): (usize, &&str)| Work {
            unit: unit.to_string(),
            count: self.board.count(i),
        };
        let mut work: Vec<Work> = self.spec.units().iter().enumerate().map(count).collect();
        if self.spec.kind() == LoadKind::Cmd
            && let Some(&supervisor) = self.workers.first()
        {
            work[super::cmd::CPU_TIME].count = process_tree::cpu_time_below(supervisor).0 / 1_000;
        }
        work
    }

    /// Work since `before`; an error if there was none (other than for `idle`).
    pub fn work_since(&self, before: &[Work]) -> Result<Vec<Work>, LoadError> {
        let mut work = self.work();
        for (now, then) in work.iter_mut().zip(before) {
            now.count = now.count.saturating_sub(then.count);
        }
        if is_none(&work) {
            return Err(self.no_work("while measuring"));
        }
        Ok(work)
    }

    fn no_work(&self, when: &'static str) -> LoadError {
        LoadError::NoWork {
            load: self.spec.name(),
            when,
            units: self.spec.units().join(", "),
        }
    }

    /// Whether every worker is still there.
    pub fn check(&mut self) -> Result<(), LoadError> {
        for i in 0..self.workers.len() {
            match process::wait(self.workers[i], false) {
                Ok(Waited::Running) => {}
                Ok(Waited::Ended(pid, exit)) => {
                    self.workers.retain(|worker| *worker != pid);
                    return Err(self.ended(&exit.to_string()));
                }
                Ok(Waited::NoChild) => return Err(self.ended("somebody else reaped a worker")),
                Err(e) => return Err(self.ended(&e.to_string())),
            }
        }
        Ok(())
    }

    fn ended(&self, how: &str) -> LoadError {
        LoadError::Ended {
            load: self.spec.name(),
            cause: self
                .board
                .message()
                .unwrap_or_else(|| format!("a worker ended by itself, {how}")),
        }
    }

    /// Waits until the load has done its first work.
    pub fn wait_for_work(&mut self) -> Result<(), LoadError> {
        let end = clock::monotonic() + PATIENCE;
        loop {
            self.check()?;
            if !is_none(&self.work()) {
                return Ok(());
            }
            if clock::monotonic() > end {
                return Err(self.no_work("within 10 s of its start"));
            }
            clock::sleep_until(clock::monotonic() + LOOK);
        }
    }

    /// Ends every process of the load, reaps them, and undoes what the load made.
    pub fn stop(mut self) -> Result<(), LoadError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), LoadError> {
        if std::mem::replace(&mut self.stopped, true) {
            return Ok(());
        }
        for &worker in &self.workers {
            // A worker that is gone already is just as well.
            let _ = process::kill(worker, signal::SIGTERM);
        }
        self.reap_until(clock::monotonic() + PATIENCE);
        if self.group != 0 {
            // Whatever is left: workers that did not listen, and children of workers.
            let _ = process::kill(-self.group, signal::SIGKILL);
            while let Ok(Waited::Ended(..)) = process::wait(-self.group, true) {}
        }
        let _ = process::adopt_orphans(self.adopted_before);
        let mut result = Ok(());
        while let Some(Undo { what, step }) = self.undo.pop() {
            if let Err(source) = step() {
                result = Err(LoadError::Undo {
                    load: self.spec.name(),
                    what,
                    source,
                });
            }
        }
        result
    }

    fn reap_until(&mut self, end: Nanos) {
        loop {
            self.workers
                .retain(|&worker| matches!(process::wait(worker, false), Ok(Waited::Running)));
            if self.workers.is_empty() || clock::monotonic() > end {
                return;
            }
            clock::sleep_until(clock::monotonic() + LOOK);
        }
    }
}

/// What the loads themselves use while they start.
impl RunningLoad {
    pub(super) fn venue(&self) -> Venue {
        self.venue
    }

    /// Forks a worker. `body` runs until it is killed, or asked to end; an error is reported in its words.
    pub(super) fn spawn(
        &mut self,
        ending: Ending,
        body: impl FnOnce(&Board) -> Result<(), String>,
    ) -> Result<(), LoadError> {
        let death_signal = match ending {
            Ending::Anywhere => signal::SIGKILL,
            Ending::Asked => signal::SIGTERM,
        };
        let (group, board) = (self.group, &self.board);
        let name = self.spec.thread_name();
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

    /// A folder of this load's own, removed when it stops.
    pub(super) fn make_folder(&mut self) -> Result<PathBuf, LoadError> {
        let path = self.work_dir.join(format!("worstcase-load-{}", process::own_pid()));
        let what = format!("making the folder {}", path.display());
        fs::create_dir_all(&self.work_dir)
            .and_then(|()| fs::create_dir(&path))
            .map_err(self.preparing(&what))?;
        let folder = path.clone();
        self.on_stop(format!("removing {}", path.display()), move || {
            fs::remove_dir_all(folder)
        });
        Ok(path)
    }

    /// Remembers a step to take when the load stops; the last one is taken first.
    pub(super) fn on_stop(&mut self, what: String, step: impl FnOnce() -> io::Result<()> + 'static) {
        self.undo.push(Undo {
            what,
            step: Box::new(step),
        });
    }

    /// The system's answer as this load's error, for `map_err`.
    pub(super) fn preparing(&self, what: &str) -> impl Fn(io::Error) -> LoadError + use<> {
        let (load, what) = (self.spec.name(), what.to_string());
        move |source| LoadError::Prepare {
            load,
            what: what.clone(),
            source,
        }
    }

    /// The error for a machine that lacks something.
    pub(super) fn not_available(&self, reason: String) -> LoadError {
        LoadError::NotAvailable {
            load: self.spec.name(),
            reason,
        }
    }
}

impl Drop for RunningLoad {
    fn drop(&mut self) {
        // An error here would only hide the one that made the holder give up.
        let _ = self.end();
    }
}

/// Whether something is counted, and nothing of it happened.
fn is_none(work: &[Work]) -> bool {
    !work.is_empty() && work.iter().all(|w| w.count == 0)
}

/// Makes the calling process what every load is: of the load's name, in its group, SCHED_OTHER, nice 0.
fn ordinary_process(name: &str, group: Pid) -> Result<(), String> {
    process::set_name(name).map_err(|e| format!("cannot take the name {name}: {e}"))?;
    process::set_group(0, group).map_err(|e| format!("cannot join the load's process group: {e}"))?;
    sched::Policy::OTHER
        .apply()
        .map_err(|e| format!("cannot run at SCHED_OTHER: {e}"))?;
    if sched::nice() != 0 {
        sched::set_nice(0).map_err(|e| format!("cannot run at nice 0 (the caller is niced): {e}"))?;
    }
    process::forget_saved_rights().map_err(|e| format!("cannot lay down the caller's rights: {e}"))
}
