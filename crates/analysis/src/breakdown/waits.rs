//! A probe that waits for something else than its timer: a page, a lock. If it does so when its timer is due, its time begins with
//! the due time all the same, because its user is late; else it waits after it was woken.

use super::frames::{FrameEvent, FrameMark, WindowWalk};
use super::roles::{self, FunctionRole};
use super::shares::place;
use super::spans::{CodePlace, WaitsFor};
use super::stacks::{FrameKind, StackId};
use std::ops::Range;

/// Functions in which threads sleep until their own timer wakes them.
const OWN_SLEEPS: [&str; 4] = ["do_nanosleep", "timerfd_read", "do_sigtimedwait", "rtc_dev_read"];

/// The system call that jumps to the last of them.
const OWN_SLEEP_CALL: &str = "rt_sigtimedwait";

/// By the beginning of a function's name: what a thread that sleeps there waits for.
const WAITS_FOR: [(&str, WaitsFor); 19] = [
    ("__mutex_lock", WaitsFor::Mutex),
    ("mutex_lock", WaitsFor::Mutex),
    ("rwsem_down_", WaitsFor::ReaderWriterSemaphore),
    ("down_read", WaitsFor::ReaderWriterSemaphore),
    ("down_write", WaitsFor::ReaderWriterSemaphore),
    ("percpu_rwsem_wait", WaitsFor::PerCpuSemaphore),
    ("__percpu_down_read", WaitsFor::PerCpuSemaphore),
    ("percpu_down_write", WaitsFor::PerCpuSemaphore),
    ("__down", WaitsFor::Semaphore),
    ("down", WaitsFor::Semaphore),
    ("__wait_for_common", WaitsFor::Completion),
    ("wait_for_common", WaitsFor::Completion),
    ("wait_for_completion", WaitsFor::Completion),
    ("futex_wait", WaitsFor::Futex),
    ("__futex_wait", WaitsFor::Futex),
    ("folio_wait", WaitsFor::Page),
    ("__folio_lock", WaitsFor::Page),
    ("wait_on_page", WaitsFor::Page),
    ("__lock_page", WaitsFor::Page),
];

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    /// The first instruction at which another thread runs.
    pub(crate) from: u64,
    /// The probe's timer had woken it before.
    pub(crate) woken: bool,
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
            from: due,
            woken: false,
            until: back.start,
            stack: back.stack,
        };
        let is_woken_by_timer = |mark: &FrameMark| walk.stacks.find(mark.stack, FunctionRole::Wake).is_some();
        let is_wait = waits.is_wait(walk) && !waits.waker(walk).is_some_and(is_woken_by_timer);
        is_wait.then_some(waits)
    }

    /// The waits of the probe's thread between its first instruction after it was woken and the sample. What it sleeps on in a
    /// system call that is measured may be the call's own purpose, unless it is a lock. Waits for locks that lend priority are
    /// told as their owners' time.
    pub(crate) fn after(walk: &WindowWalk, woken: u64, sample: u64, probe: u32, is_called: bool) -> Vec<Waits> {
        let mut waits = Vec::new();
        let mut left = None;
        for i in walk.within(woken, sample).skip_while(|i| i.pid != probe) {
            if i.pid != probe {
                left.get_or_insert(i.start);
                continue;
            }
            let back = left.take().map(|from| Waits {
                from,
                woken: true,
                until: i.start,
                stack: i.stack,
            });
            let lends = |w: &Waits| walk.stacks.find(w.stack, FunctionRole::PiBlock).is_some();
            waits.extend(back.filter(|w| w.is_wait(walk) && !lends(w) && (!is_called || w.what(walk).is_lock())));
        }
        waits
    }

    /// The instructions of the wait.
    pub(crate) fn range(&self) -> Range<u64> {
        self.from..self.until
    }

    /// What the thread waits for.
    pub(crate) fn what(&self, walk: &WindowWalk) -> WaitsFor {
        let frames = walk
            .stacks
            .upwards(self.stack)
            .map(|id| &walk.stacks.frame(id).function);
        let mut kinds = frames.filter_map(|name| {
            let of_name = |(begin, _): &&(&str, WaitsFor)| name.starts_with(begin);
            WAITS_FOR.iter().find(of_name).map(|(_, what)| *what)
        });
        kinds.next().unwrap_or_default()
    }

    /// Whether the thread gave the CPU away by itself, in a function that the window shows, and not to sleep on its
    /// timer.
    fn is_wait(&self, walk: &WindowWalk) -> bool {
        let frames = || walk.stacks.upwards(self.stack).map(|id| walk.stacks.frame(id));
        let way = switch_way(walk, self.stack);
        let waits_in = frames().nth(way.len());
        let is_sleep = |name: &str| {
            OWN_SLEEPS.contains(&roles::in_source(name))
                || roles::system_call(name) == Some(OWN_SLEEP_CALL)
                || roles::role(name) == Some(FunctionRole::ExitToUser)
        };
        way.iter().any(|name| roles::role(name) == Some(FunctionRole::Schedule))
            && !way.iter().any(|name| is_preemption(name))
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
        // arm64 has `do_page_fault`.
        frames.any(|id| walk.stacks.frame(id).function.ends_with("_page_fault"))
    }

    /// The mark where the probe's thread was woken, and the running one marked for rescheduling.
    pub(crate) fn waker<'a>(&self, walk: &'a WindowWalk) -> Option<&'a FrameMark> {
        let mut marks = walk.marks_within(self.from, self.until).iter().rev();
        marks.find(|m| m.what == FrameEvent::Enter(FunctionRole::Resched))
    }
}

/// The functions of the scheduler in which a thread gave the CPU away.
fn switch_way(walk: &WindowWalk, stack: StackId) -> Vec<&str> {
    let frames = walk.stacks.upwards(stack).map(|id| walk.stacks.frame(id));
    let of_scheduler = frames.take_while(|frame| is_scheduler(&frame.function));
    of_scheduler.map(|frame| frame.function.as_str()).collect()
}

fn is_preemption(name: &str) -> bool {
    name.contains("preempt_schedule") || name.contains("cond_resched")
}

/// Whether a thread that comes back with this call chain had been ready to run all the time.
pub(super) fn was_preempted(walk: &WindowWalk, stack: StackId) -> bool {
    switch_way(walk, stack).iter().any(|name| is_preemption(name))
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
