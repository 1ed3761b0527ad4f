//! `pick`: what a choice of the scheduler costs when so many tasks can run.
//!
//! The tasks are threads of one child process, all on one CPU, under SCHED_OTHER. Each gives the CPU away (sched_yield),
//! again and again, and does nothing else: all of them can run, always. A sample is one choice: from right before one task
//! gives the CPU away until the one that is chosen has returned from its own sched_yield.
//!
//! ```text
//! task A   clock, "given" | sched_yield -> pick -> switch | task B   clock, was it given? -> sample
//! ```
//! A task that was taken off the CPU elsewhere (by the tick) and goes on there finds nothing given: that choice is no
//! sample. Nothing is measured before all tasks can run. Whether each has its turns is the scheduler's affair: it is counted.

use super::limits;
use super::rights;
use super::{BenchError, BenchResult, Instrumented, LOOK, Observer, PickDetails, Request};
use crate::loads::board::Board;
use crate::record::Sample;
use crate::sys::memory::{Mapping, page_size};
use crate::sys::process::{self, Exit, Waited};
use crate::sys::sched::{self, Policy};
use crate::sys::thread::{self, Body};
use crate::sys::{affinity, clock, futex, signal};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use worstcase_logs::Nanos;
use worstcase_logs::mark::{MarkKind, mark_shared};

/// Tasks that can run, all on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pick {
    /// How many.
    pub tasks: u16,
}

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pick:{}", self.tasks)
    }
}

/// A thread's memory, kernel and user: somewhat more than what 5000 were seen to take.
const THREAD: u64 = 48 << 10;
/// Turns, of all tasks together, before measuring begins.
const WARM_TURNS: u64 = 100;

/// Words of the shared memory: those of the measurement, then a word a task, then the samples.
const LAST: usize = 0;
const GIVEN: usize = 1;
const GIVER: usize = 2;
const OPENED: usize = 3;
const WARM: usize = 4;
const MEASURING: usize = 5;
const TAKEN: usize = 6;
const SAME: usize = 7;
const OVER: usize = 8;
const GATE: usize = 9;
const TASKS: usize = 16;

impl Instrumented for Pick {
    type Details = PickDetails;

    fn check(&self, _request: &Request<'_>) -> Result<(), BenchError> {
        check(self)
    }

