//! The points of a wake-up within a window: interrupt, timer's function, need_resched, switch.

use super::frames::{FrameEvent, FrameMark, StackInterval, WindowWalk};
use super::roles::FunctionRole;
use super::spans::{KernelTask, Since};
use super::stacks::FrameKind;
use super::waits::Waits;
use std::ops::Range;
use worstcase_base::format::micros;
use worstcase_contract::Nanos;
use worstcase_lab::execution::Execution;

/// The hardware interrupts at the latest so many instructions after the due time, if interrupts are on.
const PENDING: u64 = 256;

/// The points, in instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Milestones {
    /// The event with which the sample's time begins.
    pub since: Since,
    /// The timer is due; without a timer, the start of this CPU's part.
    pub due: u64,
    /// The sample.
    pub sample: u64,
    /// The probe's thread.
    pub probe: u32,
    /// The thread that the timer interrupt came into.
    pub(crate) interrupted: u32,
    /// The thread in which a device's handler wakes the probe, unless the interrupt itself does.
    pub(crate) handler_thread: Option<u32>,
    /// First instruction of the timer interrupt; the due time itself if that interrupt already ran then.
    pub entry: u64,
    /// The timer interrupt is over.
    pub(crate) entry_end: u64,
    /// The timer interrupt's handler begins.
    pub handler: u64,
    /// Our timer's function begins.
    pub(crate) wake: u64,
    /// Our timer's function: while it runs, and until the timers' queue calls another one.
    pub(crate) own_timer: Range<u64>,
    /// The first marking of a thread for rescheduling.
    pub(crate) first_resched: u64,
    /// The running thread is marked for rescheduling by our wake-up.
    pub(crate) resched: u64,
    /// Several timers woke a thread; need_resched alone tells which timer was the probe's.
    pub(crate) ambiguous: bool,
    /// The hardware was not armed for the probe's timer when it was due.
    pub(crate) unarmed: Option<Unarmed>,
    /// The interrupt before had been at timers for long.
    pub(crate) held_back: Option<HeldBack>,
    /// The waits of the probe for something else than its timer, in order.
    pub(crate) waits: Vec<Waits>,
    /// The probe went to sleep on a lock after it was woken.
    pub(crate) blocked: Option<u64>,
    /// The range in which the thread that is to wake the probe slept on a lock.
    pub(crate) waker_blocked: Option<Range<u64>>,
    /// Each time since the interrupt at which the running thread is marked for rescheduling.
    rescheds: Vec<u64>,
    /// Each time since the interrupt at which the scheduler begins to choose, or another thread begins to run.
    choices: Vec<u64>,
}

/// The kernel arms the hardware for no soft timer while it expires soft timers: it does so when it is done with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unarmed {
    /// When it was done.
    pub(crate) until: u64,
    /// The thread that expires them; on PREEMPT_RT others may run before it.
    pub(crate) by: u32,
}

impl Unarmed {
    /// Interrupts were on, and none came, before soft timers had expired.
    fn find(walk: &WindowWalk, due: u64, entry: u64) -> Option<Unarmed> {
        let expires = |i: &StackInterval| walk.stacks.find(i.stack, FunctionRole::SoftTimers).is_some();
        let last = walk.within(due, entry).filter(expires).last()?;
        is_late(walk, due, last.end).then_some(Unarmed {
            until: last.end,
            by: last.pid,
        })
    }
}

/// After an interrupt that found timers due again and again, `hrtimer_interrupt` arms the hardware for as much later as that took:
/// it takes this for a hang (`hang_detected`), and lets others run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldBack {
    /// When it was done.
    pub(crate) from: u64,
    /// Instructions from its beginning to its end.
    pub(crate) took: u64,
}

impl HeldBack {
    fn find(walk: &WindowWalk, due: u64, entry: u64) -> Option<HeldBack> {
        if !is_late(walk, due, entry) {
            return None;
        }
        let handler = |i: &StackInterval| walk.stacks.find(i.stack, FunctionRole::TimerHandler);
        let before: Vec<StackInterval> = walk.within(0, entry).collect();
        let mut since = before.iter().rev().skip_while(|i| handler(i).is_none()).peekable();
        let frame = handler(since.peek()?)?;
        let last = **since.peek()?;
        let first = since.take_while(|i| handler(i) == Some(frame)).last()?;
        let (from, took) = (last.end, last.end - first.start);
        let is_held_back = is_late(walk, from.max(due), entry) && is_as_long_again(entry - from, took);
        is_held_back.then_some(HeldBack { from, took })
    }
}

/// Whether a wait is what [`HeldBack`] means, after an interrupt that took so long.
pub(crate) fn is_as_long_again(waited: u64, took: u64) -> bool {
    waited.abs_diff(took) <= took / 10
}

