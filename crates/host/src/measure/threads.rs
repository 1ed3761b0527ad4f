//! All measuring threads of one measurement.

use super::MeasureError;
use super::observe::WatchedThread;
use super::thread::{self, Outlet, OwnCost, ThreadOrder, ThreadResult};
use super::timerlat;
use crate::spec::HostSpec;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use worstcase_contract::{Nanos, Probe};

/// Enough for the loop; touched pages of it stay in memory.
const STACK: usize = 256 * 1024;

pub(super) struct MeasuringThreads<'scope> {
    handles: Vec<ScopedJoinHandle<'scope, Result<ThreadResult, String>>>,
    starts: Vec<Sender<Nanos>>,
    /// Their thread ids, in the order of the CPUs.
    pub tids: Vec<i32>,
    /// Each thread's own cost.
    pub costs: Vec<OwnCost>,
}

impl<'scope> MeasuringThreads<'scope> {
    /// Starts all of them and waits until each is ready.
    pub(crate) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        spec: &'env HostSpec,
        outlets: Vec<Outlet>,
        give_up: &'env AtomicBool,
        warnings: &mut Vec<String>,
    ) -> Result<MeasuringThreads<'scope>, MeasureError> {
        let mut threads = MeasuringThreads {
            handles: Vec::new(),
            starts: Vec::new(),
            tids: Vec::new(),
            costs: Vec::new(),
        };
        let run = match spec.probe {
            Probe::Timerlat => timerlat::run,
            _ => thread::run,
        };
        for (&cpu, outlet) in spec.cpus.iter().zip(outlets) {
            let (start, started): (Sender<Nanos>, Receiver<Nanos>) = channel();
            let (ready, is_ready) = sync_channel(1);
            let order = ThreadOrder {
                spec,
                cpu,
                outlet,
                stop: give_up,
                ready,
                start: started,
            };
            let builder = Builder::new().name(format!("probe/{cpu}")).stack_size(STACK);
            let handle = builder
                .spawn_scoped(scope, move || run(order))
                .map_err(|e| MeasureError::Thread(format!("cannot start a measuring thread: {e}")))?;
            threads.handles.push(handle);
            threads.starts.push(start);
            // Threads start one after the other: one that polls at real-time priority could keep the next from getting
            // ready.
            match is_ready.recv() {
                Ok(Ok(ready)) => {
                    threads.tids.push(ready.tid);
                    threads.costs.push(ready.cost);
                    warnings.extend(ready.warnings);
                }
                Ok(Err(reason)) => return Err(MeasureError::Thread(reason)),
                Err(_) => return Err(threads.failure()),
            }
        }
        Ok(threads)
    }

    /// The threads, each with its start, which is not before `earliest`.
    pub fn watched(&self, spec: &HostSpec, earliest: Nanos) -> Vec<WatchedThread> {
        let one = |(place, (cpu, tid)): (usize, (&u32, &i32))| WatchedThread {
            cpu: *cpu,
            tid: *tid as u32,
            start: spec.start(earliest, place),
        };
        spec.cpus.iter().zip(&self.tids).enumerate().map(one).collect()
    }

    /// Tells every thread when its period 0 is due.
    pub(crate) fn go(&self, watched: &[WatchedThread]) {
        for (sender, thread) in self.starts.iter().zip(watched) {
            // A thread that has ended says why when it is joined.
            let _ = sender.send(thread.start);
        }
    }

    pub(crate) fn are_done(&self) -> bool {
        self.handles.iter().all(ScopedJoinHandle::is_finished)
    }

    /// The reason why the last thread ended before it was ready.
    fn failure(self) -> MeasureError {
        let MeasuringThreads { handles, starts, .. } = self;
        drop(starts);
        let reasons = handles.into_iter().filter_map(|h| h.join().ok().and_then(Result::err));
        MeasureError::Thread(reasons.last().unwrap_or_else(|| "a measuring thread ended".to_string()))
    }

    pub fn join(self) -> Result<Vec<ThreadResult>, MeasureError> {
        let one = |handle: ScopedJoinHandle<'_, Result<ThreadResult, String>>| match handle.join() {
            Ok(result) => result.map_err(MeasureError::Thread),
            Err(_) => Err(MeasureError::Thread("a measuring thread panicked".into())),
        };
        self.handles.into_iter().map(one).collect()
    }
}

/// Adds a warning about samples before their due time; then sorts the warnings and drops repetitions.
pub(super) fn warn_of_early(warnings: &mut Vec<String>, early: u64) {
    if early > 0 {
        warnings.push(format!(
            "{early} samples came before they were due and count as 0: the clock or the timer is not sound"
        ));
    }
    warnings.sort();
    warnings.dedup();
}
