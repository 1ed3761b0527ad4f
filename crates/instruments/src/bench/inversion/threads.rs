//! Starting the threads, and seeing them end.

use super::priorities::Priorities;
use super::roles::{self, Tally};
use super::shared::Shared;
use crate::bench::rights::{self, STACK};
use crate::bench::rounds::Rounds;
use crate::bench::{BenchError, Inversion, Marks};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// All threads of the scenario; they wait for their cues.
#[derive(Debug)]
pub(super) struct Threads {
    shared: Arc<Shared>,
    others: Vec<JoinHandle<()>>,
    high: Option<JoinHandle<Tally>>,
}

impl Threads {
    /// Starts all of them on `cpu`. If one cannot be what it has to be, all end.
    pub(crate) fn start(
        shared: Arc<Shared>,
        what: &Inversion,
        priorities: &Priorities,
        cpu: u32,
        rounds: Rounds,
        marks: Marks,
    ) -> Result<Threads, BenchError> {
        let mut threads = Threads {
            shared,
            others: Vec::new(),
            high: None,
        };
        threads.other("worstcase-low", cpu, Priorities::LOW, roles::low)?;
        for number in 1..priorities.depth {
            let name = format!("worstcase-ch{number}");
            let body = move |shared: &Shared| roles::chain(shared, number.into());
            threads.other(&name, cpu, priorities.chain(number), body)?;
        }
        threads.other("worstcase-mid", cpu, priorities.middle(), roles::middle)?;
        let what = *what;
        let body = move |shared: &Shared| roles::high(shared, &what, &rounds, marks);
        threads.high = Some(threads.thread("worstcase-high", cpu, priorities.high, body)?);
        match threads.shared.failure() {
            Some(error) => Err(error),
            None => Ok(threads),
        }
    }

    fn other(
        &mut self,
        name: &str,
        cpu: u32,
        priority: u8,
        body: impl FnOnce(&Shared) + Send + 'static,
    ) -> Result<(), BenchError> {
        let thread = self.thread(name, cpu, priority, body)?;
        self.others.push(thread);
        Ok(())
    }

    /// Starts one and waits until it is what it has to be, or has said why not.
    fn thread<T: Send + 'static>(
        &self,
        name: &str,
        cpu: u32,
        priority: u8,
        body: impl FnOnce(&Shared) -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, BenchError> {
        let shared = Arc::clone(&self.shared);
        let begin = move || {
            if let Err(error) = rights::become_one(cpu, priority) {
                shared.fail(error);
            }
            shared.observer.open();
            body(&shared)
        };
        let thread = Builder::new().name(name.into()).stack_size(STACK).spawn(begin);
        let thread = thread.map_err(rights::no_thread)?;
        self.shared.observer.pass();
        Ok(thread)
    }

    /// After the last round: waits until all are gone.
    pub fn end(mut self) -> Result<Tally, BenchError> {
        self.shared.end_all();
        let tally = self.high.take().map(JoinHandle::join);
        match tally {
            Some(Ok(tally)) => Ok(tally),
            _ => Err(BenchError::Books("the most urgent thread has panicked".into())),
        }
    }

    /// A round does not end: its threads cannot be ended either, and stay.
    pub(crate) fn abandon(mut self) {
        self.shared.end_all();
        self.others.clear();
        self.high = None;
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if self.others.is_empty() && self.high.is_none() {
            return;
        }
        self.shared.end_all();
        for thread in self.others.drain(..) {
            // A panic has said so itself.
            let _ = thread.join();
        }
        if let Some(high) = self.high.take() {
            let _ = high.join();
        }
    }
}