/// Whether interrupts were on in a range for longer than the hardware takes.
fn is_late(walk: &WindowWalk, from: u64, to: u64) -> bool {
    let on = walk.within(from, to).filter(|i| i.irqs == Some(true));
    on.map(|i| i.end - i.start).sum::<u64>() > PENDING
}

/// Says who kept the hardware unarmed, until when after the due time, and as what that was seen.
pub(crate) fn not_armed(until: Nanos, by: &KernelTask, seen_as: &str) -> String {
    format!(
        "until +{} us the hardware was not armed for the probe's timer: {} arms it when it is done with the soft timers that it expires ({seen_as})",
        micros(until),
        by.named()
    )
}

impl Milestones {
    /// Finds them.
    pub(crate) fn find(execution: &Execution, walk: &WindowWalk) -> Option<Milestones> {
        let due = execution.due.0;
        let marks = walk.marks_within(due, first_run(execution, walk, due)?);
        let entry = execution.timer_entry.map(|entry| entry.0);
        Milestones::of_timer(execution, walk, Since::Due, due, entry, wake(walk, marks))
    }

    /// The milestones of an ordinary thread's timer, whose interrupt is entered at `entry`, if that is known.
    pub(crate) fn with_slack(
        execution: &Execution,
        walk: &WindowWalk,
        due: u64,
        entry: Option<u64>,
    ) -> Option<Milestones> {
        let marks = walk.marks_within(due, execution.sample.0).iter();
        let mut wakes =
            marks.filter(|m| m.what == FrameEvent::Enter(FunctionRole::Wake) && entry.is_some_and(|at| m.count >= at));
        let wake = (wakes.next(), false);
        Milestones::of_timer(execution, walk, Since::DueWithSlack, due, entry, wake)
    }

    fn of_timer(
        execution: &Execution,
        walk: &WindowWalk,
        since: Since,
        due: u64,
        timer_entry: Option<u64>,
        (wake, ambiguous): (Option<&FrameMark>, bool),
    ) -> Option<Milestones> {
        let sample = execution.sample.0;
        let probe = walk.at(sample.checked_sub(1)?)?.pid;
        walk.at(due)?;
        let marks = walk.marks_within(due, sample);
        let first = |role: FunctionRole, from: u64| {
            let mut after = marks.iter().filter(|m| m.count >= from);
            after.find(|m| m.what == FrameEvent::Enter(role)).map(|m| m.count)
        };
        let wake_at = wake.map(|m| m.count);
        // An interrupt that already ran when the timer was due may have found it expired.
        let entry = match timer_entry {
            Some(entry) if wake_at.is_none_or(|at| at >= entry) => entry.clamp(due, sample),
            _ => due,
        };
        let came_after_due = entry > due || timer_entry == Some(due);
        let first_resched = first(FunctionRole::Resched, entry).unwrap_or(sample);
        let wake_at = wake_at.unwrap_or(first_resched);
        let entry_end = interrupt_end(walk, entry, sample);
        let blocked = marks
            .iter()
            .find(|m| m.count > wake_at && m.pid == probe && m.what == FrameEvent::Enter(FunctionRole::PiBlock));
        Some(Milestones {
            since,
            due,
            sample,
            probe,
            interrupted: walk.at(entry)?.pid,
            handler_thread: None,
            entry,
            entry_end,
            handler: match first(FunctionRole::TimerHandler, entry).filter(|_| came_after_due) {
                Some(handler) => handler.clamp(entry, wake_at.max(entry)),
                None => entry,
            },
            wake: wake_at,
            own_timer: own_timer(walk, wake_at, sample),
            first_resched,
            resched: first(FunctionRole::Resched, wake_at).unwrap_or(first_resched.max(wake_at)),
            ambiguous,
            unarmed: Unarmed::find(walk, due, entry),
            held_back: HeldBack::find(walk, due, entry),
            waits: Waits::find(walk, due, sample, probe)
                .into_iter()
                .chain(Waits::after(walk, wake_at, sample, probe, false))
                .collect(),
            blocked: blocked.map(|m| m.count),
            waker_blocked: wake.and_then(|wake| waker_blocked(walk, entry, wake)),
            rescheds: rescheds(walk, walk.marks_within(entry, sample)),
            choices: choices(walk, entry, sample),
        })
    }

