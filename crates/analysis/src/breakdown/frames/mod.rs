//! Call chains, frame by frame, from the calls and returns that were executed.
//!
//! ```text
//! shadow   one thread's stack of frames: what calls, returns and interrupts do to it
//! walk     goes through the blocks and changes threads
//! sites    where frames were called
//! names    the function at an address
//! vectors  where the hardware enters a kernel of arm64
//! known    makes frames, starts threads with their known frames
//! flags    tracks the interrupt flag, writes down                       -> intervals, marks
//! ```
//! A window begins in the middle of things: the frames below the first are unknown until a return goes into
//! one of them. So the window is walked twice: the first time collects what returns reveal, the second starts every
//! thread with it. A frame that no return reveals keeps the kind `Unknown`; nothing is guessed.

#[cfg(test)]
mod arm64_tests;
mod flags;
mod known;
mod names;
mod shadow;
mod sites;
#[cfg(test)]
mod tests;
mod vectors;
mod walk;

use super::decode::{Decoded, decode};
use super::roles::{self, FunctionRole};
use super::stacks::{FrameKind, StackId, Stacks};
pub(crate) use names::{CodeNames, NO_SYMBOL};
pub use sites::SiteId;
use sites::Sites;
use std::collections::HashMap;
pub(crate) use vectors::routine;
use worstcase_lab::execution::{Execution, Symbols};

/// Instructions that ran with one call chain and one state of the interrupt flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackInterval {
    /// Its first instruction.
    pub start: u64,
    /// One past its last.
    pub end: u64,
    /// Call chain.
    pub stack: StackId,
    /// The call sites of its frames.
    pub site: SiteId,
    /// Whether interrupts were on, if known.
    pub irqs: Option<bool>,
    /// The thread.
    pub pid: u32,
}

/// An event at one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameEvent {
    /// A function with a role was entered.
    Enter(FunctionRole),
    /// Interrupts went off.
    IrqsOff,
    /// Interrupts went on.
    IrqsOn,
    /// The last reason not to preempt went.
    PreemptOn,
}

/// Something worth remembering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameMark {
    /// The count of the instruction from which it holds.
    pub count: u64,
    /// The event.
    pub what: FrameEvent,
    /// The instruction that did it, or the first of the function.
    pub address: u64,
    /// Call chain.
    pub stack: StackId,
    /// The call sites of its frames.
    pub site: SiteId,
    /// The thread.
    pub pid: u32,
}

/// A window, understood.
#[derive(Clone, Debug, Default)]
pub struct WindowWalk {
    /// All call chains.
    pub stacks: Stacks,
    /// The call sites of all frames.
    pub sites: Sites,
    /// Without gaps, in order.
    pub intervals: Vec<StackInterval>,
    /// In order.
    pub marks: Vec<FrameMark>,
    /// Returns that fit no frame: 0 if the chains are exact.
    pub irregular: u32,
}

/// A function of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFunction {
    /// Its name.
    pub function: String,
    /// The file that holds it.
    pub file: String,
}

/// Rebuilds the call chains of a window.
pub fn walk(execution: &Execution, symbols: &Symbols) -> WindowWalk {
    walk_with_user(execution, symbols, &[])
}

/// The same where the functions of user code are known, by block: a chain's user code has a frame for its thread, and one for the
/// function that runs. Without any, it has the first alone.
pub fn walk_with_user(execution: &Execution, symbols: &Symbols, user: &[Option<UserFunction>]) -> WindowWalk {
    walk_with_names(execution, &CodeNames::new(symbols), user)
}

/// The same with names that other windows looked up.
pub(crate) fn walk_with_names(execution: &Execution, names: &CodeNames, user: &[Option<UserFunction>]) -> WindowWalk {
    let blocks: Vec<Decoded> = execution
        .blocks
        .iter()
        .map(|block| decode(names.arch(), block))
        .collect();
    let walker = |revealed| walk::Walker::new(execution, names, &blocks, user, revealed);
    let revealed = walker(HashMap::new()).run().revealed();
    walker(revealed).run().finish()
}

impl WindowWalk {
    /// Whether the window begins in a stretch without interrupts, or what may be one, that goes on at an instruction: nothing in it
    /// tells how that began.
    pub(crate) fn begins_with_interrupts_off(&self, until: u64) -> bool {
        self.at(until).is_some_and(|at| at.irqs != Some(true)) && !self.shows_interrupts_on(until)
    }

