//! A thread's time from one instant to another, through the threads that it was blocked by. The parts add up.

use super::IdleState;
use super::calls::{Call, CallKind};
use super::cpu::Activity;
use super::machine::Machine;
use super::task::{Span, TaskState, Waker};
use crate::events::{CpuContext, TracedThread};
use worstcase_contract::Nanos;

/// A part of a thread's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Begin.
    pub from: Nanos,
    /// End.
    pub to: Nanos,
    /// Who and what.
    pub cause: PartCause,
    /// The CPU of which it tells, if it is one.
    pub cpu: Option<u32>,
}

/// Whose part it is, and what that thread did.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartCause {
    /// The threads that were blocked, the followed one first, each by the next one, the last one by `thread`.
    pub via: Vec<BlockedThread>,
    /// The thread.
    pub thread: TracedThread,
    /// What it did.
    pub what: Doing,
}

impl PartCause {
    /// The thread whose cycle it is.
    pub fn followed(&self) -> &TracedThread {
        self.via.first().map_or(&self.thread, |blocked| &blocked.thread)
    }

    /// Each thread that was blocked, with the one that it waited for.
    pub fn links(&self) -> impl Iterator<Item = (&BlockedThread, &TracedThread)> {
        let next = self.via.iter().skip(1).map(|blocked| &blocked.thread);
        self.via.iter().zip(next.chain([&self.thread]))
    }
}

/// A thread that waits until another one wakes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockedThread {
    /// The thread.
    pub thread: TracedThread,
    /// In this call, if its calls are traced.
    pub call: Option<CallKind>,
    /// For a lock of the kernel.
    pub on_lock: bool,
    /// In its handler of this signal.
    pub handler: Option<u32>,
}

/// What a thread did in a part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    /// It ran user code.
    User,
    /// It ran, and its calls are not traced.
    Code,
    /// It ran a system call.
    Call(CallKind),
    /// It had a page fault; the code after it is included.
    Fault,
    /// It ran its handler of a signal.
    Handler {
        /// Its number.
        signal: u32,
        /// Who sent one last.
        sender: Option<TracedThread>,
    },
    /// A signal stopped it, until it was to go on.
    Stopped {
        /// Who sent it one last.
        sender: Option<TracedThread>,
    },
    /// It waited for a lock of the kernel without leaving the CPU.
    KernelLock(Option<CallKind>),
    /// It was interrupted.
    Interrupted(CpuContext),
    /// It was ready.
    Ready {
        /// It had been woken; otherwise it was preempted or yielded.
        is_woken: bool,
        /// What its CPU did instead.
        behind: Behind,
    },
    /// It slept until its timer was due.
    Sleeps(Option<CallKind>),
    /// Its timer was due, and was given time to come together with others.
    Slack(Option<CallKind>),
    /// Its timer was due at the latest, and its function did not run yet: its CPU was in this idle state, or in none that is
    /// known.
    TimerLate(Option<IdleState>),
    /// The timer's function ran, until the wake-up.
    TimerInterrupt,
    /// It was blocked until an interrupt woke it.
    Device {
        /// In this call.
        call: Option<CallKind>,
        /// The interrupt, and what it led to.
        contexts: Vec<CpuContext>,
    },
    /// It was blocked until a thread woke it whose own time is not followed further.
    WokenBy {
        /// In this call.
        call: Option<CallKind>,
        /// That thread.
        by: TracedThread,
    },
    /// It was woken on an idle CPU, and ran; the kernel did not report when the CPU went over to it. In a call it can have run
    /// that alone.
    FromIdle(Option<CallKind>),
    /// It is not known.
    Unexplained(Missing),
}

/// Why something is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Missing {
    /// The kernel lost events for want of room.
    Lost,
    /// The kernel did not report all.
    Hidden,
}

/// What a ready thread's CPU did instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Behind {
    /// It ran a thread of higher priority.
    Higher(TracedThread),
    /// It ran a thread of the same priority, or both are ordinary.
    Equal(TracedThread),
    /// It ran a thread of lower priority that was not preempted.
    Lower {
        /// That thread.
        thread: TracedThread,
        /// Whether it ran user code, if its calls are traced.
        is_user: Option<bool>,
    },
    /// It ran other ordinary threads, as an ordinary thread's CPU does.
    Ordinary,
    /// It served an interrupt.
    Context(CpuContext),
    /// It was idle, in this state or in none that is known, and came back from that.
    Idle(Option<IdleState>),
    /// It was still on its way to sleep.
    Itself,
}

/// Above this, threads are followed no further.
const DEPTH: usize = 8;

/// Where the time of a thread went; the parts cover [from, to] without gap or overlap.
pub(super) fn path(machine: &Machine, tid: u32, from: Nanos, to: Nanos) -> Vec<Part> {
    let mut path = Path {
        machine,
        parts: Vec::new(),
        cpu: None,
    };
    path.follow(tid, from, to, &mut Vec::new());
    let lost: Vec<_> = machine.losses(from, to).collect();
    match lost.is_empty() {
        true => path.parts,
        false => hide(path.parts, &lost, machine, tid),
    }
}

