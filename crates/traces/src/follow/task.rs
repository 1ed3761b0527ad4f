//! Whether one thread ran, was ready, or was blocked, and by whom it was woken.

use super::calls::{Call, CallKind};
use super::cpu::drop_first;
use crate::events::{CpuContext, TracedThread};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use worstcase_contract::Nanos;

/// A timer as it was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetTimer {
    /// Its address.
    pub timer: u64,
    /// The function that it runs.
    pub function: u64,
    /// When it may expire first.
    pub earliest: Nanos,
    /// When it expires at the latest.
    pub latest: Nanos,
}

/// A timer whose function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiredTimer {
    /// As it was set; none if that was before the trace.
    pub set: Option<SetTimer>,
    /// Its address.
    pub timer: u64,
    /// The function.
    pub function: u64,
    /// When the function began.
    pub entered: Nanos,
    /// Where.
    pub cpu: u32,
}

/// Who woke a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waker {
    /// When.
    pub at: Nanos,
    /// The thread that did it; none if it was an interrupt.
    pub thread: Option<TracedThread>,
    /// The contexts in which it was done, innermost last.
    pub contexts: Vec<CpuContext>,
    /// The timer whose function did it.
    pub timer: Option<ExpiredTimer>,
}

/// What a thread's state is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// Not known.
    Unknown,
    /// It is current on this CPU; the CPU knows what it does.
    Running { cpu: u32 },
    /// It could run.
    Ready {
        /// It was woken; otherwise it was preempted or yielded.
        is_woken: bool,
        /// Where it ran next.
        cpu: Option<u32>,
        /// Its priority there.
        priority: i32,
    },
    /// It waits for something.
    Blocked {
        /// In this system call.
        call: Option<Call>,
        /// For a lock of the kernel.
        on_lock: bool,
        /// In its handler of this signal.
        handler: Option<u32>,
        /// This signal had stopped it.
        stopped: Option<u32>,
        /// Who ended it.
        waker: Option<Box<Waker>>,
    },
}

/// A time in one state.
#[derive(Clone, Debug)]
pub struct Span {
    pub from: Nanos,
    pub to: Nanos,
    pub state: TaskState,
}

/// A thread.
#[derive(Debug)]
pub(super) struct Task {
    pub thread: TracedThread,
    /// It belongs to the program: its system calls are traced.
    pub is_own: bool,
    spans: VecDeque<Span>,
    state: TaskState,
    since: Nanos,
    /// The system call that it is in.
    pub call: Option<Call>,
    /// It waits for a lock of the kernel.
    pub on_lock: bool,
    /// The signal whose handler it runs.
    pub handler: Option<u32>,
    /// It has taken this signal, which stops it.
    pub stopped: Option<u32>,
    /// Who sent it each signal last.
    pub senders: BTreeMap<u32, TracedThread>,
    /// The first timer that it set in this call.
    pub set: Option<SetTimer>,
    /// It was blocked in this call.
    pub was_blocked: bool,
    /// And woken so.
    pub woken: Option<Waker>,
    /// It was woken while it still ran: another CPU reports that before the switch that it ends.
    early: Option<Waker>,
    /// The timer that woke it last from each call.
    pub woken_by: BTreeMap<CallKind, u64>,
    /// Events while it was current.
    pub events: u64,
    /// How often it ran with each priority.
    priorities: BTreeMap<i32, u64>,
    /// Where it ran.
    pub cpus: BTreeSet<u32>,
}

impl Task {
    pub fn new(tid: u32) -> Task {
        Task {
            thread: TracedThread {
                tid,
                ..TracedThread::default()
            },
            is_own: false,
            spans: VecDeque::new(),
            state: TaskState::Unknown,
            since: Nanos(0),
            call: None,
            on_lock: false,
            handler: None,
            stopped: None,
            senders: BTreeMap::new(),
            set: None,
            was_blocked: false,
            woken: None,
            early: None,
            woken_by: BTreeMap::new(),
            events: 0,
            priorities: BTreeMap::new(),
            cpus: BTreeSet::new(),
        }
    }

