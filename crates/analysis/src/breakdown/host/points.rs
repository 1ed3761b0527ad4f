//! The points of a wake-up within a recording.

use super::chain::{Interrupted, NestedInterrupt};
use crate::breakdown::milestones::is_as_long_again;
use worstcase_contract::Nanos;
use worstcase_host::trace::recorder::RecordedEvent;
use worstcase_host::trace::{CpuContext, EventSnapshot, TracedChange};
use worstcase_lab::execution::Symbols;

/// See [`HostMilestones::find`]; all on the sample's CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostMilestones {
    /// The probe's wake-up is issued.
    pub(crate) woken: Option<Nanos>,
    /// The timer interrupt that led to it is entered; the due time if one ran then.
    pub(crate) entered: Option<Nanos>,
    /// When the interrupt in which it is issued was left.
    pub(crate) left: Option<Nanos>,
    /// The timer's function that issues it began.
    pub(crate) function_began: Option<Nanos>,
    /// The thread that ran when it was issued.
    pub(crate) ran_then: Option<u32>,
    /// The probe is switched in for the first time after that.
    pub(crate) switched: Option<Nanos>,
    /// Its priority, as the switch tells.
    pub(crate) priority: Option<i32>,
    /// When the probe left its system call.
    pub(crate) returned: Option<Nanos>,
    /// The code that the timer interrupt interrupted.
    pub(crate) interrupted: Option<Interrupted>,
    /// When the interrupt was entered with which the wait for the timer's ended: its own, or another one that waited as well
    /// and came before it. Interrupts were on then.
    pub(crate) let_in: Option<Nanos>,
    /// The other one.
    pub(crate) first: Option<CpuContext>,
    /// The code that that one interrupted.
    pub(crate) stood_at: Option<Interrupted>,
    /// The hardware was not armed for the timer when it was due.
    pub(crate) unarmed: Option<Unarmed>,
    /// The interrupt before had been at timers for long.
    pub(crate) held_back: Option<HeldBack>,
}

/// See [`crate::breakdown::milestones::HeldBack`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldBack {
    /// When that one was left.
    pub(crate) from: Nanos,
    /// From its entry on.
    pub(crate) took: Nanos,
}

impl HeldBack {
    /// The next one is entered at `entered`.
    fn find<'e>(before: impl Iterator<Item = &'e RecordedEvent>, entered: Nanos) -> Option<HeldBack> {
        let mut began = None;
        let last = before.fold(None, |last, event| match event.what {
            TracedChange::Enter(CpuContext::Timer) => {
                began = Some(event.at);
                last
            }
            TracedChange::Exit(CpuContext::Timer) => began.map(|began| (began, event.at)),
            _ => last,
        });
        let (began, from) = last?;
        let took = from - began;
        is_as_long_again((entered - from).0, took.0).then_some(HeldBack { from, took })
    }
}

/// A thread was at the soft timers: the kernel arms the hardware for the next when it is done with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unarmed {
    /// When it was done.
    pub(crate) until: Nanos,
    /// The thread.
    pub(crate) by: u32,
}

/// The kernel's number of the soft interrupt that expires soft timers.
const HRTIMER: CpuContext = CpuContext::Soft(8);

impl Unarmed {
    /// The soft timers were begun before the timer was due, and done with before its interrupt came.
    fn find<'e>(mut since_due: impl Iterator<Item = &'e RecordedEvent>, let_in: Nanos) -> Option<Unarmed> {
        let is_of_them =
            |e: &&RecordedEvent| matches!(e.what, TracedChange::Enter(HRTIMER) | TracedChange::Exit(HRTIMER));
        let first = since_due.find(is_of_them)?;
        (first.what == TracedChange::Exit(HRTIMER) && first.at <= let_in).then_some(Unarmed {
            until: first.at,
            by: first.tid,
        })
    }
}

