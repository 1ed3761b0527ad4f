//! Classifies each stretch between due time and sample: one decision per interval, then equal neighbours are
//! joined.

pub(super) mod details;

use super::chance::PreemptionChance;
use super::frames::{StackInterval, WindowWalk};
use super::locks::LockHolds;
use super::milestones::Milestones;
use super::roles::{self, FunctionRole};
use super::sources::Sources;
use super::spans::{CodePlace, KernelTask, OffBy, Since, SpanKind, WaitsFor};
use super::stacks::{FrameKind, StackId};
use std::cell::RefCell;
use std::collections::HashMap;
use worstcase_contract::Nanos;

/// A stretch of one kind.
#[derive(Clone, Debug)]
pub(crate) struct KindStretch {
    /// The kind of the stretch.
    pub(crate) kind: SpanKind,
    /// The intervals that ran.
    pub(crate) intervals: Vec<StackInterval>,
}

impl KindStretch {
    fn length(&self) -> u64 {
        self.intervals.iter().map(|i| i.end - i.start).sum()
    }
}

#[derive(Clone, Copy)]
enum Nearest {
    Switch,
    Schedule,
    Interrupt(StackId),
    Other,
}

/// The data that a classification needs.
pub(crate) struct LabClassifier<'a> {
    /// The window.
    pub(crate) walk: &'a WindowWalk,
    /// Its points.
    pub(crate) points: &'a Milestones,
    /// When the breakdown of this CPU's instructions begins, from the sample's beginning on.
    pub(crate) began: Nanos,
    /// When the interrupted thread, if it was marked in the kernel, could have been preempted.
    pub(crate) chance: Option<PreemptionChance>,
    /// Who holds which spin lock.
    pub(crate) locks: &'a LockHolds,
    /// Whether this kernel preempts itself at any instruction.
    pub(crate) preempts: bool,
    /// Nanoseconds of so many instructions.
    pub(crate) time_of: &'a dyn Fn(u64) -> u64,
    /// Names of threads.
    pub(crate) task_of: &'a dyn Fn(u32) -> KernelTask,
    /// Lines of source code.
    pub(crate) sources: &'a Sources<'a>,
    /// What interrupts are called, by their entry's frame and where they were entered: all that ran in one tells it.
    pub(crate) named: RefCell<HashMap<(StackId, u64), String>>,
}