    fn to(&mut self, at: Nanos, state: TaskState) {
        let ended = std::mem::replace(&mut self.state, state);
        if ended != TaskState::Unknown && at > self.since {
            self.spans.push_back(Span {
                from: self.since,
                to: at,
                state: ended,
            });
        }
        self.since = at;
    }

    /// The thread with the priority that it had most often: at its end a program may give it up, and a lock may have raised it.
    pub fn usual(&self) -> TracedThread {
        let most = self.priorities.iter().max_by_key(|(_, count)| **count);
        TracedThread {
            priority: most.map_or(self.thread.priority, |(priority, _)| *priority),
            ..self.thread
        }
    }

    /// It gets the CPU.
    pub fn runs(&mut self, at: Nanos, cpu: u32, thread: TracedThread) {
        self.thread = thread;
        self.cpus.insert(cpu);
        *self.priorities.entry(thread.priority).or_default() += 1;
        let early = self.early.take();
        match &mut self.state {
            TaskState::Ready {
                cpu: next, priority, ..
            } => {
                *next = Some(cpu);
                *priority = thread.priority;
            }
            TaskState::Blocked { .. } if early.is_some() => {
                self.woken = early;
                self.state = TaskState::Ready {
                    is_woken: true,
                    cpu: Some(cpu),
                    priority: thread.priority,
                };
            }
            _ => {}
        }
        self.to(at, TaskState::Running { cpu });
    }

    /// It was made, and has not run yet.
    pub fn is_made(&mut self, at: Nanos) {
        if self.state == TaskState::Unknown {
            let ready = TaskState::Ready {
                is_woken: true,
                cpu: None,
                priority: self.thread.priority,
            };
            self.to(at, ready);
        }
    }

    /// Since when it is in its state.
    pub fn since(&self) -> Nanos {
        self.since
    }

    /// Since when it is ready, if it is.
    pub fn ready_since(&self) -> Option<Nanos> {
        matches!(self.state, TaskState::Ready { .. }).then_some(self.since)
    }

    /// It leaves the CPU.
    pub fn leaves(&mut self, at: Nanos, thread: TracedThread, asleep: bool) {
        self.thread = thread;
        self.was_blocked |= asleep;
        let state = match asleep {
            true => TaskState::Blocked {
                call: self.call,
                on_lock: self.on_lock,
                handler: self.handler,
                stopped: self.stopped.take(),
                waker: None,
            },
            false => TaskState::Ready {
                is_woken: false,
                cpu: None,
                priority: thread.priority,
            },
        };
        self.to(at, state);
    }

    /// Someone wakes it.
    pub fn wakes(&mut self, at: Nanos, by: Waker) {
        match &mut self.state {
            TaskState::Blocked { waker, .. } => {
                *waker = Some(Box::new(by.clone()));
                self.woken = Some(by);
            }
            TaskState::Unknown => self.woken = Some(by),
            _ => {
                self.early = Some(by);
                return;
            }
        }
        let ready = TaskState::Ready {
            is_woken: true,
            cpu: None,
            priority: self.thread.priority,
        };
        self.to(at, ready);
    }

    /// It is not known what it did from `since` on.
    pub fn forget(&mut self, since: Nanos) {
        self.to(since.max(self.since), TaskState::Unknown);
        self.early = None;
    }

    /// Its states from `from` to `to`, cut to that.
    pub fn spans(&self, from: Nanos, to: Nanos) -> Vec<Span> {
        let first = self.spans.partition_point(|span| span.to <= from);
        let ended = self.spans.range(first..).take_while(|span| span.from < to).cloned();
        let open = Span {
            from: self.since,
            to,
            state: self.state.clone(),
        };
        let all = ended.chain((self.state != TaskState::Unknown).then_some(open));
        let cut = all.map(|span| Span {
            from: span.from.max(from),
            to: span.to.min(to),
            ..span
        });
        cut.filter(|span| span.from < span.to).collect()
    }

    /// How many times in one state are kept.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Forgets what ended before an instant.
    pub fn prune(&mut self, before: Nanos) {
        let keep = self.spans.partition_point(|span| span.to <= before);
        drop_first(&mut self.spans, keep);
    }
}