/// Replaces what lies in times of loss.
fn hide(parts: Vec<Part>, lost: &[(Nanos, Nanos)], machine: &Machine, tid: u32) -> Vec<Part> {
    let cause = PartCause {
        via: Vec::new(),
        thread: machine.task(tid).map_or_else(TracedThread::default, |task| task.thread),
        what: Doing::Unexplained(Missing::Lost),
    };
    let mut cuts: Vec<Nanos> = lost.iter().flat_map(|(a, b)| [*a, *b]).collect();
    cuts.sort_unstable();
    let mut hidden: Vec<Part> = Vec::new();
    for part in parts {
        let inner = cuts.iter().copied().filter(|cut| *cut > part.from && *cut < part.to);
        let mut from = part.from;
        for to in inner.chain([part.to]) {
            if to <= from {
                continue;
            }
            let is_lost = lost.iter().any(|(a, b)| *a <= from && to <= *b);
            let cause = if is_lost { cause.clone() } else { part.cause.clone() };
            let cpu = part.cpu.filter(|_| !is_lost);
            match hidden.last_mut() {
                Some(last) if last.to == from && last.cause == cause && last.cpu == cpu => last.to = to,
                _ => hidden.push(Part { from, to, cause, cpu }),
            }
            from = to;
        }
    }
    hidden
}

struct Path<'m> {
    machine: &'m Machine,
    parts: Vec<Part>,
    /// The CPU of which is told now.
    cpu: Option<u32>,
}