impl HostMilestones {
    /// Finds them, as far as the recording holds them.
    pub(crate) fn find(snapshot: &EventSnapshot, symbols: &Symbols) -> HostMilestones {
        let ask = snapshot.ask;
        let own = || snapshot.events.iter().filter(|e| e.cpu == ask.cpu && e.at <= ask.now);
        let mut points = HostMilestones::default();
        let is_ours = |e: &&RecordedEvent| matches!(e.what, TracedChange::Switch { to, .. } if to.tid == ask.tid);
        let is_return = |e: &&RecordedEvent| e.tid == ask.tid && matches!(e.what, TracedChange::SysExit { .. });
        points.returned = own().filter(|e| e.at >= ask.due).find(is_return).map(|e| e.at);
        let Some(waking) = own().find(|e| e.at >= ask.due && e.what == (TracedChange::Waking { tid: ask.tid })) else {
            points.switched = own().filter(|e| e.at >= ask.due).find(is_ours).map(|e| e.at);
            return points;
        };
        let woken = waking.at;
        points.woken = Some(woken);
        points.ran_then = Some(waking.tid);
        let switch = own().filter(|e| e.at >= woken).find(is_ours);
        points.switched = switch.map(|e| e.at);
        points.priority = switch.and_then(|e| match e.what {
            TracedChange::Switch { to, .. } => Some(to.priority),
            _ => None,
        });
        let known = snapshot.parts.irq_latency + snapshot.parts.handler;
        points.entered = (ask.due + known == woken).then(|| ask.due + snapshot.parts.irq_latency);
        let is_timer = |what| matches!(what, TracedChange::Enter(CpuContext::Timer));
        // The interrupt may have been entered before the due time.
        let entry = own()
            .rev()
            .find(|e| is_timer(e.what) && e.at <= woken && Some(e.at) <= points.entered);
        let entry = entry.or_else(|| own().find(|e| is_timer(e.what) && Some(e.at) == points.entered));
        let found = |which| entry.and_then(|e| Interrupted::find(e.tid, &e.chain, which, symbols));
        points.interrupted = found(NestedInterrupt::Innermost);
        let is_interrupt = |what| {
            matches!(
                what,
                TracedChange::Enter(CpuContext::Vector(_) | CpuContext::Device { .. })
            )
        };
        let first = points.entered.and_then(|entered| {
            let waited = ask.due + Nanos(entered.saturating_sub(ask.due).0 / 2);
            own().find(|e| e.at >= waited && e.at < entered && is_interrupt(e.what))
        });
        points.first = first.and_then(|e| match e.what {
            TracedChange::Enter(context) => Some(context),
            _ => None,
        });
        points.let_in = first.map(|e| e.at).or(points.entered);
        let since_due = own().filter(|e| e.at > ask.due);
        points.unarmed = points.let_in.and_then(|let_in| Unarmed::find(since_due, let_in));
        points.held_back = points
            .entered
            .and_then(|entered| HeldBack::find(own().filter(|e| e.at < entered), entered));
        // The timer's interrupt, which waited as well, came within that one or at the same place behind it.
        points.stood_at = match first {
            Some(_) => found(NestedInterrupt::Outermost),
            None => points.interrupted.clone(),
        };
        let exit = own().find(|e| e.at >= woken && e.what == TracedChange::Exit(CpuContext::Timer));
        let entered_last = own().rev().find(|e| e.at <= woken && is_timer(e.what));
        let left_between = entered_last.is_none_or(|entry| {
            let between = own().filter(|e| e.at >= entry.at && e.at <= woken);
            between
                .into_iter()
                .any(|e| e.what == TracedChange::Exit(CpuContext::Timer))
        });
        points.left = exit.filter(|_| !left_between).map(|e| e.at);
        points.function_began = open_function(own().filter(|e| e.at <= woken));
        points
    }
}

/// When the timer's function began that still runs.
fn open_function<'e>(events: impl Iterator<Item = &'e RecordedEvent>) -> Option<Nanos> {
    events.fold(None, |open, event| match event.what {
        TracedChange::Enter(CpuContext::TimerFunction { .. }) => Some(event.at),
        TracedChange::Exit(CpuContext::TimerFunction { .. }) => None,
        _ => open,
    })
}
