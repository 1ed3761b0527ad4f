//! From a CPU's events to what it ran: consecutive stretches, each with the innermost that ran.

use super::events::{Context, Event, Thread, What};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

/// What ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Owner {
    /// The thread itself, or kernel code on its behalf.
    Thread,
    /// An interrupt, soft interrupt or timer's function.
    Context(Context),
    /// A non-maskable interrupt.
    Nmi,
    /// Events are missing.
    Unknown,
}

/// A stretch of time in which one thing ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Begin.
    pub start: Nanos,
    /// End.
    pub end: Nanos,
    /// What ran.
    pub owner: Owner,
    /// The thread of that time, interrupted or not.
    pub thread: Thread,
}

/// Threads within soft interrupts that can be switched out; PREEMPT_RT has them.
const SUSPENDED: usize = 64;

/// Follows one CPU.
#[derive(Debug, Default)]
pub struct Timeline {
    at: Option<Nanos>,
    thread: Thread,
    /// What interrupted what, innermost last.
    stack: Vec<Context>,
    suspended: BTreeMap<u32, Vec<Context>>,
}

impl Timeline {
    /// Takes the next event; hands over the stretches that end with it.
    pub fn feed(&mut self, event: &Event<'_>, mut each: impl FnMut(Stretch)) {
        let start = self.at.unwrap_or(event.at);
        let end = event.at.max(start);
        self.at = Some(end);
        let mut stretch = |start: Nanos, end: Nanos, owner, thread| {
            if end > start {
                each(Stretch {
                    start,
                    end,
                    owner,
                    thread,
                });
            }
        };
        let is_lost = matches!(event.what, What::Lost { .. });
        // Each event names the thread: what ran before is not known if a switch was missed.
        let is_missed = !is_lost && self.thread.tid != event.tid;
        if is_missed {
            stretch(start, end, Owner::Unknown, Thread::default());
            self.stack.clear();
            self.thread = Thread {
                tid: event.tid,
                ..Thread::default()
            };
        }
        let start = if is_missed { end } else { start };
        let owner = self.owner();
        match event.what {
            What::Lost { .. } => {
                stretch(start, end, Owner::Unknown, Thread::default());
                self.stack.clear();
                self.suspended.clear();
                self.thread = Thread::default();
            }
            What::Exit(context) => match self.stack.iter().rposition(|open| open.is_same(&context)) {
                Some(depth) => {
                    stretch(start, end, owner, self.thread);
                    self.stack.truncate(depth);
                }
                // It was entered before the first event, or within a loss.
                None => stretch(start, end, Owner::Context(context), self.thread),
            },
            What::Nmi { length } => {
                let began = end.saturating_sub(length).max(start);
                stretch(start, began, owner, self.thread);
                stretch(began, end, Owner::Nmi, self.thread);
            }
            _ => stretch(start, end, owner, self.thread),
        }
        match event.what {
            What::Enter(context) => self.stack.push(context),
            What::Switch { from, to, .. } => self.switch(from.tid, to),
            _ => {}
        }
    }

    /// Ends it at an instant at which thread `tid` runs: hands over the last stretch.
    pub fn end(self, at: Nanos, tid: u32) -> Option<Stretch> {
        let start = self.at.filter(|start| *start < at && self.thread.tid == tid)?;
        Some(Stretch {
            start,
            end: at,
            owner: self.owner(),
            thread: self.thread,
        })
    }

    fn owner(&self) -> Owner {
        self.stack
            .last()
            .map_or(Owner::Thread, |context| Owner::Context(*context))
    }

    fn switch(&mut self, from: u32, to: Thread) {
        let stack = std::mem::take(&mut self.stack);
        if !stack.is_empty() && self.suspended.len() < SUSPENDED {
            self.suspended.insert(from, stack);
        }
        self.stack = self.suspended.remove(&to.tid).unwrap_or_default();
        self.thread = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFT: Context = Context::Soft(3);

    fn stretches(events: &[(u64, u32, What)]) -> Vec<(u64, u64, Owner, u32)> {
        let mut timeline = Timeline::default();
        let mut found = Vec::new();
        for (at, tid, what) in events {
            let event = Event {
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

    fn switch(from: u32, to: u32) -> What {
        let thread = |tid| Thread {
            tid,
            ..Thread::default()
        };
        What::Switch {
            from: thread(from),
            asleep: false,
            to: thread(to),
        }
    }

    #[test]
    fn the_innermost_counts() {
        let found = stretches(&[
            (10, 1, What::Enter(SOFT)),
            (20, 1, What::Enter(Context::Timer)),
            (30, 1, What::Exit(Context::Timer)),
            (40, 1, What::Exit(SOFT)),
            (50, 1, switch(1, 2)),
            (70, 2, What::Nmi { length: Nanos(5) }),
        ]);
        let (soft, timer) = (Owner::Context(SOFT), Owner::Context(Context::Timer));
        assert_eq!(
            found,
            [
                (10, 20, soft, 1),
                (20, 30, timer, 1),
                (30, 40, soft, 1),
                (40, 50, Owner::Thread, 1),
                (50, 65, Owner::Thread, 2),
                (65, 70, Owner::Nmi, 2),
            ]
        );
    }

    #[test]
    fn a_soft_interrupt_that_is_switched_out_goes_on_later() {
        let found = stretches(&[
            (10, 1, What::Enter(SOFT)),
            (20, 1, switch(1, 2)),
            (30, 2, switch(2, 1)),
            (40, 1, What::Exit(SOFT)),
        ]);
        let soft = Owner::Context(SOFT);
        assert_eq!(
            found,
            [(10, 20, soft, 1), (20, 30, Owner::Thread, 2), (30, 40, soft, 1)]
        );
    }

    #[test]
    fn a_switch_that_was_missed_leaves_the_time_unknown() {
        let found = stretches(&[
            (10, 1, switch(1, 2)),
            (30, 3, What::Enter(SOFT)),
            (40, 3, What::Exit(SOFT)),
        ]);
        assert_eq!(found, [(10, 30, Owner::Unknown, 0), (30, 40, Owner::Context(SOFT), 3)]);
    }

    #[test]
    fn an_exit_alone_tells_what_ran_before() {
        let found = stretches(&[
            (
                10,
                1,
                What::Lost {
                    since: Nanos(5),
                    count: 2,
                },
            ),
            (15, 1, What::Waking { tid: 9 }),
            (20, 1, What::Exit(SOFT)),
            (
                30,
                1,
                What::Lost {
                    since: Nanos(20),
                    count: 2,
                },
            ),
        ]);
        let soft = Owner::Context(SOFT);
        assert_eq!(
            found,
            [
                (10, 15, Owner::Unknown, 0),
                (15, 20, soft, 1),
                (20, 30, Owner::Unknown, 0)
            ]
        );
    }
}