impl LabClassifier<'_> {
    /// All stretches from due time to sample, without gaps.
    pub(crate) fn stretches(&self) -> Vec<KindStretch> {
        let p = self.points;
        let mut out: Vec<KindStretch> = Vec::new();
        let mut cuts = vec![
            p.due,
            p.entry,
            p.handler,
            p.wake,
            p.first_resched,
            p.resched,
            p.entry_end,
            p.own_timer.end,
            p.sample,
        ];
        cuts.extend(p.held_back.as_ref().map(|held| held.from));
        cuts.extend(p.waits.iter().flat_map(|waits| [waits.from, waits.until]));
        if let Some(chance) = &self.chance {
            cuts.push(chance.at);
            cuts.extend(chance.sections.iter().flat_map(|section| [section.start, section.end]));
        }
        cuts.sort_unstable();
        cuts.dedup();
        cuts.retain(|at| (p.due..=p.sample).contains(at));
        for ends in cuts.windows(2) {
            for interval in self.walk.within(ends[0].max(p.due), ends[1].min(p.sample)) {
                let kind = self.kind(&interval);
                match out.last_mut() {
                    Some(last) if last.kind == kind => last.intervals.push(interval),
                    _ => out.push(KindStretch {
                        kind,
                        intervals: vec![interval],
                    }),
                }
            }
        }
        self.without_little_work(&mut out);
        let mut out = joined(out);
        for stretch in &mut out {
            self.complete(stretch);
        }
        out
    }

    /// A thread that goes back to user mode always does some work on its way.
    fn without_little_work(&self, stretches: &mut [KindStretch]) {
        for stretch in stretches {
            if stretch.kind == SpanKind::ExitWork && stretch.length() < LITTLE_WORK {
                stretch.kind = match self.points.since {
                    Since::Called => SpanKind::SystemCall,
                    _ => SpanKind::ReturnToUser,
                };
            }
        }
    }

    fn has(&self, stack: StackId, role: FunctionRole) -> bool {
        self.walk.stacks.find(stack, role).is_some()
    }

    fn calls_cpus(&self, stack: StackId) -> bool {
        let stacks = &self.walk.stacks;
        stacks
            .upwards(stack)
            .any(|id| roles::calls_cpus(&stacks.frame(id).function))
    }

    /// The innermost frame that tells the kernel's work: the switch, the scheduler, or an interrupt.
    fn nearest(&self, stack: StackId) -> Nearest {
        let stacks = &self.walk.stacks;
        let is_exit_work = stacks.is_exit_work(stack);
        let of = |id: StackId| match stacks.role(id) {
            Some(FunctionRole::ExitToUser) if is_exit_work => Some(Nearest::Other),
            Some(FunctionRole::SwitchTo | FunctionRole::SwitchWork) => Some(Nearest::Switch),
            Some(FunctionRole::Schedule) => Some(Nearest::Schedule),
            Some(FunctionRole::InterruptEntry) => Some(Nearest::Interrupt(id)),
            _ => None,
        };
        stacks.upwards(stack).find_map(of).unwrap_or(Nearest::Other)
    }

    fn kind(&self, i: &StackInterval) -> SpanKind {
        let p = self.points;
        if let Some(waits) = self.waits_at(i.start) {
            return SpanKind::Waits {
                woken: waits.woken,
                what: WaitsFor::default(),
                at: CodePlace::default(),
                fault: false,
                waker: None,
                ran: None,
                kept: None,
            };
        }
        let nearest = self.nearest(i.stack);
        if i.start < p.entry {
            return match (nearest, i.irqs) {
                (Nearest::Interrupt(frame), _) if !self.runs_soft_interrupts(i.stack, frame) => self
                    .other_timer(i, frame)
                    .unwrap_or_else(|| self.other_interrupt(i, frame)),
                _ if let Some(held) = p.held_back.as_ref().filter(|held| i.start >= held.from) => {
                    SpanKind::TimersHeldBack {
                        took_ns: Nanos((self.time_of)(held.took)),
                    }
                }
                _ if let Some(kind) = self.before_armed(i, nearest) => kind,
                (_, Some(false)) if self.has(i.stack, FunctionRole::SpinWait) => SpanKind::SpinsFor {
                    at: CodePlace::default(),
                },
                (_, Some(false)) => SpanKind::IrqsOff {
                    off: None,
                    on: None,
                    by: OffBy::default(),
                },
                _ => SpanKind::IrqPending,
            };
        }
        match nearest {
            Nearest::Switch => return SpanKind::Switch,
            Nearest::Schedule if i.pid == p.probe && p.blocked.is_none() => return SpanKind::Switch,
            Nearest::Schedule => return SpanKind::Schedule,
            Nearest::Interrupt(frame) => return self.in_interrupt(i, frame),
            Nearest::Other => {}
        }
        if i.pid == p.probe {
            return match self.walk.stacks.frame(i.stack).kind {
                FrameKind::User => SpanKind::UserProbe,
                // What the probe's own way out lets run: arm64's has bottom halves off while it restores registers.
                _ if self.is_soft_interrupt(i.stack) => SpanKind::SoftIrq,
                _ if self.has(i.stack, FunctionRole::ExitWork) => SpanKind::ExitWork,
                _ if p.since != Since::Called => SpanKind::ReturnToUser,
                _ if self.calls_cpus(i.stack) => SpanKind::CallsCpus,
                _ => SpanKind::SystemCall,
            };
        }
        let owns_lock = p.blocked.is_some_and(|at| i.start > at)
            || p.waker_blocked.as_ref().is_some_and(|asleep| asleep.contains(&i.start));
        if p.handler_thread == Some(i.pid) && !owns_lock {
            return match () {
                () if (p.wake..p.resched).contains(&i.start) => SpanKind::WakeUp,
                () if i.start >= p.resched && self.has(i.stack, FunctionRole::ScheduleGlue) => SpanKind::Schedule,
                () => SpanKind::ThreadedHandler,
            };
        }
        // A thread that runs on unmarked after the probe woke comes before the probe, as does any thread that was
        // switched in.
        let marked = p.is_marked(i.start);
        // So does one that is back in its program although it was to give way: the scheduler has chosen it once more.
        let is_back = i.start >= p.wake.max(p.entry_end) && self.walk.stacks.frame(i.stack).kind == FrameKind::User;
        let comes_first = i.pid != p.interrupted || owns_lock || (i.start >= p.wake && !marked) || is_back;
        if comes_first && i.pid != 0 {
            return SpanKind::other_thread((self.task_of)(i.pid), owns_lock);
        }
        if self.is_soft_interrupt(i.stack) {
            return SpanKind::SoftIrq;
        }
        if !marked {
            return SpanKind::RunsOn;
        }
        if i.pid == 0 {
            return SpanKind::LeaveIdle;
        }
        let is_on_way = self.has(i.stack, FunctionRole::ExitToUser) || self.has(i.stack, FunctionRole::ScheduleGlue);
        if is_on_way && !self.walk.stacks.is_exit_work(i.stack) {
            return SpanKind::Schedule;
        }
        if self.has(i.stack, FunctionRole::SpinWait) {
            return SpanKind::SpinsFor {
                at: CodePlace::default(),
            };
        }
        let chance = self.chance.as_ref().filter(|_| !self.preempts);
        match chance.is_none_or(|chance| i.start < chance.at || chance.section_of(i.start).is_some()) {
            true => SpanKind::PreemptOff {
                lock: None,
                off: None,
                by: OffBy::default(),
                released: None,
            },
            false => SpanKind::NoReschedulePoint,
        }
    }

    /// What runs before the hardware is armed for the probe's timer, so that no interrupt can come.
    fn before_armed(&self, i: &StackInterval, nearest: Nearest) -> Option<SpanKind> {
        let unarmed = self.points.unarmed.as_ref().filter(|unarmed| i.start < unarmed.until)?;
        let expires = || self.has(i.stack, FunctionRole::SoftTimers) || self.is_soft_interrupt(i.stack);
        match nearest {
            _ if i.pid == 0 || i.pid == self.points.probe => None,
            Nearest::Schedule => Some(SpanKind::Schedule),
            Nearest::Switch => Some(SpanKind::Switch),
            _ if i.pid == unarmed.by => expires().then_some(SpanKind::SoftIrq),
            _ => Some(SpanKind::other_thread((self.task_of)(i.pid), false)),
        }
    }

    fn is_soft_interrupt(&self, stack: StackId) -> bool {
        self.walk.stacks.find_kind(stack, FrameKind::SoftIrq).is_some()
    }

    /// The function of a timer that is not ours, within an interrupt.
    fn other_timer(&self, i: &StackInterval, frame: StackId) -> Option<SpanKind> {
        if self.points.own_timer.contains(&i.start) {
            return None;
        }
        let stacks = &self.walk.stacks;
        let own: Vec<StackId> = stacks.upwards(i.stack).take_while(|id| *id != frame).collect();
        let queue = own
            .iter()
            .position(|id| stacks.role(*id) == Some(FunctionRole::TimerQueue))?;
        let called = own[queue.checked_sub(1)?];
        let function = &stacks.frame(called).function;
        let is_its_own = stacks.role(called) == Some(FunctionRole::Thunk) || roles::is_of_timer_queue(function);
        (!is_its_own).then(|| SpanKind::OtherTimer {
            function: function.clone(),
        })
    }

    fn other_interrupt(&self, i: &StackInterval, frame: StackId) -> SpanKind {
        let mut named = self.named.borrow_mut();
        let entered = (frame, self.walk.entered_at(frame, i.start));
        let name = named.entry(entered).or_insert_with(|| {
            let interrupts = self.walk.interrupts(frame, i.start);
            let from_cpu = interrupts.iter().find(|entry| roles::is_from_cpu(entry));
            from_cpu.unwrap_or(&interrupts[0]).to_string()
        });
        SpanKind::OtherIrq { entry: name.clone() }
    }

    /// Whether an interrupt is at its soft interrupts.
    fn runs_soft_interrupts(&self, stack: StackId, frame: StackId) -> bool {
        let mut own = self.walk.stacks.upwards(stack).take_while(|id| *id != frame);
        own.any(|id| self.walk.stacks.role(id) == Some(FunctionRole::SoftIrq))
    }

    /// Whether a CPU's call is handled after the timer in one entry: arm64's from 7.x on take all that is pending.
    fn runs_another_of_one_entry(&self, stack: StackId, frame: StackId) -> bool {
        let mut own = self.walk.stacks.upwards(stack).take_while(|id| *id != frame);
        own.any(|id| roles::handles_calls_of_cpus(&self.walk.stacks.frame(id).function))
    }

    fn in_interrupt(&self, i: &StackInterval, frame: StackId) -> SpanKind {
        let p = self.points;
        // Only frames of the interrupt itself count; it may have come into a soft interrupt or the scheduler.
        let has = |roles: &[FunctionRole]| {
            let mut own = self.walk.stacks.upwards(i.stack).take_while(|id| *id != frame);
            own.any(|id| self.walk.stacks.role(id).is_some_and(|r| roles.contains(&r)))
        };
        let wakes = i.start >= p.wake && i.start < p.resched;
        if self.runs_soft_interrupts(i.stack, frame) && !wakes {
            return SpanKind::SoftIrq;
        }
        if let Some(other) = self.other_timer(i, frame) {
            return other;
        }
        if i.start >= p.entry_end && i.pid != p.probe && has(&[FunctionRole::ScheduleGlue]) {
            return SpanKind::Schedule;
        }
        if i.start >= p.entry_end || (i.pid != p.interrupted && i.pid == p.probe) {
            return self.other_interrupt(i, frame);
        }
        if p.since.is_own_timer() && self.runs_another_of_one_entry(i.stack, frame) {
            return self.other_interrupt(i, frame);
        }
        match () {
            () if i.start < p.handler => SpanKind::IrqEntry,
            () if i.start < p.wake && p.since.is_device() => SpanKind::DeviceHandler,
            () if i.start < p.wake => SpanKind::IrqHandler,
            () if wakes => SpanKind::WakeUp,
            () if has(&[FunctionRole::ScheduleGlue, FunctionRole::ExitToUser]) => SpanKind::Schedule,
            () if p.since.is_own_timer() || p.since.is_device() => SpanKind::IrqExit,
            () => SpanKind::WakingIrq,
        }
    }
}

