//! The workers of one load of the host: forked, in a process group of their own, with counters that they share
//! with the measuring process, and a pipe for the words of one that failed.

use super::LoadError;
use std::fs::File;
use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use worstcase_probe::Nanos;
use worstcase_probe::record::Work;
use worstcase_probe::sys::memory::{Mapping, PAGE};
use worstcase_probe::sys::process::{self, Pid, Waited};
use worstcase_probe::sys::{clock, sched, signal};

/// How long workers may take to end when asked to, and how often one looks meanwhile.
const PATIENCE: Nanos = Nanos::from_millis(10_000);
const LOOK: Nanos = Nanos::from_millis(1);
/// The slack of an ordinary process's timers, whatever the measuring process asked for itself.
const TIMER_SLACK_NS: u64 = 50_000;

/// Counters of work, one a unit.
#[derive(Debug)]
pub(super) struct Tally(Mapping);

impl Tally {
    /// Adds to counter `unit` (its place among the load's units).
    pub(super) fn add(&self, unit: usize, n: u64) {
        self.0.words()[unit].fetch_add(n, Ordering::Relaxed);
    }

    fn count(&self, unit: usize) -> u64 {
        self.0.words()[unit].load(Ordering::Relaxed)
    }
}

/// The workers of one load. Dropping it ends them.
pub(super) struct Crew {
    name: &'static str,
    units: &'static [&'static str],
    tally: Tally,
    messages: File,
    writer: OwnedFd,
    workers: Vec<Pid>,
    group: Pid,
}

impl Crew {
    /// No worker yet, for the load `name`.
    pub(super) fn new(name: &'static str, units: &'static [&'static str]) -> Result<Crew, LoadError> {
        let tally = Mapping::shared(PAGE).map_err(preparing(name, "mapping the page of counters"))?;
        let (messages, writer) = process::pipe().map_err(preparing(name, "making a pipe"))?;
        Ok(Crew {
            name,
            units,
            tally: Tally(tally),
            messages,
            writer,
            workers: Vec::new(),
            group: 0,
        })
    }

    /// Forks a worker that can be killed anywhere; `body` never returns but with an error, in its words.
    pub(super) fn spawn(&mut self, body: impl FnOnce(&Tally) -> Result<(), String>) -> Result<(), LoadError> {
        self.fork(signal::SIGKILL, body)
    }

    /// Forks a worker that sees SIGTERM as a pending (blocked) signal and returns when it holds nothing.
    pub(super) fn spawn_asked(&mut self, body: impl FnOnce(&Tally) -> Result<(), String>) -> Result<(), LoadError> {
        self.fork(signal::SIGTERM, |tally| {
            signal::block(&[signal::SIGTERM]);
            body(tally)
        })
    }

    fn fork(&mut self, death_signal: i32, body: impl FnOnce(&Tally) -> Result<(), String>) -> Result<(), LoadError> {
        let (group, name) = (self.group, format!("load-{}", self.name));
        let forked = process::fork(death_signal, || {
            match ordinary_process(&name, group).and_then(|()| body(&self.tally)) {
                Ok(()) => 0,
                Err(message) => {
                    // Nobody is there to hear of a failure to tell.
                    if let Ok(writer) = self.writer.try_clone() {
                        let _ = File::from(writer).write_all(format!("{message}\n").as_bytes());
                    }
                    1
                }
            }
        });
        let pid = forked.map_err(preparing(self.name, "starting a worker"))?;
        self.workers.push(pid);
        if self.group == 0 {
            self.group = pid;
        }
        // The worker does the same; whoever is first, the group exists before it is needed.
        let _ = process::set_group(pid, self.group);
        Ok(())
    }

    /// The load's name.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Work so far.
    pub(super) fn work(&self) -> Vec<Work> {
        let count = |(i, unit): (usize, &&str)| Work {
            unit: unit.to_string(),
            count: self.tally.count(i),
        };
        self.units.iter().enumerate().map(count).collect()
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
                load: self.name,
                cause: self.message().unwrap_or(how),
            });
        }
        Ok(())
    }

    /// The first message in the pipe, which does not block.
    fn message(&mut self) -> Option<String> {
        let mut buffer = [0; 4096];
        let n = self.messages.read(&mut buffer).ok()?;
        String::from_utf8_lossy(&buffer[..n]).lines().next().map(String::from)
    }

    /// Ends and reaps every worker.
    pub(super) fn stop(&mut self) {
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
            let _ = process::kill(-self.group, signal::SIGKILL);
            while let Ok(Waited::Ended(..)) = process::wait(-self.group, true) {}
            self.group = 0;
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The system's answer as an error of `load`, for `map_err`.
pub(super) fn preparing(load: &'static str, what: impl Into<String>) -> impl FnOnce(io::Error) -> LoadError {
    let what = what.into();
    move |source| LoadError::Prepare { load, what, source }
}

/// Of the load's name, in its group, SCHED_OTHER, nice 0, with the usual slack of timers.
fn ordinary_process(name: &str, group: Pid) -> Result<(), String> {
    let failed = |what: &'static str| move |e: io::Error| format!("cannot {what}: {e}");
    process::set_name(name).map_err(failed("take the load's name"))?;
    process::set_group(0, group).map_err(failed("join the load's process group"))?;
    sched::Policy::OTHER.apply().map_err(failed("run at SCHED_OTHER"))?;
    if sched::nice() != 0 {
        sched::set_nice(0).map_err(failed("run at nice 0 (the caller is niced)"))?;
    }
    set_timer_slack(TIMER_SLACK_NS)?;
    process::forget_saved_rights().map_err(failed("lay down the caller's rights"))
}

/// How much later than asked for the kernel may end this process's sleeps, to end several at once.
pub(super) fn set_timer_slack(ns: u64) -> Result<(), String> {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(ns)).map_err(|e| format!("cannot set the timer slack: {e}"))
}
