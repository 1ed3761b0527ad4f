//! The details of a stretch that only the whole stretch shows: places, locks, threads.

use super::{KindStretch, LabClassifier};
use crate::breakdown::frames::{FrameEvent, FrameMark, StackInterval, WindowWalk};
use crate::breakdown::locks::HeldLock;
use crate::breakdown::roles::{self, FunctionRole};
use crate::breakdown::shares::place;
use crate::breakdown::spans::{CodePlace, LockWait, OffBy, SpanKind, ThreadRun, Waker};
use crate::breakdown::stacks::StackId;
use crate::breakdown::waits::{Waits, was_preempted};
use std::collections::BTreeMap;
use std::ops::Range;
use worstcase_contract::Nanos;

impl LabClassifier<'_> {
    /// Adds to a stretch's kind the details that only the whole stretch shows.
    pub(super) fn complete(&self, stretch: &mut KindStretch) {
        let (Some(first), Some(last)) = (stretch.intervals.first(), stretch.intervals.last()) else {
            return;
        };
        let (start, end) = (first.start, last.end);
        match &mut stretch.kind {
            SpanKind::IrqsOff { off, on, by } => {
                let mark = self.walk.interrupts_off_by(start);
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
                kept,
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
                let length = (self.time_of)(end - start);
                let kept_by = mark.and_then(|mark| self.longest(&self.while_preempted(mark.pid, &stretch.intervals)));
                *kept = kept_by.filter(|kept| 2 * kept.length_ns.0 >= length);
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

    /// What ran while a thread was ready to run.
    fn while_preempted(&self, pid: u32, intervals: &[StackInterval]) -> Vec<StackInterval> {
        let turns = intervals.chunk_by(|a, b| (a.pid == pid) == (b.pid == pid));
        let turns: Vec<&[StackInterval]> = turns.collect();
        let kept = turns.windows(2).filter(|pair| {
            let back = &pair[1][0];
            back.pid == pid && was_preempted(self.walk, back.stack)
        });
        kept.flat_map(|pair| pair[0].iter().cloned()).collect()
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
        let last = count.checked_sub(1)?;
        let mark = self.walk.mark(self.sources.execution, last, FrameEvent::PreemptOn)?;
        Some(FrameMark { count, ..mark })
    }

    fn last_before(&self, count: u64, what: FrameEvent) -> Option<&FrameMark> {
        let marks = self.walk.marks_within(0, count);
        marks.iter().rev().find(|m| m.what == what)
    }

    /// The wait that holds an instruction.
    pub(super) fn waits_at(&self, count: u64) -> Option<&Waits> {
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