    /// The milestones of a sample that begins with no timer of this CPU. The interrupt entered at `entry` wakes the probe, or
    /// nothing does, because the probe runs.
    pub(crate) fn without_timer(
        execution: &Execution,
        walk: &WindowWalk,
        since: Since,
        due: u64,
        entry: Option<u64>,
    ) -> Option<Milestones> {
        let sample = execution.sample.0;
        let probe = walk.at(sample.checked_sub(1)?)?.pid;
        walk.at(due)?;
        let woken = entry.unwrap_or(due);
        let mut marked = rescheds(walk, walk.marks_within(woken, sample));
        // The sender has marked the thread that runs here, or the interrupt does it.
        marked.splice(0..0, entry);
        let mut blocks = walk.marks_within(woken, sample).iter();
        let blocked = blocks.find(|m| m.pid == probe && m.what == FrameEvent::Enter(FunctionRole::PiBlock));
        Some(Milestones {
            since,
            due,
            sample,
            probe,
            interrupted: walk.at(woken)?.pid,
            handler_thread: None,
            entry: woken,
            entry_end: entry.map_or(due, |entry| interrupt_end(walk, entry, sample)),
            handler: woken,
            wake: woken,
            own_timer: woken..woken,
            first_resched: woken,
            resched: woken,
            ambiguous: false,
            unarmed: None,
            held_back: None,
            waits: Waits::after(walk, woken, sample, probe, since == Since::Called),
            blocked: blocked.map(|m| m.count),
            waker_blocked: None,
            rescheds: marked,
            choices: choices(walk, woken, sample),
        })
    }

    /// The milestones of a device's interrupt: its handler wakes the probe, directly or in a thread.
    pub(crate) fn of_device(
        execution: &Execution,
        walk: &WindowWalk,
        since: Since,
        due: u64,
        entry: Option<u64>,
    ) -> Option<Milestones> {
        let known = Milestones::without_timer(execution, walk, since, due, entry)?;
        let marks = walk.marks_within(known.entry, known.sample);
        let handlers = |m: &&FrameMark| walk.stacks.find(m.stack, FunctionRole::DeviceHandlers).is_some();
        let mut after = walk.within(known.entry, known.sample);
        let runs = after.find(|i| i.pid == known.probe).map_or(known.sample, |i| i.start);
        let mut wakes = marks
            .iter()
            .filter(|m| m.what == FrameEvent::Enter(FunctionRole::TryToWake) && m.count < runs);
        let Some(wake) = wakes.rfind(handlers) else {
            return Some(known);
        };
        let first = |role: FunctionRole, from: u64| {
            let entered = marks
                .iter()
                .find(|m| m.count >= from && m.what == FrameEvent::Enter(role));
            entered.map(|m| m.count)
        };
        let rescheds = rescheds(walk, marks);
        Some(Milestones {
            handler_thread: (walk.stacks.find_kind(wake.stack, FrameKind::Interrupt).is_none()).then_some(wake.pid),
            handler: first(FunctionRole::DeviceHandlers, known.entry).unwrap_or(known.entry),
            wake: wake.count,
            own_timer: wake.count..wake.count,
            first_resched: first(FunctionRole::Resched, known.entry).unwrap_or(known.sample),
            resched: first(FunctionRole::Resched, wake.count).unwrap_or(wake.count),
            waker_blocked: waker_blocked(walk, known.entry, wake),
            rescheds,
            ..known
        })
    }

    /// The instruction at which this CPU's part begins: the due time, or the code that another CPU's interrupt
    /// interrupted if it came at once.
    pub(crate) fn before_interrupt(&self) -> u64 {
        let came_at_once = self.entry == self.due
            && (self.since.is_device()
                || matches!(self.since, Since::Woken | Since::DueElsewhere | Since::DueWithSlack));
        self.due - u64::from(came_at_once)
    }

    /// Whether the thread that runs at an instruction was marked for rescheduling since it was switched in, or since the
    /// scheduler chose it again.
    pub(crate) fn is_marked(&self, count: u64) -> bool {
        let last = |of: &[u64]| of[..of.partition_point(|at| *at <= count)].last().copied();
        last(&self.rescheds).is_some_and(|marked| last(&self.choices).is_none_or(|began| began <= marked))
    }
}

/// When the probe first runs on its timer. What wakes whom later may be what the probe waits for then.
fn first_run(execution: &Execution, walk: &WindowWalk, due: u64) -> Option<u64> {
    let sample = execution.sample.0;
    let probe = walk.at(sample.checked_sub(1)?)?.pid;
    let from = Waits::find(walk, due, sample, probe).map_or(due, |waits| waits.until + 1);
    let mut others = walk.within(from, sample).skip_while(|i| i.pid == probe);
    let back = others.find(|i| i.pid == probe);
    Some(back.map_or(sample, |i| i.start))
}

