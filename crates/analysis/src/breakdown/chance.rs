//! When a kernel that preempts at any instruction would have switched to the probe: a comparison for a kernel that
//! does not preempt.

use super::frames::{StackInterval, WindowWalk};
use super::milestones::Milestones;
use super::stacks::FrameKind;
use worstcase_lab::execution::Execution;

/// The first instruction after the interrupted thread is marked for rescheduling at which a kernel could preempt: it is in
/// no interrupt, interrupts are on, and the kernel counts no reason not to preempt. None if the kernel gives the CPU away
/// earlier. A kernel that does not count (built without any model that preempts) seems to have no reasons.
pub(crate) fn chance(execution: &Execution, walk: &WindowWalk, points: &Milestones) -> Option<u64> {
    let is_own = |i: &StackInterval| {
        let in_interrupt = walk.stacks.find_kind(i.stack, FrameKind::Interrupt).is_some();
        !in_interrupt && i.irqs != Some(false)
    };
    let mut own = walk
        .within(points.resched, points.sample)
        .take_while(|i| i.pid == points.interrupted)
        .filter(is_own);
    own.find_map(|i| execution.preemptible_in(i.start..i.end))
}