/// Fewer instructions of work on the way out are part of every way out.
const LITTLE_WORK: u64 = 1_000;

/// A gap of at most this many instructions belongs to its neighbours.
const FEW: u64 = 64;

/// Whether `between` belongs to the two stretches of one kind around it: the scheduler's few instructions between
/// the change of address space and that of the stack, the interrupt's between its two looks at need_resched.
fn belongs(between: &SpanKind, around: &SpanKind) -> bool {
    matches!(
        (between, around),
        (
            SpanKind::Schedule,
            SpanKind::Switch | SpanKind::IrqExit | SpanKind::WakingIrq
        ) | (
            SpanKind::PreemptOff { .. } | SpanKind::NoReschedulePoint,
            SpanKind::Schedule
        ) | (SpanKind::IrqExit | SpanKind::WakingIrq, SpanKind::Schedule)
    )
}

fn joined(stretches: Vec<KindStretch>) -> Vec<KindStretch> {
    let mut out: Vec<KindStretch> = Vec::new();
    let mut ahead = stretches.into_iter().peekable();
    while let Some(mut stretch) = ahead.next() {
        if let (Some(before), Some(after)) = (out.last(), ahead.peek())
            && before.kind == after.kind
            && stretch.length() < FEW
            && belongs(&stretch.kind, &after.kind)
        {
            stretch.kind = after.kind.clone();
        }
        match out.last_mut() {
            Some(last) if last.kind == stretch.kind => last.intervals.extend(stretch.intervals),
            _ => out.push(stretch),
        }
    }
    out
}

#[cfg(test)]
mod tests;