/// The range of the timer's function that runs at an instruction: from its call by the queue of timers until the
/// queue goes on.
fn own_timer(walk: &WindowWalk, wake: u64, sample: u64) -> Range<u64> {
    let of = |stack| walk.stacks.find(stack, FunctionRole::TimerQueue);
    let Some((pid, queue)) = walk.at(wake).and_then(|i| Some((i.pid, of(i.stack)?))) else {
        return wake..wake;
    };
    let is_below = |i: &StackInterval| i.pid == pid && i.stack != queue && walk.stacks.is_within(i.stack, queue);
    let before: Vec<StackInterval> = walk.within(0, wake).collect();
    let first = before.iter().rev().take_while(|i| is_below(i)).last();
    let last = walk.within(wake, sample).take_while(is_below).last();
    first.map_or(wake, |i| i.start)..last.map_or(wake, |i| i.end)
}

/// If the timer's function is a thread's work, and that thread sleeps on a lock: the range from its first sleep
/// until it runs again.
fn waker_blocked(walk: &WindowWalk, entry: u64, wake: &FrameMark) -> Option<Range<u64>> {
    let mut marks = walk.marks_within(entry, wake.count).iter();
    let sleeps = marks.find(|m| m.pid == wake.pid && m.what == FrameEvent::Enter(FunctionRole::PiBlock))?;
    let left = walk.within(sleeps.count, wake.count).find(|i| i.pid != wake.pid)?;
    let back = walk.within(left.start, wake.count).find(|i| i.pid == wake.pid);
    Some(left.start..back.map_or(wake.count, |i| i.start))
}

/// Where the thread that runs is marked for rescheduling. The scheduler itself takes such a mark back once it has chosen.
fn rescheds(walk: &WindowWalk, marks: &[FrameMark]) -> Vec<u64> {
    let is_chosen_anew = |m: &&FrameMark| {
        let frames = walk.stacks.upwards(m.stack);
        let mut own = frames.take_while(|id| walk.stacks.frame(*id).kind != FrameKind::Interrupt);
        own.any(|id| walk.stacks.role(id) == Some(FunctionRole::Schedule))
    };
    let entered = marks.iter();
    let marked = entered.filter(|m| m.what == FrameEvent::Enter(FunctionRole::Resched) && !is_chosen_anew(m));
    marked.map(|m| m.count).collect()
}

fn choices(walk: &WindowWalk, from: u64, to: u64) -> Vec<u64> {
    let intervals: Vec<_> = walk.within(from, to).map(|i| (i.start, i.pid)).collect();
    let pairs = intervals.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    let begins = walk.marks_within(from, to).iter();
    let begins = begins
        .filter(|m| m.what == FrameEvent::Enter(FunctionRole::Schedule))
        .map(|m| m.count);
    let mut choices: Vec<u64> = pairs.map(|pair| pair[1].0).chain(begins).collect();
    choices.sort_unstable();
    choices
}

/// The timer function that woke the probe, and whether there is doubt. It is the last function within which a thread
/// was marked for rescheduling, because no thread of lower priority marks again after the probe's wake-up; without a
/// mark, the last function of all.
fn wake<'a>(walk: &WindowWalk, marks: &'a [FrameMark]) -> (Option<&'a FrameMark>, bool) {
    let wakes: Vec<&FrameMark> = marks
        .iter()
        .filter(|m| m.what == FrameEvent::Enter(FunctionRole::Wake))
        .collect();
    let marked = |wake: &&&FrameMark| {
        marks.iter().any(|m| {
            m.what == FrameEvent::Enter(FunctionRole::Resched)
                && m.count >= wake.count
                && walk.stacks.is_within(m.stack, wake.stack)
        })
    };
    let mut ours: Vec<&FrameMark> = wakes.iter().filter(marked).copied().collect();
    // Two calls of one function in one place have one call chain: only the later one surely marked.
    ours.dedup_by_key(|m| m.stack);
    (ours.last().or(wakes.last()).copied(), ours.len() > 1)
}

/// When the interrupt that was entered at `entry` is left.
fn interrupt_end(walk: &WindowWalk, entry: u64, sample: u64) -> u64 {
    let Some(first) = walk.at(entry) else { return entry };
    let stacks = &walk.stacks;
    let Some(mut frame) = stacks.find_kind(first.stack, FrameKind::Interrupt) else {
        return entry;
    };
    let mut end = entry;
    // Another thread may run before the interrupt is left: then the interrupt is over for us.
    for interval in walk.within(entry, sample).take_while(|i| i.pid == first.pid) {
        // A vector's own few instructions jump to the entry that all vectors share.
        if super::roles::is_vector(&stacks.frame(frame).function) {
            frame = stacks.find_kind(interval.stack, FrameKind::Interrupt).unwrap_or(frame);
        }
        if !stacks.is_within(interval.stack, frame) {
            break;
        }
        end = interval.end;
    }
    end
}
