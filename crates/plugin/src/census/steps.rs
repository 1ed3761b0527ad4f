//! The steps: what runs when an instruction that was registered starts, reads or writes.

use super::packed::PackedInstruction;
use super::state::{NO_THREAD, lock, read_count, step};
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
                step(|$tracker| $run);
            }
        }
    )*};
}

at_start! {
    Entry = |tracker, start, at| tracker.enter(start, at);
    Schedule = |tracker, start, at| tracker.schedule(start, at);
    Point = |tracker, start, at| if tracker.word.is(0) { tracker.poll(start, at, false) };
    PointInLock = |tracker, start, at| if tracker.word.is(1) { tracker.poll(start, at, false) };
    SystemCall = |tracker, start, at| tracker.enter(start + 1, at);
    Cli = |tracker, start, at| tracker.cli(start + 1, at);
    Sti = |tracker, start, at| tracker.sti(start + 1, at);
}

/// An instruction that returns to user mode starts.
pub(crate) struct LeavesKernel;

impl OnStart for LeavesKernel {
    fn run(data: u64) {
        let place = PackedInstruction(data);
        let now = place.end();
        if let Some(census) = lock().as_mut() {
            census.in_user(now);
            census.step(|tracker, _, _| tracker.leave(now, place.address(), true, false));
        }
    }
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

/// An instruction that loads flags starts.
pub(crate) struct Loads;

impl OnStart for Loads {
    fn run(_: u64) {
        if let Some(census) = lock().as_mut() {
            census.loading = Some((0, true));
        }
    }
}

/// `popf` reads.
pub(crate) struct LoadsFlags;

impl OnRead for LoadsFlags {
    fn run(vaddr: u64, physical: u64, data: u64) {
        if let Some(census) = lock().as_mut() {
            census.load(vaddr, physical, PackedInstruction(data), 0);
        }
    }
}

/// `iret` reads.
pub(crate) struct Returns;

impl OnRead for Returns {
    fn run(vaddr: u64, physical: u64, data: u64) {
        if let Some(census) = lock().as_mut() {
            census.load(vaddr, physical, PackedInstruction(data), 16);
        }
    }
}

/// Steps behind a write that is, or may be, to the count.
macro_rules! at_write {
    ($($name:ident: long $long:expr, $is:expr;)*) => {$(
        pub struct $name;
        impl OnAccess for $name {
            fn run(vaddr: u64, data: u64) {
                let is: fn(u64, &Facts) -> bool = $is;
                if let Some(census) = lock().as_mut()
                    && is(vaddr, &census.facts)
                {
                    census.count_written(PackedInstruction(data), $long);
                }
            }
        }
    )*};
}

at_write! {
    WritesCount: long false, |_, _| true;
    WritesLongCount: long true, |_, _| true;
    MayWriteCount: long false, |vaddr, facts| vaddr == facts.preempt_virtual;
    MayWriteLongCount: long true, |vaddr, facts| vaddr == facts.preempt_virtual;
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
        let place = PackedInstruction(data);
        let (now, at) = (place.end(), place.address());
        if let Some(census) = lock().as_mut() {
            let probe = census.probe;
            let mut unknown = false;
            census.step(|tracker, facts, memory| {
                let task = tasks::current(memory, facts);
                match task.and_then(|task| tasks::thread(memory, facts, probe, task)) {
                    Some(thread) => {
                        if tracker.thread().task == probe.task && thread.task != probe.task {
                            tracker.tally().asleep(now);
                        }
                        tracker.runs(now, at, thread);
                    }
                    None => unknown = true,
                }
            });
            if unknown {
                census.failed.get_or_insert(NO_THREAD.into());
            }
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
                    let word = |long| read_count(memory, facts, long);
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
