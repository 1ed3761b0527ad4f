//! From a CPU's events to consecutive stretches, each with the innermost context that ran.

use super::events::{CpuContext, CpuEvent, ENDED, TracedChange, TracedThread};
use serde::{Deserialize, Serialize};
use worstcase_contract::Nanos;
use worstcase_traces::contexts::OpenContexts;

/// The owner of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StretchOwner {
    /// The thread itself, or kernel code on its behalf.
    Thread,
    /// An interrupt, soft interrupt or timer's function.
    Context(CpuContext),
    /// A non-maskable interrupt.
    Nmi,
    /// Events are missing.
    Unknown,
}

/// A stretch of time in which one thing ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeStretch {
    /// Begin.
    pub start: Nanos,
    /// End.
    pub end: Nanos,
    /// What ran.
    pub owner: StretchOwner,
    /// The current thread of that time, interrupted or not.
    pub thread: TracedThread,
}

/// Follows one CPU.
#[derive(Debug, Default)]
pub struct Timeline {
    at: Option<Nanos>,
    thread: TracedThread,
    contexts: OpenContexts,
}

impl Timeline {
    /// Takes the next event; hands over the stretches that it ends.
    pub fn feed(&mut self, event: &CpuEvent<'_>, mut each: impl FnMut(TimeStretch)) {
        let start = self.at.unwrap_or(event.at);
        let end = event.at.max(start);
        self.at = Some(end);
        let mut stretch = |start: Nanos, end: Nanos, owner, thread| {
            if end > start {
                each(TimeStretch {
                    start,
                    end,
                    owner,
                    thread,
                });
            }
        };
        let is_lost = matches!(event.what, TracedChange::Lost { .. });
        // Each event names the current thread. If a switch was missed, it is not known what ran before.
        let is_missed = !is_lost && event.tid != ENDED && self.thread.tid != event.tid;
        if is_missed {
            stretch(start, end, StretchOwner::Unknown, TracedThread::default());
            self.contexts.forget_open();
            self.thread = TracedThread {
                tid: event.tid,
                ..TracedThread::default()
            };
        }
        let start = if is_missed { end } else { start };
        let owner = self.owner();
        match event.what {
            TracedChange::Lost { .. } => {
                stretch(start, end, StretchOwner::Unknown, TracedThread::default());
                self.contexts.forget();
                self.thread = TracedThread::default();
            }
            TracedChange::Exit(context) => match self.contexts.leave(&context) {
                true => stretch(start, end, owner, self.thread),
                // The context was entered before the first event, or within a loss.
                false => stretch(start, end, StretchOwner::Context(context), self.thread),
            },
            TracedChange::Nmi { length } => {
                let began = end.saturating_sub(length).max(start);
                stretch(start, began, owner, self.thread);
                stretch(began, end, StretchOwner::Nmi, self.thread);
            }
            _ => stretch(start, end, owner, self.thread),
        }
        match event.what {
            TracedChange::Enter(context) => self.contexts.enter(context),
            TracedChange::Switch { from, to, .. } => self.switch(from.tid, to),
            _ => {}
        }
    }

    /// Ends the timeline at an instant at which thread `tid` runs: gives the last stretch.
    pub fn end(self, at: Nanos, tid: u32) -> Option<TimeStretch> {
        let start = self.at.filter(|start| *start < at && self.thread.tid == tid)?;
        Some(TimeStretch {
            start,
            end: at,
            owner: self.owner(),
            thread: self.thread,
        })
    }

    fn owner(&self) -> StretchOwner {
        self.contexts
            .innermost()
            .map_or(StretchOwner::Thread, StretchOwner::Context)
    }

