//! Classifies each stretch between due time and sample: one decision per interval, then equal neighbours are
//! joined.

use super::chance::PreemptionChance;
use super::frames::{FrameEvent, FrameMark, StackInterval, WindowWalk};
use super::locks::{HeldLock, LockUses};
use super::milestones::Milestones;
use super::roles::{self, FunctionRole};
use super::shares::place;
use super::sources::Sources;
use super::spans::{CodePlace, KernelTask, LockWait, OffBy, Since, SpanKind, ThreadRun, WaitsFor, Waker};
use super::stacks::{FrameKind, StackId};
use super::waits::Waits;
use std::collections::BTreeMap;
use std::ops::Range;
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
    pub(crate) locks: &'a LockUses,
    /// Whether this kernel preempts itself at any instruction.
    pub(crate) preempts: bool,
    /// Nanoseconds of so many instructions.
    pub(crate) time_of: &'a dyn Fn(u64) -> u64,
    /// Names of threads.
    pub(crate) task_of: &'a dyn Fn(u32) -> KernelTask,
    /// Lines of source code.
    pub(crate) sources: &'a Sources<'a>,
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
            };
        }
        let nearest = self.nearest(i.stack);
        if i.start < p.entry {
            return match (nearest, i.irqs) {
                (Nearest::Interrupt(frame), _) if !self.runs_soft_interrupts(i.stack, frame) => self
                    .other_timer(i, frame)
                    .unwrap_or_else(|| self.other_interrupt(frame)),
                _ if p.is_deferred && self.has(i.stack, FunctionRole::SoftTimers) => SpanKind::SoftIrq,
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
        let comes_first = i.pid != p.interrupted || owns_lock || (i.start >= p.wake && !marked);
        if comes_first && i.pid != 0 {
            return SpanKind::OtherThread {
                task: (self.task_of)(i.pid),
                owns_lock,
                wait: None,
                server: None,
            };
        }
        if self.walk.stacks.find_kind(i.stack, FrameKind::SoftIrq).is_some() {
            return SpanKind::SoftIrq;
        }
        if !marked {
            return SpanKind::RunsOn;
        }
        if i.pid == 0 {
            return SpanKind::LeaveIdle;
        }
        let stacks = &self.walk.stacks;
        let is_on_way = |role: FunctionRole| stacks.find(i.stack, role).is_some() && !stacks.is_exit_work(i.stack);
        if is_on_way(FunctionRole::ExitToUser) || is_on_way(FunctionRole::ScheduleGlue) {
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

    fn other_interrupt(&self, frame: StackId) -> SpanKind {
        SpanKind::OtherIrq {
            entry: self.walk.stacks.frame(frame).function.clone(),
        }
    }

    /// Whether an interrupt is at its soft interrupts.
    fn runs_soft_interrupts(&self, stack: StackId, frame: StackId) -> bool {
        let mut own = self.walk.stacks.upwards(stack).take_while(|id| *id != frame);
        own.any(|id| self.walk.stacks.role(id) == Some(FunctionRole::SoftIrq))
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
            return self.other_interrupt(frame);
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

    /// Adds to a stretch's kind the details that only the whole stretch shows.
    fn complete(&self, stretch: &mut KindStretch) {
        let (Some(first), Some(last)) = (stretch.intervals.first(), stretch.intervals.last()) else {
            return;
        };
        let (start, end) = (first.start, last.end);
        match &mut stretch.kind {
            SpanKind::IrqsOff { off, on, by } => {
                let mark = self.last_before(start + 1, FrameEvent::IrqsOff);
                *off = mark.map(|m| self.place_of(m, roles::is_flag_helper));
                *by = mark.map_or(OffBy::NotSeen, |m| off_by(self.walk, m));
                let after = self.walk.marks_within(start, self.points.sample);
                let found = after.iter().find(|m| m.what == FrameEvent::IrqsOn && m.count >= end);
                *on = found.map(|m| self.place_of(m, roles::is_flag_helper));
            }
            SpanKind::Waits {
                what,
                at,
                fault,
                waker,
                ran,
                ..
            } => {
                let Some(waits) = self.waits_at(start) else { return };
                *what = waits.what(self.walk);
                *at = waits.place(self.walk);
                *fault = waits.is_fault(self.walk);
                let mark = waits.waker(self.walk);
                *waker = mark.map(|mark| Waker {
                    task: (self.task_of)(mark.pid),
                    at: self.place_of(mark, roles::is_way_to_wake),
                });
                *ran = self.longest(&stretch.intervals);
            }
            SpanKind::OtherThread {
                owns_lock: true, wait, ..
            } => *wait = self.lock_wait(start),
            SpanKind::OtherThread { server, .. } => *server = self.fair_server(start),
            SpanKind::SpinsFor { at } => *at = self.place_of_waiting(first),
            SpanKind::PreemptOff {
                lock,
                off,
                by,
                released,
            } => {
                (*lock, *off, *by) = self.preempt_off_by(start..end);
                let at = self.walk.marks_within(end, self.points.sample);
                let schedule = at.iter().find(|m| m.what == FrameEvent::Enter(FunctionRole::Schedule));
                let chance = self.chance.as_ref().filter(|_| !self.preempts);
                let ends = chance.and_then(|chance| match chance.section_of(start) {
                    Some(section) => self.mark_before(section.end),
                    None => self.mark_before(chance.at),
                });
                *released = ends.or(schedule.copied()).map(|m| self.place_of(&m, roles::is_helper));
            }
            _ => {}
        }
    }

    fn longest(&self, intervals: &[StackInterval]) -> Option<ThreadRun> {
        let mut lengths: BTreeMap<u32, u64> = BTreeMap::new();
        for i in intervals {
            *lengths.entry(i.pid).or_default() += i.end - i.start;
        }
        let (pid, length) = lengths.into_iter().max_by_key(|(_, length)| *length)?;
        Some(ThreadRun {
            task: (self.task_of)(pid),
            length_ns: Nanos((self.time_of)(length)),
        })
    }

    /// The last instruction before another.
    fn mark_before(&self, count: u64) -> Option<FrameMark> {
        let at = self.walk.at(count.checked_sub(1)?)?;
        let mut address = 0;
        self.sources
            .execution
            .for_each_address(count - 1..count, |found| address = found);
        Some(FrameMark {
            count,
            what: FrameEvent::PreemptOn,
            address,
            stack: at.stack,
            site: at.site,
            pid: at.pid,
        })
    }

    fn last_before(&self, count: u64, what: FrameEvent) -> Option<&FrameMark> {
        let marks = self.walk.marks_within(0, count);
        marks.iter().rev().find(|m| m.what == what)
    }

    /// The wait that holds an instruction.
    fn waits_at(&self, count: u64) -> Option<&Waits> {
        self.points.waits.iter().find(|waits| waits.range().contains(&count))
    }

    /// The lock that keeps preemption off in a range, or else the place where it was switched off.
    fn preempt_off_by(&self, range: Range<u64>) -> (Option<CodePlace>, Option<CodePlace>, OffBy) {
        let pid = self.walk.at(range.start).map_or(0, |i| i.pid);
        let switched = self.preempt_switched_off(range.start, pid);
        let off = switched.as_ref().map(|m| self.place_of(m, roles::is_helper));
        let by = switched.as_ref().map_or(OffBy::NotSeen, |m| off_by(self.walk, m));
        // While a lock is held, preemption stays off.
        let in_section = |held: &HeldLock| match (held, &switched) {
            (HeldLock::Taken(mark), Some(switched)) => mark.count >= switched.count,
            _ => true,
        };
        match self.locks.held(pid, range).filter(in_section) {
            // What was switched off by itself goes on around a lock.
            _ if matches!(by, OffBy::Itself | OffBy::BottomHalves) => (None, off, by),
            Some(HeldLock::Taken(mark)) => (Some(self.place_of(&mark, roles::is_helper)), None, OffBy::SpinLock),
            Some(HeldLock::Earlier) => (None, None, OffBy::EarlierLock),
            None => (None, off, by),
        }
    }

    /// The instruction that last gave a thread's count of reasons not to preempt its first one.
    fn preempt_switched_off(&self, count: u64, pid: u32) -> Option<FrameMark> {
        let execution = self.sources.execution;
        let section = execution.preempt_off_in(0..count + 1).last()?;
        let is_seen = section.end > count
            && execution
                .steps
                .first()
                .is_some_and(|first| first.count.0 < section.start);
        let mark = is_seen.then(|| self.mark_before(section.start))??;
        (mark.pid == pid).then_some(mark)
    }

    /// The function that waits for a spin lock.
    fn place_of_waiting(&self, at: &StackInterval) -> CodePlace {
        let is_of_lock = |name: &str| roles::is_helper(name) || roles::role(name) == Some(FunctionRole::SpinWait);
        place(self.walk, at.stack, is_of_lock).0
    }

    /// The place where the probe last waited for a lock, and whether the probe gave the owner its priority.
    fn lock_wait(&self, start: u64) -> Option<LockWait> {
        let marks = self.walk.marks_within(self.points.due, start);
        let of = |role: FunctionRole| {
            let mut own = marks.iter().rev().filter(|m| m.pid == self.points.probe);
            own.find(|m| m.what == FrameEvent::Enter(role))
        };
        let wait = of(FunctionRole::PiBlock)?;
        let stacks = &self.walk.stacks;
        // The lock's function gives priority on one way down, and waits on another.
        let is_wait = |id: &StackId| stacks.role(*id) == Some(FunctionRole::PiBlock);
        let outermost = stacks.upwards(wait.stack).filter(is_wait).last();
        let waits_in = &stacks.frame(outermost.unwrap_or(wait.stack)).function;
        let is_there = |m: &FrameMark| stacks.upwards(m.stack).any(|id| stacks.frame(id).function == *waits_in);
        Some(LockWait {
            at: self.place_of(wait, roles::is_helper),
            inherits: of(FunctionRole::PiBoost).is_some_and(is_there),
        })
    }

    /// Where the fair server chose the thread that runs at an instruction, if the scheduler's last choice before it shows that:
    /// a server that has nobody to let in leaves the choice to the real-time threads.
    fn fair_server(&self, start: u64) -> Option<CodePlace> {
        let scheduled = self.last_before(start, FrameEvent::Enter(FunctionRole::Schedule))?;
        let choice = self.walk.marks_within(scheduled.count, start).iter().rev();
        let picks = [FunctionRole::FairServer, FunctionRole::RealTimePick].map(FrameEvent::Enter);
        let last = choice.into_iter().find(|mark| picks.contains(&mark.what))?;
        (last.what == picks[0]).then(|| self.place_of(last, roles::is_helper))
    }

    fn place_of(&self, mark: &FrameMark, is_helper: fn(&str) -> bool) -> CodePlace {
        let due = self.points.due;
        let after = match mark.count >= due {
            true => (self.time_of)(mark.count - due) as i64,
            false => -((self.time_of)(due - mark.count) as i64),
        };
        let offset = self.began.0 as i64 + after;
        let (place, depth) = place(self.walk, mark.stack, is_helper);
        CodePlace {
            offset_ns: Some(offset),
            source: self.sources.of_mark(mark, depth),
            ..place
        }
    }
}

/// What switched interrupts or preemption off at a mark.
pub(crate) fn off_by(walk: &WindowWalk, mark: &FrameMark) -> OffBy {
    let has = |role| walk.stacks.find(mark.stack, role).is_some();
    match () {
        () if has(FunctionRole::SpinLock) || has(FunctionRole::SpinTry) => OffBy::SpinLock,
        () if has(FunctionRole::BottomHalvesOff) => OffBy::BottomHalves,
        () => OffBy::Itself,
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