impl Path<'_> {
    fn push(&mut self, from: Nanos, to: Nanos, via: &[BlockedThread], thread: TracedThread, what: Doing) {
        if from >= to {
            return;
        }
        let cause = PartCause {
            via: via.to_vec(),
            thread,
            what,
        };
        let cpu = self.cpu;
        match self.parts.last_mut() {
            Some(last) if last.to == from && last.cause == cause && last.cpu == cpu => last.to = to,
            _ => self.parts.push(Part { from, to, cause, cpu }),
        }
    }

    fn follow(&mut self, tid: u32, from: Nanos, to: Nanos, via: &mut Vec<BlockedThread>) {
        let Some(task) = self.machine.task(tid) else {
            let thread = TracedThread {
                tid,
                ..TracedThread::default()
            };
            return self.push(from, to, via, thread, Doing::Unexplained(Missing::Hidden));
        };
        let thread = task.thread;
        let mut at = from;
        for span in task.spans(from, to) {
            self.push(at, span.from, via, thread, Doing::Unexplained(Missing::Hidden));
            self.cpu = match &span.state {
                TaskState::Running { cpu } => Some(*cpu),
                TaskState::Ready { cpu, .. } => *cpu,
                TaskState::Unknown | TaskState::Blocked { .. } => None,
            };
            match &span.state {
                TaskState::Unknown => {
                    self.push(span.from, span.to, via, thread, Doing::Unexplained(Missing::Hidden));
                }
                TaskState::Running { cpu } => self.running(*cpu, &span, thread, via),
                TaskState::Ready {
                    is_woken,
                    cpu,
                    priority,
                } => {
                    let thread = TracedThread {
                        priority: *priority,
                        ..thread
                    };
                    self.ready(*cpu, &span, thread, *is_woken, via);
                }
                TaskState::Blocked {
                    call,
                    on_lock,
                    handler,
                    stopped: None,
                    waker,
                } => {
                    let blocked = BlockedThread {
                        thread,
                        call: call.map(|call| call.kind()),
                        on_lock: *on_lock,
                        handler: *handler,
                    };
                    self.blocked(&span, blocked, waker.as_deref(), via);
                }
                TaskState::Blocked {
                    stopped: Some(signal), ..
                } => {
                    let sender = task.senders.get(signal).copied();
                    self.push(span.from, span.to, via, thread, Doing::Stopped { sender });
                }
            }
            self.cpu = None;
            at = span.to;
        }
        self.push(at, to, via, thread, Doing::Unexplained(Missing::Hidden));
    }

    fn running(&mut self, cpu: u32, span: &Span, thread: TracedThread, via: &[BlockedThread]) {
        let kind = |call: Call| call.kind();
        let mut at = span.from;
        let machine = self.machine;
        for (from, to, stretch) in machine.cpu(cpu).into_iter().flat_map(|cpu| cpu.ran(span.from, span.to)) {
            self.push(at, from, via, thread, Doing::Unexplained(Missing::Hidden));
            let what = match stretch.activity {
                Activity::Code => Doing::Code,
                Activity::User => Doing::User,
                Activity::Call(call) => Doing::Call(kind(call)),
                Activity::Fault => Doing::Fault,
                Activity::Handler(signal) => Doing::Handler {
                    signal,
                    sender: machine
                        .task(thread.tid)
                        .and_then(|task| task.senders.get(&signal).copied()),
                },
                Activity::KernelLock(call) => Doing::KernelLock(call.map(kind)),
                Activity::Context(context) => Doing::Interrupted(nameless(context)),
                Activity::FromIdle(call) => Doing::FromIdle(call.map(kind)),
                Activity::Idle(_) | Activity::Unknown => Doing::Unexplained(Missing::Hidden),
            };
            self.push(from, to, via, thread, what);
            at = to;
        }
        self.push(at, span.to, via, thread, Doing::Unexplained(Missing::Hidden));
    }

    fn ready(&mut self, cpu: Option<u32>, span: &Span, thread: TracedThread, is_woken: bool, via: &[BlockedThread]) {
        let machine = self.machine;
        let mut at = span.from;
        let known = cpu.and_then(|cpu| machine.cpu(cpu));
        let state = |number| Some(machine.idle_state(cpu?, number?));
        for (from, to, stretch) in known.into_iter().flat_map(|cpu| cpu.ran(span.from, span.to)) {
            self.push(at, from, via, thread, Doing::Unexplained(Missing::Hidden));
            let other = stretch.thread;
            let behind = match stretch.activity {
                Activity::Unknown | Activity::FromIdle(_) => None,
                Activity::Context(context) => Some(Behind::Context(nameless(context))),
                Activity::Idle(number) => Some(Behind::Idle(state(number))),
                _ if other.tid == thread.tid => Some(Behind::Itself),
                _ if !thread.is_real_time() && !other.is_real_time() => Some(Behind::Equal(other)),
                _ if other.priority < thread.priority => Some(Behind::Higher(other)),
                _ if other.priority == thread.priority => Some(Behind::Equal(other)),
                activity => Some(Behind::Lower {
                    thread: other,
                    is_user: match activity {
                        Activity::Code => None,
                        activity => Some(matches!(activity, Activity::User | Activity::Handler(_))),
                    },
                }),
            };
            let what = match behind {
                Some(behind) => Doing::Ready { is_woken, behind },
                None => Doing::Unexplained(Missing::Hidden),
            };
            self.push(from, to, via, thread, what);
            at = to;
        }
        self.push(at, span.to, via, thread, Doing::Unexplained(Missing::Hidden));
    }

    /// The timer is due, and its interrupt does not come: the CPU may have been in an idle state.
    fn timer_late(&mut self, cpu: u32, from: Nanos, to: Nanos, via: &[BlockedThread], thread: TracedThread) {
        let machine = self.machine;
        let mut at = from;
        for (_, to, stretch) in machine.cpu(cpu).into_iter().flat_map(|cpu| cpu.ran(from, to)) {
            let state = match stretch.activity {
                Activity::Idle(number) => number.map(|number| machine.idle_state(cpu, number)),
                _ => None,
            };
            self.push(at, to, via, thread, Doing::TimerLate(state));
            at = to;
        }
        self.push(at, to, via, thread, Doing::TimerLate(None));
    }

    fn blocked(&mut self, span: &Span, blocked: BlockedThread, waker: Option<&Waker>, via: &mut Vec<BlockedThread>) {
        let (thread, call) = (blocked.thread, blocked.call);
        // Whoever was blocked and ran again was woken: the kernel did not report it.
        let Some(waker) = waker else {
            return self.push(span.from, span.to, via, thread, Doing::Unexplained(Missing::Hidden));
        };
        if let Some(timer) = waker.timer {
            let Some(set) = timer.set else {
                return self.push(span.from, span.to, via, thread, Doing::Sleeps(call));
            };
            let mut at = span.from;
            for (cut, what) in [(set.earliest, Doing::Sleeps(call)), (set.latest, Doing::Slack(call))] {
                let to = cut.clamp(at, span.to);
                self.push(at, to, via, thread, what);
                at = to;
            }
            self.cpu = Some(timer.cpu);
            let entered = timer.entered.clamp(at, span.to);
            self.timer_late(timer.cpu, at, entered, via, thread);
            return self.push(entered, span.to, via, thread, Doing::TimerInterrupt);
        }
        let Some(by) = waker.thread else {
            let contexts = waker.contexts.iter().copied().map(nameless).collect();
            return self.push(span.from, span.to, via, thread, Doing::Device { call, contexts });
        };
        let is_known = by.tid == thread.tid || via.iter().any(|blocked| blocked.thread.tid == by.tid);
        if by.tid == 0 || is_known || via.len() >= DEPTH {
            return self.push(span.from, span.to, via, thread, Doing::WokenBy { call, by });
        }
        via.push(blocked);
        self.follow(by.tid, span.from, span.to, via);
        via.pop();
    }
}

/// A context without what differs from time to time.
fn nameless(context: CpuContext) -> CpuContext {
    match context {
        CpuContext::TimerFunction { function, .. } => CpuContext::TimerFunction { timer: 0, function },
        context => context,
    }
}

impl Behind {
    /// The thread that ran instead.
    pub fn thread(&self) -> Option<TracedThread> {
        let mut copy = *self;
        copy.thread_mut().copied()
    }

    pub(super) fn thread_mut(&mut self) -> Option<&mut TracedThread> {
        match self {
            Behind::Higher(thread) | Behind::Equal(thread) | Behind::Lower { thread, .. } => Some(thread),
            Behind::Ordinary | Behind::Context(_) | Behind::Idle(_) | Behind::Itself => None,
        }
    }
}
