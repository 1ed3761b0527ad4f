//! When a kernel that preempts at any instruction would have switched to the probe: a comparison for a kernel that
//! does not preempt.

use super::frames::{StackInterval, WindowWalk};
use super::milestones::Milestones;
use std::ops::Range;
use worstcase_lab::execution::Execution;

/// A section counts by itself if it takes at least one part in so many of what runs after the chance.
const PART: u64 = 4;

/// The interrupted thread runs on after it could have been preempted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreemptionChance {
    /// The first instruction after the thread is marked for rescheduling at which a kernel could preempt.
    pub(crate) at: u64,
    /// The long sections with preemption off that begin later: no kernel takes the CPU within them.
    pub(crate) sections: Vec<Range<u64>>,
}

impl PreemptionChance {
    /// Finds it. The thread is in no interrupt then, interrupts are on, and the kernel counts no reason not to preempt.
    /// None if the kernel gives the CPU away earlier. A kernel that does not count (built without any model that
    /// preempts) seems to have no reasons.
    pub(crate) fn find(execution: &Execution, walk: &WindowWalk, points: &Milestones) -> Option<PreemptionChance> {
        let is_own = |i: &StackInterval| walk.stacks.interrupt(i.stack).is_none() && i.irqs != Some(false);
        let after = walk.within(points.resched, points.sample);
        let runs_on: Vec<StackInterval> = after.take_while(|i| i.pid == points.interrupted).collect();
        let mut own = runs_on.iter().filter(|i| is_own(i));
        let at = own.find_map(|i| execution.preemptible_in(i.start..i.end))?;
        let end = runs_on.last().map_or(at, |i| i.end);
        let is_long = |section: &Range<u64>| (section.end - section.start) * PART >= end - at;
        Some(PreemptionChance {
            at,
            sections: execution.preempt_off_in(at..end).filter(is_long).collect(),
        })
    }

    /// The long section that holds an instruction.
    pub(crate) fn section_of(&self, count: u64) -> Option<&Range<u64>> {
        self.sections.iter().find(|section| section.contains(&count))
    }
}
