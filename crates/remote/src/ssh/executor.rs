//! The lab's cells on machines that ssh reaches: whichever connection is free measures the next one.

use super::command::SshMachine;
use super::hosts::Host;
use super::message::{MeasuredCell, WorkerTask};
use super::slot::{Slot, Unmeasured};
use crate::RemoteError;
use crate::executable::Executable;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_base::digest::sha256_hex;
use worstcase_base::progress::Progress;
use worstcase_contract::spec::SpecError;
use worstcase_lab::LabError;
use worstcase_lab::matrix::LabMatrix;
use worstcase_lab::parcel::{self, Parcel};
use worstcase_lab::planned::Planned;
use worstcase_lab::ready::ReadyReport;
use worstcase_results::record::{Executor, ExecutorTask, Record, Run, parallel};

/// How to run it; none of this changes a result.
pub struct SshRunOptions<'a> {
    /// Where results are kept.
    pub cache: &'a Cache,
    /// Real time for one machine, if not the default.
    pub limit: Option<Duration>,
    /// The machines.
    pub hosts: Vec<Host>,
    /// The version of this worstcase.
    pub version: &'a str,
    /// Prints a line for the user.
    pub tell: &'a (dyn Fn(&str) + Sync),
}

/// Runs a matrix on other machines.
pub struct SshExecutor<'a> {
    planned: Planned,
    how: SshRunOptions<'a>,
    /// What is sent for each subject, by the subject's index.
    sent: BTreeMap<usize, Sent>,
    slots: Mutex<Slots>,
    /// Signalled when a slot is free, or gone.
    changed: Condvar,
}

struct Sent {
    parcel: String,
    bzimage: String,
    initrd: String,
}

#[derive(Default)]
struct Slots {
    free: Vec<Slot>,
    /// All slots, also those that measure now.
    all: usize,
    /// The error of the slot that was lost last.
    last: Option<RemoteError>,
}

