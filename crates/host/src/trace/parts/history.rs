//! The remembered events of CPUs and threads.

use crate::trace::events::{CpuContext, CpuEvent, TracedChange};
use std::collections::VecDeque;
use worstcase_contract::Nanos;

/// Limit for a CPU's timer interrupts, and for a thread's steps: 0.4 s and 0.3 s at 10 kHz.
const KEPT: usize = 4096;
/// Limit for a CPU's losses.
const KEPT_LOSSES: usize = 64;

/// A change of a thread's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Its wake-up is issued.
    Woken {
        /// The entry of the timer interrupt in which it was issued, if there was one.
        in_timer: Option<Nanos>,
    },
    /// Switched in.
    In,
    /// Switched out.
    Out {
        /// Whether it waits for something.
        asleep: bool,
    },
}

/// A change, when and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistoryStep {
    pub at: Nanos,
    pub cpu: u32,
    pub(crate) turn: Turn,
}

/// A thread's last steps, in order of time.
#[derive(Debug, Default)]
pub(crate) struct ThreadHistory {
    steps: VecDeque<HistoryStep>,
    /// Whether older steps were dropped.
    has_forgotten: bool,
}

impl ThreadHistory {
    /// Adds a step. Steps of one CPU come in order; those of another are put where they belong.
    pub fn insert(&mut self, step: HistoryStep) {
        let later = self.steps.iter().rev().take_while(|other| other.at > step.at).count();
        self.steps.insert(self.steps.len() - later, step);
        if self.steps.len() > KEPT {
            self.steps.pop_front();
            self.has_forgotten = true;
        }
    }

    /// The steps until `now`, from the last one before `due` that shows whether the thread ran; `None` if one of them
    /// may have been forgotten.
    pub fn until(&self, now: Nanos, due: Nanos) -> Option<impl Iterator<Item = &HistoryStep> + Clone> {
        let at_due = self.steps.partition_point(|step| step.at < due);
        let end = self.steps.partition_point(|step| step.at <= now).max(at_due);
        let tells = |step: &HistoryStep| !matches!(step.turn, Turn::Woken { .. });
        let first = self.steps.range(..at_due).rposition(tells);
        if first.is_none() && self.has_forgotten {
            return None;
        }
        Some(self.steps.range(first.unwrap_or(0)..end))
    }
}

#[derive(Clone, Copy, Debug)]
struct TimerInterrupt {
    entered: Nanos,
    /// `None` while it still runs.
    left: Option<Nanos>,
}

/// A CPU's last timer interrupts, and its losses of events.
#[derive(Debug, Default)]
pub(crate) struct CpuHistory {
    timers: VecDeque<TimerInterrupt>,
    losses: VecDeque<(Nanos, Nanos)>,
    /// Timer interrupts entered before this time are not all known.
    known_from: Option<Nanos>,
    /// The end of the latest forgotten loss.
    forgotten_loss: Option<Nanos>,
}

impl CpuHistory {
    /// Takes the CPU's next event.
    pub fn feed(&mut self, event: &CpuEvent<'_>) {
        self.known_from.get_or_insert(event.at);
        match event.what {
            TracedChange::Enter(CpuContext::Timer) => {
                self.timers.push_back(TimerInterrupt {
                    entered: event.at,
                    left: None,
                });
                if self.timers.len() > KEPT {
                    self.timers.pop_front();
                    self.known_from = self.timers.front().map(|timer| timer.entered);
                }
            }
            TracedChange::Exit(CpuContext::Timer) => {
                if let Some(timer) = self.timers.back_mut() {
                    timer.left.get_or_insert(event.at);
                }
            }
            TracedChange::Lost { since, .. } => {
                self.losses.push_back((since, event.at));
                if self.losses.len() > KEPT_LOSSES {
                    let oldest = self.losses.pop_front();
                    self.forgotten_loss = self.forgotten_loss.max(oldest.map(|(_, until)| until));
                }
                // The exit may be among the lost events.
                if let Some(timer) = self.timers.back_mut() {
                    timer.left.get_or_insert(event.at);
                }
            }
            _ => {}
        }
    }

    /// The entry of the timer interrupt that runs now.
    pub(crate) fn in_timer(&self) -> Option<Nanos> {
        let last = self.timers.back()?;
        last.left.is_none().then_some(last.entered)
    }

    /// Whether events between the two instants may be missing.
    pub(crate) fn may_have_lost(&self, from: Nanos, to: Nanos) -> bool {
        self.forgotten_loss.is_some_and(|until| until >= from)
            || self.losses.iter().any(|(since, until)| *since <= to && *until >= from)
    }

    /// The entry of the timer interrupt that ended a sleep which was due at `due` and ended at `woken`: the first from
    /// `due` on, or `due` itself if one ran then. `None` if there was none, or it is not known.
    pub fn timer_entry(&self, due: Nanos, woken: Nanos, wakes_in: Option<Nanos>) -> Option<Nanos> {
        if self.known_from.is_none_or(|from| from > due) {
            return None;
        }
        if wakes_in.is_some_and(|entered| entered <= due) {
            return Some(due);
        }
        let next = self.timers.partition_point(|timer| timer.entered < due);
        let first = self.timers.get(next).map(|timer| timer.entered);
        let first = first.filter(|entered| *entered <= woken);
        let runs = |timer: &TimerInterrupt| timer.left.is_none_or(|left| left >= due);
        let ran = next.checked_sub(1).and_then(|i| self.timers.get(i)).is_some_and(runs);
        first.or(ran.then_some(due))
    }
}