    fn measure(
        &self,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BenchResult<PickDetails>, BenchError> {
        measure(self, request, observer)
    }
}

/// Refuses what this machine cannot do.
fn check(what: &Pick) -> Result<(), BenchError> {
    let tasks = u64::from(what.tasks);
    let demands = limits::tasks(tasks + 1).into_iter();
    limits::meet(what, demands.chain([limits::memory(tasks * THREAD)]))
}

/// Takes the samples.
fn measure(
    what: &Pick,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<PickDetails>, BenchError> {
    check(what)?;
    let cpu = rights::first_cpu(request)?;
    let shared = Shared::new(what, request)?;
    let board = Board::new().map_err(BenchError::system("cannot map memory"))?;
    let child = process::fork(signal::SIGKILL, || match run(&shared, cpu, request.start, &board) {
        Ok(()) => 0,
        Err(e) => {
            board.report(&e);
            1
        }
    });
    let child = child.map_err(BenchError::system("cannot fork"))?;
    let exit = loop {
        match process::wait(child, false).map_err(BenchError::system("cannot wait for the tasks"))? {
            Waited::Ended(_, exit) => break exit,
            _ if observer.wants_end() => shared.word(OVER).store(1, Relaxed),
            _ => {}
        }
        clock::sleep_until(clock::monotonic() + LOOK);
    };
    if exit != Exit::Code(0) {
        let why = board.message().unwrap_or_else(|| exit.to_string());
        return Err(BenchError::Books(format!("the tasks failed: {why}")));
    }
    let samples = shared.samples();
    samples.iter().for_each(|sample| observer.sample(*sample));
    let turns: Vec<u64> = shared.turns().iter().map(|turns| turns.load(Relaxed)).collect();
    Ok(BenchResult {
        details: PickDetails {
            tasks: what.tasks.into(),
            turns: turns.iter().sum(),
            same: shared.word(SAME).load(Relaxed),
            fewest: turns.iter().copied().min().unwrap_or(0),
            most: turns.iter().copied().max().unwrap_or(0),
        },
        samples,
        warnings: Vec::new(),
    })
}

/// What tasks and parent share.
struct Shared {
    memory: Mapping,
    tasks: usize,
    room: usize,
}

impl Shared {
    fn new(what: &Pick, request: &Request<'_>) -> Result<Shared, BenchError> {
        let (tasks, room) = (usize::from(what.tasks), request.repetitions.max(1) as usize);
        let bytes = (8 * (TASKS + tasks + room)).next_multiple_of(page_size());
        let memory = Mapping::shared(bytes).map_err(BenchError::system("cannot map memory"))?;
        Ok(Shared { memory, tasks, room })
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.memory.words()[at]
    }

    fn gate(&self) -> &AtomicU32 {
        &self.memory.half_words()[2 * GATE]
    }

    /// Turns of each task while measuring.
    fn turns(&self) -> &[AtomicU64] {
        &self.memory.words()[TASKS..TASKS + self.tasks]
    }

    fn slots(&self) -> &[AtomicU64] {
        &self.memory.words()[TASKS + self.tasks..][..self.room]
    }

    fn samples(&self) -> Vec<Sample> {
        let taken = self.word(TAKEN).load(Relaxed) as usize;
        let sample = |(index, slot): (usize, &AtomicU64)| Sample {
            index: index as u32,
            latency: Nanos(slot.load(Relaxed)),
        };
        self.slots().iter().take(taken).enumerate().map(sample).collect()
    }

    /// The count before. One instruction: whoever is taken off the CPU leaves nothing half done.
    fn count(&self, at: usize) -> u64 {
        self.word(at).fetch_add(1, Relaxed)
    }
}

/// The child: all tasks, from their gate to their end.
fn run(shared: &Shared, cpu: u32, start: Nanos, board: &Board) -> Result<(), String> {
    affinity::set(&[cpu]).map_err(|e| format!("cannot run on CPU {cpu}: {e}"))?;
    // Present before anybody measures.
    shared.memory.words().iter().for_each(|word| word.store(0, Relaxed));
    let body = |task: usize| -> Body<'_> { Box::new(move || take_turns(shared, task)) };
    let mut bodies: Vec<Body<'_>> = (0..shared.tasks).map(body).collect();
    // The last one is started when all others are: it lets them go.
    bodies.push(Box::new(|| open_the_gate(shared, start)));
    thread::run_all(&bodies, |e| {
        board.report(&format!("starting a thread: {e}"));
        process::exit_now(1)
    });
    let first = &shared.slots()[0];
    mark_shared::<{ MarkKind::End as u8 }>(first, first.load(Relaxed));
    Ok(())
}

fn open_the_gate(shared: &Shared, start: Nanos) {
    clock::sleep_until(start);
    // No scheduler that is measured keeps it from waking all of them; without the right it takes its turns.
    let _ = Policy::fifo(1).apply();
    shared.gate().store(1, Relaxed);
    // Waking a word of one's own cannot fail.
    let _ = futex::wake_all(shared.gate(), futex::Scope::Private);
    shared.word(OPENED).store(1, Relaxed);
}

fn take_turns(shared: &Shared, task: usize) {
    while shared.gate().load(Relaxed) == 0 {
        // Whatever ended it, the gate is looked at again.
        let _ = futex::wait(shared.gate(), 0, futex::Scope::Private);
    }
    while shared.word(OVER).load(Relaxed) == 0 {
        shared.word(GIVER).store(task as u64, Relaxed);
        let before = clock::monotonic();
        shared.word(LAST).store(before.0, Relaxed);
        shared.word(GIVEN).store(1, Relaxed);
        sched::give_away();
        let after = clock::monotonic();
        let is_given = shared.word(GIVEN).load(Relaxed) == 1;
        shared.word(GIVEN).store(0, Relaxed);
        if shared.word(MEASURING).load(Relaxed) == 0 {
            warm_up(shared);
            continue;
        }
        shared.turns()[task].fetch_add(1, Relaxed);
        if !is_given {
            continue;
        }
        let took = after.0.saturating_sub(shared.word(LAST).load(Relaxed));
        let is_same = shared.word(GIVER).load(Relaxed) == task as u64;
        match shared.slots().get(shared.count(TAKEN) as usize) {
            Some(slot) => {
                mark_shared::<{ MarkKind::Sample as u8 }>(slot, took);
                shared.word(SAME).fetch_add(is_same.into(), Relaxed);
            }
            None => shared.word(OVER).store(1, Relaxed),
        }
    }
}

/// Measuring begins after some turns of tasks that can all run.
fn warm_up(shared: &Shared) {
    if shared.word(OPENED).load(Relaxed) == 1 && shared.count(WARM) == WARM_TURNS {
        mark_shared::<{ MarkKind::Begin as u8 }>(&shared.slots()[0], 0);
        shared.word(MEASURING).store(1, Relaxed);
    }
}