impl<'a> SshExecutor<'a> {
    /// An executor for the cells of `matrix`.
    pub fn new(matrix: LabMatrix, how: SshRunOptions<'a>) -> SshExecutor<'a> {
        SshExecutor {
            planned: Planned::new(matrix),
            how,
            sent: BTreeMap::new(),
            slots: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a machine ready. Every machine measures the first cell, so that a machine which disagrees is found before
    /// the others begin.
    fn connect(&self, host: &Host, executable: &Executable, first: usize) -> Result<Vec<Slot>, Unmeasured> {
        SshMachine::new(host)
            .and_then(|remote| remote.provide(executable))
            .map_err(Unmeasured::Lost)?;
        let open = || Slot::open(host, executable, self.how.version).map_err(Unmeasured::Lost);
        let mut slot = open()?;
        if self.how.hosts.len() > 1 {
            self.measure_on(&mut slot, first)?;
        }
        let jobs = host.jobs.map_or(slot.hello.cpus, NonZeroUsize::get);
        let mut slots = vec![slot];
        for _ in 1..jobs {
            slots.push(open()?);
        }
        Ok(slots)
    }

    fn connect_all(&mut self, missing: &[usize]) -> Result<(), RemoteError> {
        let executable = Executable::own()?;
        let hosts = NonZeroUsize::new(self.how.hosts.len()).unwrap_or(NonZeroUsize::MIN);
        let this: &SshExecutor<'_> = self;
        let connected = parallel(hosts, &this.how.hosts, |host| {
            match this.connect(host, &executable, missing[0]) {
                Ok(slots) => Ok((slots, None)),
                Err(Unmeasured::Lost(why)) => Ok((Vec::new(), Some(why))),
                Err(Unmeasured::Failed(error)) => Err(error),
            }
        })?;
        let (opened, whys): (Vec<_>, Vec<_>) = connected.into_iter().unzip();
        let free: Vec<Slot> = opened.into_iter().flatten().collect();
        let mut whys: Vec<RemoteError> = whys.into_iter().flatten().collect();
        let none = whys.pop_if(|_| free.is_empty());
        for why in whys {
            (self.how.tell)(&format!("{why}; the others measure its cells"));
        }
        if let Some(why) = none {
            return Err(why);
        }
        *self.slots() = Slots {
            all: free.len(),
            free,
            last: None,
        };
        Ok(())
    }

    /// Waits for a free slot; an error if none will come.
    fn take(&self) -> Result<Slot, RemoteError> {
        let mut slots = self.slots();
        loop {
            if let Some(slot) = slots.free.pop() {
                return Ok(slot);
            }
            if slots.all == 0 {
                return Err(slots.last.take().unwrap_or_else(|| RemoteError::Host {
                    host: "all machines".into(),
                    reason: "no connection is left".into(),
                }));
            }
            slots = self.changed.wait(slots).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give_back(&self, slot: Slot) {
        self.slots().free.push(slot);
        self.changed.notify_one();
    }

    fn give_up(&self, slot: Slot, why: RemoteError) {
        drop(slot);
        let mut slots = self.slots();
        slots.all -= 1;
        if slots.all > 0 {
            (self.how.tell)(&format!("{why}; its cell is measured by another"));
        }
        slots.last = Some(why);
        self.changed.notify_all();
    }

    /// Measures a cell there, into the cache here. A result from another machine must be the same.
    fn measure_on(&self, slot: &mut Slot, task: usize) -> Result<(), Unmeasured> {
        let (prepared, spec) = self.planned.cell(task);
        let failed = |error: RemoteError| Unmeasured::Failed(error);
        let sent = &self.sent[&self.planned.subject_of(task)];
        let spec = spec
            .to_text()
            .map_err(|SpecError(what)| failed(LabError::Request(what).into()))?;
        let work = WorkerTask {
            parcel: sent.parcel.clone(),
            bzimage: sent.bzimage.clone(),
            initrd: sent.initrd.clone(),
            spec,
            limit_s: self.how.limit.map(|limit| limit.as_secs()),
        };
        let file = |digest: &str| match digest == sent.initrd {
            true => Ok(prepared.initrd.clone()),
            false => read(parcel::bzimage(prepared)),
        };
        let measured = slot.measure(&work, file)?;
        self.keep(slot.name(), task, measured).map_err(failed)
    }

    fn keep(&self, host: &str, task: usize, measured: MeasuredCell) -> Result<(), RemoteError> {
        let (prepared, spec) = self.planned.cell(task);
        let MeasuredCell { key, ready, mut parts } = measured;
        let ready = ReadyReport::parse(ready);
        let (Some(ready), true) = (ready, key == self.planned.key(task)?) else {
            let reason = "it answered with another cell; is it another worstcase?".into();
            return Err(RemoteError::Host {
                host: host.into(),
                reason,
            });
        };
        // The user knows the machine by this name.
        parts.made_by = host.into();
        parts.keep(self.how.cache, prepared, spec)?;
        ready.keep(self.how.cache, &prepared.key, &prepared.subject.label())?;
        Ok(())
    }

    /// Takes the cell into the run's folder, if the cache has it.
    fn take_in(&self, task: usize, run: &Run) -> Result<bool, RemoteError> {
        let result = self.planned.result(self.how.cache, task)?;
        if let Some(result) = &result {
            run.write_cell(result)?;
        }
        Ok(result.is_some())
    }
}

fn read(path: &std::path::Path) -> Result<Vec<u8>, RemoteError> {
    worstcase_base::files::read(path).map_err(RemoteError::io(path))
}

impl Executor for SshExecutor<'_> {
    type Error = RemoteError;

    fn tasks(&self) -> &[ExecutorTask] {
        self.planned.tasks()
    }

    fn jobs(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.slots().all).unwrap_or(NonZeroUsize::MIN)
    }

    fn preparations(&self, _: &[usize]) -> usize {
        0
    }

    fn changed(&self, record: &Record) -> Option<String> {
        self.planned.changed(record)
    }

    fn begin(&mut self, missing: &[usize], progress: &dyn Progress) -> Result<(), RemoteError> {
        let rest = self.planned.not_cached(self.how.cache, missing)?;
        if rest.is_empty() {
            return Ok(());
        }
        for index in self.planned.subjects(&rest) {
            let prepared = self.planned.subject(index);
            let sent = Sent {
                parcel: serde_json::to_string(&Parcel::of(prepared)).expect("a parcel is plain data"),
                bzimage: sha256_hex(&read(parcel::bzimage(prepared))?),
                initrd: sha256_hex(&prepared.initrd),
            };
            self.sent.insert(index, sent);
        }
        progress.state(&format!("making {} machines ready", self.how.hosts.len()));
        self.connect_all(&rest)
    }

    fn measure(&self, task: usize, run: &Run, stop: &AtomicBool) -> Result<(), RemoteError> {
        while !self.take_in(task, run)? {
            let mut slot = self.take()?;
            match self.measure_on(&mut slot, task) {
                Ok(()) => self.give_back(slot),
                Err(Unmeasured::Failed(error)) => {
                    self.give_back(slot);
                    return Err(error);
                }
                // Ctrl-C ends ssh, too.
                Err(Unmeasured::Lost(_)) if stop.load(Ordering::Relaxed) => return Ok(()),
                Err(Unmeasured::Lost(why)) => self.give_up(slot, why),
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), RemoteError> {
        self.slots().free.clear();
        Ok(())
    }
}
