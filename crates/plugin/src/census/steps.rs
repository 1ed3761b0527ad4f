//! The steps: what runs when an instruction that was registered starts, reads or writes.

use super::packed::PackedInstruction;
use super::preempt_count;
use super::state::lock;
use super::tasks;
use super::tracker::Role;
use crate::api::{OnAccess, OnRead, OnStart};
use worstcase_logs::census::facts::Facts;

/// Steps that need nothing but the place.
macro_rules! at_start {
    ($($name:ident = |$tracker:ident, $start:ident, $at:ident| $run:expr;)*) => {$(
        pub struct $name;
        impl OnStart for $name {
            fn run(data: u64) {
                let place = PackedInstruction(data);
                let ($start, $at) = (place.start(), place.address());
                $crate::census::state::step(|$tracker| $run);
            }
        }
    )*};
}
pub(super) use at_start;

at_start! {
    Entry = |tracker, start, at| tracker.enter(start, at);
    Schedule = |tracker, start, at| tracker.schedule(start, at);
    Point = |tracker, start, at| if tracker.word.is(0) { tracker.poll(start, at, false) };
    PointInLock = |tracker, start, at| if tracker.word.is(1) { tracker.poll(start, at, false) };
    InterruptsOff = |tracker, start, at| tracker.cli(start + 1, at);
}

/// An instruction that halts the CPU starts.
pub(crate) struct Halts;

impl OnStart for Halts {
    fn run(data: u64) {
        if let Some(census) = lock().as_mut() {
            census.halts(PackedInstruction(data));
        }
    }
}

/// Steps behind a write that is, or may be, to the count.
macro_rules! at_write {
    ($($name:ident: long $long:expr, $is:expr;)*) => {$(
        pub struct $name;
        impl OnAccess for $name {
            fn run(vaddr: u64, data: u64) {
                let is: fn(u64, &Facts, u64) -> bool = $is;
                if let Some(census) = lock().as_mut()
                    && census.task().is_some_and(|task| is(vaddr, &census.facts, task))
                {
                    census.count_written(PackedInstruction(data), $long);
                }
            }
        }
    )*};
}

at_write! {
    WritesCount: long false, |_, _, _| true;
    WritesLongCount: long true, |_, _, _| true;
    MayWriteCount: long false, |vaddr, facts, task| vaddr == preempt_count::address(facts, task);
    MayWriteLongCount: long true, |vaddr, facts, task| vaddr == preempt_count::address(facts, task);
}

/// A word is read that may be the current task's flags.
pub(crate) struct ReadsFlags;

impl OnRead for ReadsFlags {
    fn run(vaddr: u64, _: u64, data: u64) {
        let place = PackedInstruction(data);
        let (now, at) = (place.end(), place.address());
        if let Some(census) = lock().as_mut() {
            let probe = census.probe;
            census.step(|tracker, facts, memory| {
                if tasks::current(memory, facts) != Some(vaddr) {
                    return;
                }
                // What was lent to it may have been taken back.
                if tracker.thread().role == Role::Above
                    && let Some(thread) = tasks::thread(memory, facts, probe, vaddr)
                {
                    tracker.runs(now, at, thread);
                }
                let leaving = facts.leaving.iter().any(|range| range.contains(&at));
                tracker.poll(now, at, leaving);
            });
        }
    }
}

/// The pointer to the current task is written.
pub(crate) struct WritesCurrent;

impl OnAccess for WritesCurrent {
    fn run(_: u64, data: u64) {
        if let Some(census) = lock().as_mut() {
            census.task_changes(PackedInstruction(data));
        }
    }
}

/// A block starts while the state is audited.
pub(crate) struct Audited;

impl OnStart for Audited {
    fn run(block: u64) {
        if let Some(census) = lock().as_mut() {
            let mut audit = census.audit.take();
            let mut difference = None;
            census.step(|tracker, facts, memory| {
                if let Some(audit) = &mut audit {
                    let task = tracker.thread().task;
                    let word = |long| preempt_count::read(memory, facts, task, long);
                    difference = audit.compare(tracker, block, word);
                }
            });
            census.audit = audit;
            if let Some(why) = difference {
                census.failed.get_or_insert(why);
            }
        }
    }
}