    fn switch(&mut self, from: u32, to: TracedThread) {
        self.contexts.switch(from, to.tid);
        self.thread = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFT: CpuContext = CpuContext::Soft(3);

    fn stretches(events: &[(u64, u32, TracedChange)]) -> Vec<(u64, u64, StretchOwner, u32)> {
        let mut timeline = Timeline::default();
        let mut found = Vec::new();
        for (at, tid, what) in events {
            let event = CpuEvent {
                at: Nanos(*at),
                cpu: 0,
                tid: *tid,
                what: *what,
                chain: &[],
            };
            timeline.feed(&event, |s| found.push((s.start.0, s.end.0, s.owner, s.thread.tid)));
        }
        found
    }

    fn switch(from: u32, to: u32) -> TracedChange {
        let thread = |tid| TracedThread {
            tid,
            ..TracedThread::default()
        };
        TracedChange::Switch {
            from: thread(from),
            asleep: false,
            to: thread(to),
        }
    }

    #[test]
    fn the_innermost_counts() {
        let found = stretches(&[
            (10, 1, TracedChange::Enter(SOFT)),
            (20, 1, TracedChange::Enter(CpuContext::Timer)),
            (30, 1, TracedChange::Exit(CpuContext::Timer)),
            (40, 1, TracedChange::Exit(SOFT)),
            (50, 1, switch(1, 2)),
            (70, 2, TracedChange::Nmi { length: Nanos(5) }),
        ]);
        let (soft, timer) = (StretchOwner::Context(SOFT), StretchOwner::Context(CpuContext::Timer));
        assert_eq!(
            found,
            [
                (10, 20, soft, 1),
                (20, 30, timer, 1),
                (30, 40, soft, 1),
                (40, 50, StretchOwner::Thread, 1),
                (50, 65, StretchOwner::Thread, 2),
                (65, 70, StretchOwner::Nmi, 2),
            ]
        );
    }

    #[test]
    fn a_soft_interrupt_that_is_switched_out_goes_on_later() {
        let found = stretches(&[
            (10, 1, TracedChange::Enter(SOFT)),
            (20, 1, switch(1, 2)),
            (30, 2, switch(2, 1)),
            (40, 1, TracedChange::Exit(SOFT)),
        ]);
        let soft = StretchOwner::Context(SOFT);
        assert_eq!(
            found,
            [(10, 20, soft, 1), (20, 30, StretchOwner::Thread, 2), (30, 40, soft, 1)]
        );
    }

    #[test]
    fn a_switch_that_was_missed_leaves_the_time_unknown() {
        let found = stretches(&[
            (10, 1, switch(1, 2)),
            (30, 3, TracedChange::Enter(SOFT)),
            (40, 3, TracedChange::Exit(SOFT)),
        ]);
        assert_eq!(
            found,
            [
                (10, 30, StretchOwner::Unknown, 0),
                (30, 40, StretchOwner::Context(SOFT), 3)
            ]
        );
    }

    #[test]
    fn a_thread_that_has_ended_runs_until_its_last_switch() {
        let found = stretches(&[
            (10, 1, switch(1, 2)),
            (20, ENDED, TracedChange::Enter(SOFT)),
            (30, ENDED, TracedChange::Exit(SOFT)),
            (40, ENDED, switch(2, 3)),
        ]);
        let thread = StretchOwner::Thread;
        assert_eq!(
            found,
            [
                (10, 20, thread, 2),
                (20, 30, StretchOwner::Context(SOFT), 2),
                (30, 40, thread, 2)
            ]
        );
    }

    #[test]
    fn an_exit_alone_tells_what_ran_before() {
        let found = stretches(&[
            (
                10,
                1,
                TracedChange::Lost {
                    since: Nanos(5),
                    count: 2,
                },
            ),
            (15, 1, TracedChange::Waking { tid: 9 }),
            (20, 1, TracedChange::Exit(SOFT)),
            (
                30,
                1,
                TracedChange::Lost {
                    since: Nanos(20),
                    count: 2,
                },
            ),
        ]);
        let soft = StretchOwner::Context(SOFT);
        assert_eq!(
            found,
            [
                (10, 15, StretchOwner::Unknown, 0),
                (15, 20, soft, 1),
                (20, 30, StretchOwner::Unknown, 0)
            ]
        );
    }
}
