//! A probe that waits for something else than its timer when that is due: a page, a lock. Its time begins with the due time all
//! the same, because its user is late.

use super::frames::{FrameEvent, FrameMark, WindowWalk};
use super::roles::{self, FunctionRole};
use super::shares::place;
use super::spans::CodePlace;
use super::stacks::{FrameKind, StackId};

/// Functions in which threads sleep until their own timer wakes them.
const OWN_SLEEPS: [&str; 4] = [
    "do_nanosleep",
    "timerfd_read",
    "do_sigtimedwait",
    "__x64_sys_rt_sigtimedwait",
];

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    /// The instruction at which the probe's thread runs again.
    pub(crate) until: u64,
    /// Its call chain there.
    stack: StackId,
}

impl Waits {
    /// The first wait from which the probe's thread comes back, if there is one.
    pub(crate) fn find(walk: &WindowWalk, due: u64, sample: u64, probe: u32) -> Option<Waits> {
        if walk.at(due)?.pid == probe {
            return None;
        }
        let back = walk.within(due, sample).find(|i| i.pid == probe)?;
        let waits = Waits {
            until: back.start,
            stack: back.stack,
        };
        let is_woken_by_timer = |mark: &FrameMark| walk.stacks.find(mark.stack, FunctionRole::Wake).is_some();
        let is_wait = waits.is_wait(walk) && !waits.waker(walk, due).is_some_and(is_woken_by_timer);
        is_wait.then_some(waits)
    }

    /// Whether the thread gave the CPU away by itself, in a function that the window shows, and not to sleep on its
    /// timer.
    fn is_wait(&self, walk: &WindowWalk) -> bool {
        let frames = || walk.stacks.upwards(self.stack).map(|id| walk.stacks.frame(id));
        let of_scheduler = frames().take_while(|frame| is_scheduler(&frame.function));
        let way: Vec<&str> = of_scheduler.map(|frame| frame.function.as_str()).collect();
        let waits_in = frames().nth(way.len());
        let is_preempted = |name: &&str| name.contains("preempt_schedule") || name.contains("cond_resched");
        let is_sleep = |name: &str| OWN_SLEEPS.contains(&name) || roles::role(name) == Some(FunctionRole::ExitToUser);
        way.iter().any(|name| roles::role(name) == Some(FunctionRole::Schedule))
            && !way.iter().any(is_preempted)
            && waits_in.is_some_and(|frame| matches!(frame.kind, FrameKind::Function | FrameKind::TailCall))
            && !frames().any(|frame| is_sleep(&frame.function))
    }

    /// The function that waits.
    pub(crate) fn place(&self, walk: &WindowWalk) -> CodePlace {
        place(walk, self.stack, is_scheduler).0
    }

    /// Whether the thread waits for memory that it touched.
    pub(crate) fn is_fault(&self, walk: &WindowWalk) -> bool {
        let mut frames = walk.stacks.upwards(self.stack);
        frames.any(|id| walk.stacks.frame(id).function.contains("exc_page_fault"))
    }

    /// The mark where the probe's thread was woken, and the running one marked for rescheduling.
    pub(crate) fn waker<'a>(&self, walk: &'a WindowWalk, due: u64) -> Option<&'a FrameMark> {
        let mut marks = walk.marks_within(due, self.until).iter().rev();
        marks.find(|m| m.what == FrameEvent::Enter(FunctionRole::Resched))
    }
}

/// Whether a function belongs to the scheduler's way between two threads.
fn is_scheduler(name: &str) -> bool {
    const OF: [FunctionRole; 5] = [
        FunctionRole::SwitchTo,
        FunctionRole::SwitchWork,
        FunctionRole::Schedule,
        FunctionRole::ScheduleGlue,
        FunctionRole::Thunk,
    ];
    roles::role(name).is_some_and(|role| OF.contains(&role))
        || name.starts_with("schedule")
        || name.starts_with("io_schedule")
}

#[cfg(test)]
mod tests;
