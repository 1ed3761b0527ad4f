//! What the census follows on arm64 alone: flags and mode that are set to what registers hold, which is known once the next block
//! starts, and a count that goes with the current task.

use super::meaning::Meaning;
use super::packed::PackedInstruction;
use super::preempt_count;
use super::state::{Census, lock};
use super::steps::at_start;
use super::tasks;
use crate::api::{Block, Instruction, OnRead, OnStart};
use crate::arch;
use crate::registers::Registers;
use crate::scheduler;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether flags were set that are not known yet.
static IS_PENDING: AtomicBool = AtomicBool::new(false);

/// See [`IS_PENDING`].
pub(crate) struct Pending {
    registers: Registers,
    /// When they were set, and where.
    set: Option<(u64, u64)>,
}

impl Pending {
    /// Finds QEMU's functions.
    pub(crate) fn new() -> Result<Pending, String> {
        let registers = Registers::find()?;
        Ok(Pending { registers, set: None })
    }
}

/// Registers what a block's start tells.
pub(crate) fn observe(block: &Block, first: u64) {
    block.on_start::<Settles>(first);
}

/// Registers what an instruction of user code does: all ways into the kernel lead over its vectors.
pub(crate) fn register_of_user(_instruction: &Instruction, _meaning: Meaning, _at: PackedInstruction) {}

/// Registers what an instruction of the kernel's does here alone.
pub(crate) fn register(instruction: &Instruction, meaning: Meaning, at: PackedInstruction) {
    match meaning {
        Meaning::InterruptsOn => instruction.on_start::<InterruptsOn>(at.0),
        Meaning::SetsState => instruction.on_start::<SetsState>(at.0),
        Meaning::MovesCurrent => instruction.on_start::<MovesCurrent>(at.0),
        Meaning::MayCompareCount(0) => instruction.on_read::<MayCompareCount<0>>(at.0),
        Meaning::MayCompareCount(1) => instruction.on_read::<MayCompareCount<1>>(at.0),
        _ => {}
    }
}

at_start! {
    InterruptsOn = |tracker, start, at| tracker.set_interrupts(start + 1, at, true);
}

/// An instruction that sets flags starts.
struct SetsState;

impl OnStart for SetsState {
    fn run(data: u64) {
        if scheduler::is_followed()
            && let Some(census) = lock().as_mut()
        {
            let place = PackedInstruction(data);
            census.pending.set = Some((place.end(), place.address()));
            IS_PENDING.store(true, Relaxed);
        }
    }
}

/// A block starts.
struct Settles;

impl OnStart for Settles {
    fn run(block: u64) {
        if IS_PENDING.load(Relaxed)
            && scheduler::is_followed()
            && let Some(census) = lock().as_mut()
        {
            census.settle(block);
        }
    }
}

impl Census {
    /// Flags and mode are those with which this block starts, unless it is an entry, which sets them anew.
    fn settle(&mut self, block: u64) {
        IS_PENDING.store(false, Relaxed);
        let Some((now, at)) = self.pending.set.take() else {
            return;
        };
        let (kernel, interrupts) = if self.facts.entries.contains(&block) {
            arch::before_entry(block)
        } else {
            let flags = self.pending.registers.read(arch::FLAGS);
            (arch::are_of_kernel(flags), Some(arch::allow_interrupts(flags)))
        };
        if !kernel {
            self.in_user(now);
        }
        self.step(|tracker, _, _| {
            let interrupts = interrupts.unwrap_or(tracker.interrupts());
            tracker.leave(now, at, interrupts, kernel);
        });
    }
}

/// The register of the current task is written, on the way in and out of the kernel too. The task is in memory by then.
struct MovesCurrent;

impl OnStart for MovesCurrent {
    fn run(data: u64) {
        if let Some(census) = lock().as_mut() {
            let mut changes = false;
            census.step(|tracker, facts, memory| {
                changes = tasks::current(memory, facts) != Some(tracker.thread().task);
            });
            if changes {
                let place = PackedInstruction(data);
                census.task_changes(place);
                census.count_written(place, census.facts.count_is_long);
            }
        }
    }
}

/// A word is read that may be the count, and is compared with this value.
struct MayCompareCount<const COUNT: u64>;

impl<const COUNT: u64> OnRead for MayCompareCount<COUNT> {
    fn run(vaddr: u64, _: u64, data: u64) {
        let place = PackedInstruction(data);
        if let Some(census) = lock().as_mut() {
            census.step(|tracker, facts, _| {
                let is_count = vaddr == preempt_count::address(facts, tracker.thread().task);
                if is_count && tracker.word.is(COUNT) {
                    tracker.poll(place.end(), place.address(), false);
                }
            });
        }
    }
}