    /// Whether anything before an instruction shows that interrupts were on: user code, an interrupt, or that they are switched on.
    /// That they are switched off does not: that is done where they are off, too.
    fn shows_interrupts_on(&self, before: u64) -> bool {
        let kind = |stack| self.stacks.frame(stack).kind;
        let tells = |mark: &FrameMark| match mark.what {
            FrameEvent::IrqsOn => true,
            FrameEvent::IrqsOff => matches!(kind(mark.stack), FrameKind::Interrupt | FrameKind::Syscall),
            FrameEvent::Enter(_) | FrameEvent::PreemptOn => false,
        };
        self.marks_within(0, before).iter().any(tells)
            || self.within(0, before).any(|i| kind(i.stack) == FrameKind::User)
    }

    /// What last switched interrupts off, at an instruction or before it, unless they may have been off then.
    pub(crate) fn interrupts_off_by(&self, at: u64) -> Option<&FrameMark> {
        let before = self.marks_within(0, at + 1);
        let last = before.iter().rev().find(|mark| mark.what == FrameEvent::IrqsOff);
        last.filter(|mark| self.shows_interrupts_on(mark.count + 1))
    }

    /// The interval that holds an instruction.
    pub fn at(&self, count: u64) -> Option<&StackInterval> {
        let after = self.intervals.partition_point(|i| i.start <= count);
        let found = &self.intervals[after.checked_sub(1)?];
        (count < found.end).then_some(found)
    }

    /// The intervals of a range, cut at its ends.
    pub fn within(&self, start: u64, end: u64) -> impl Iterator<Item = StackInterval> {
        let first = self.intervals.partition_point(|i| i.end <= start);
        self.intervals[first..]
            .iter()
            .take_while(move |i| i.start < end)
            .map(move |i| StackInterval {
                start: i.start.max(start),
                end: i.end.min(end),
                ..*i
            })
            .filter(|i| i.start < i.end)
    }

    /// A mark at an instruction.
    pub(crate) fn mark(&self, execution: &Execution, count: u64, what: FrameEvent) -> Option<FrameMark> {
        let at = self.at(count)?;
        let mut address = 0;
        execution.for_each_address(count..count + 1, |found| address = found);
        Some(FrameMark {
            count,
            what,
            address,
            stack: at.stack,
            site: at.site,
            pid: at.pid,
        })
    }

    /// What an interrupt is called whose entry is this frame of the chain at an instruction: by its entry, or where all have one, by
    /// what ran in it. Several, where what was pending was taken in one entry; none is known of a device's.
    pub(crate) fn interrupts(&self, frame: StackId, count: u64) -> Vec<&str> {
        let entry = self.stacks.frame(frame).function.as_str();
        if !roles::is_entry_of_all(entry) {
            return vec![entry];
        }
        let begin = self.entered_at(frame, count);
        let after = self.marks.partition_point(|m| m.count <= count);
        let end = self.marks[after..]
            .iter()
            .find(|m| is_entry(m, frame))
            .map_or(u64::MAX, |m| m.count);
        let own = |i: &StackInterval| {
            let mut inner: Vec<StackId> = self.stacks.upwards(i.stack).collect();
            let place = inner.iter().position(|id| *id == frame)?;
            inner.truncate(place);
            inner.reverse();
            Some(inner)
        };
        let ran = self.within(begin, end).map_while(|i| own(&i)).flat_map(|inner| {
            // What interrupts it is another.
            let of_it = inner
                .into_iter()
                .take_while(|id| self.stacks.frame(*id).kind != FrameKind::Interrupt);
            of_it.map(|id| self.stacks.frame(id).function.as_str())
        });
        match roles::came_by_entry_of_all(ran) {
            came if came.is_empty() => vec![entry],
            came => came,
        }
    }

    /// Where the interrupt was entered whose entry is this frame of the chain at an instruction, if that is seen.
    pub(crate) fn entered_at(&self, frame: StackId, count: u64) -> u64 {
        let after = self.marks.partition_point(|m| m.count <= count);
        let entered = self.marks[..after].iter().rev().find(|m| is_entry(m, frame));
        entered.map_or(count, |m| m.count)
    }

    /// The marks of a range.
    pub(crate) fn marks_within(&self, start: u64, end: u64) -> &[FrameMark] {
        let at = |count| self.marks.partition_point(|m| m.count < count);
        &self.marks[at(start)..at(end).max(at(start))]
    }
}

fn is_entry(mark: &FrameMark, frame: StackId) -> bool {
    mark.stack == frame && mark.what == FrameEvent::Enter(FunctionRole::InterruptEntry)
}
