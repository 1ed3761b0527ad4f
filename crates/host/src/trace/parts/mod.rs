//! Response: which part of a sample's lateness went where.
//!
//! ```text
//! due ----- irq_latency ----- interrupt ----- handler ----- wake-up ----- scheduling ----- runs ----- return ----- now
//! ```
//!
//! The parts add up to the latency always. A sample that events may be missing of is unexplained as far as they are.
//! Feed all events first that were drained after the sample was taken, then ask.

mod history;
#[cfg(test)]
mod tests;

use super::events::{CpuEvent, TracedChange};
use history::{CpuHistory, HistoryStep, ThreadHistory, Turn};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use worstcase_contract::Nanos;

/// The sample to split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedSample {
    /// The CPU on which it was taken.
    pub cpu: u32,
    /// The thread that took it.
    pub tid: u32,
    /// When its timer was due.
    pub due: Nanos,
    /// When it read the clock.
    pub now: Nanos,
}

/// Where a sample's lateness went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatenessParts {
    /// From the due time until the timer interrupt was entered.
    pub irq_latency: Nanos,
    /// From the entry until the thread's wake-up was issued.
    pub handler: Nanos,
    /// Time in which the thread was awake and not on the CPU (or waited again, for a lock on its way).
    pub scheduling: Nanos,
    /// Time on the CPU, until the thread read the clock; everything if it had not gone to sleep when the timer was due.
    pub return_to_user: Nanos,
    /// The part that the events do not explain.
    pub unexplained: Nanos,
}

impl LatenessParts {
    /// All of the latency unexplained.
    pub(crate) fn unexplained(latency: Nanos) -> LatenessParts {
        LatenessParts {
            unexplained: latency,
            ..LatenessParts::default()
        }
    }

    /// The sum of the parts, which is the latency.
    pub fn sum(&self) -> Nanos {
        self.irq_latency + self.handler + self.scheduling + self.return_to_user + self.unexplained
    }
}

/// Splits samples of some threads. Its memory is bounded; for forgotten events the sample is unexplained.
#[derive(Debug)]
pub struct Splitter {
    threads: HashMap<u32, ThreadHistory>,
    cpus: HashMap<u32, CpuHistory>,
}

impl Splitter {
    /// For the samples of these threads.
    pub fn new(tids: &[u32]) -> Splitter {
        Splitter {
            threads: tids.iter().map(|tid| (*tid, ThreadHistory::default())).collect(),
            cpus: HashMap::new(),
        }
    }

    /// Takes the next event. Each CPU's events come in order of time, CPUs in any order.
    pub fn feed(&mut self, event: &CpuEvent<'_>) {
        let cpu = self.cpus.entry(event.cpu).or_default();
        cpu.feed(event);
        let mut tell = |tid: u32, turn| {
            if let Some(thread) = self.threads.get_mut(&tid) {
                thread.insert(HistoryStep {
                    at: event.at,
                    cpu: event.cpu,
                    turn,
                });
            }
        };
        match event.what {
            TracedChange::Waking { tid } => tell(
                tid,
                Turn::Woken {
                    in_timer: cpu.in_timer(),
                },
            ),
            TracedChange::Switch { from, asleep, to } => {
                tell(from.tid, Turn::Out { asleep });
                tell(to.tid, Turn::In);
            }
            _ => {}
        }
    }

    /// The parts of a sample.
    pub fn split(&self, ask: &AskedSample) -> LatenessParts {
        let latency = ask.now.saturating_sub(ask.due);
        self.explained(ask)
            .unwrap_or_else(|| LatenessParts::unexplained(latency))
    }

    /// `None` if events are missing, or contradict each other or the sample.
    fn explained(&self, ask: &AskedSample) -> Option<LatenessParts> {
        if ask.now <= ask.due {
            return Some(LatenessParts::default());
        }
        let steps = self.threads.get(&ask.tid)?.until(ask.now, ask.due)?;
        let since = steps.clone().next().map_or(ask.due, |step| step.at.min(ask.due));
        for cpu in steps.clone().map(|step| step.cpu).chain([ask.cpu]) {
            if self.cpus.get(&cpu).is_some_and(|c| c.may_have_lost(since, ask.now)) {
                return None;
            }
        }
        let mut walk = PartsWalk {
            ask,
            cpus: &self.cpus,
            state: ThreadState::Unknown,
            at: ask.due,
            was_woken: false,
            parts: LatenessParts::default(),
        };
        for step in steps {
            match step.at < ask.due {
                true => walk.state = walk.state.after(step.turn),
                false => walk.step(step)?,
            }
        }
        walk.end()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThreadState {
    Unknown,
    Asleep,
    Awake,
    Running,
}

impl ThreadState {
    fn after(self, turn: Turn) -> ThreadState {
        match turn {
            Turn::Woken { .. } if self == ThreadState::Asleep => ThreadState::Awake,
            Turn::Woken { .. } => self,
            Turn::In => ThreadState::Running,
            Turn::Out { asleep: true } => ThreadState::Asleep,
            Turn::Out { asleep: false } => ThreadState::Awake,
        }
    }
}

/// Walks from the due time to the sample, step by step: each adds the time since the last one to a part.
struct PartsWalk<'a> {
    ask: &'a AskedSample,
    cpus: &'a HashMap<u32, CpuHistory>,
    state: ThreadState,
    at: Nanos,
    was_woken: bool,
    parts: LatenessParts,
}

impl PartsWalk<'_> {
    fn step(&mut self, step: &HistoryStep) -> Option<()> {
        let past = step.at - self.at;
        match (self.state, step.turn) {
            (ThreadState::Asleep | ThreadState::Unknown, Turn::Woken { in_timer }) if !self.was_woken => {
                self.woken(step, in_timer);
                self.state = ThreadState::Awake;
                self.at = step.at;
                return Some(());
            }
            // The thread was about to sleep, or is woken once more.
            (ThreadState::Running | ThreadState::Awake | ThreadState::Unknown, Turn::Woken { .. }) => {
                self.was_woken = true;
                return Some(());
            }
            (ThreadState::Asleep, Turn::Woken { .. }) | (ThreadState::Awake, Turn::In) => {
                self.parts.scheduling = self.parts.scheduling + past;
            }
            // The trace shows no wake-up: it was issued on a CPU that is not traced.
            (ThreadState::Asleep | ThreadState::Unknown, Turn::In) => {
                self.parts.unexplained = self.parts.unexplained + past;
            }
            (ThreadState::Running | ThreadState::Unknown, Turn::Out { .. }) => {
                self.parts.return_to_user = self.parts.return_to_user + past;
            }
            (ThreadState::Running, Turn::In) | (ThreadState::Asleep | ThreadState::Awake, Turn::Out { .. }) => {
                return None;
            }
        }
        self.state = self.state.after(step.turn);
        self.at = step.at;
        Some(())
    }

    /// Splits the time that the thread slept beyond the due time, at the entry of the timer interrupt.
    fn woken(&mut self, step: &HistoryStep, in_timer: Option<Nanos>) {
        self.was_woken = true;
        let entered = self
            .cpus
            .get(&step.cpu)
            .and_then(|cpu| cpu.timer_entry(self.at, step.at, in_timer));
        match entered {
            Some(entered) => {
                self.parts.irq_latency = self.parts.irq_latency + (entered - self.at);
                self.parts.handler = self.parts.handler + (step.at - entered);
            }
            None => self.parts.unexplained = self.parts.unexplained + (step.at - self.at),
        }
    }

    /// The thread read the clock, so it ran.
    fn end(mut self) -> Option<LatenessParts> {
        if self.state != ThreadState::Running {
            return None;
        }
        self.parts.return_to_user = self.parts.return_to_user + (self.ask.now - self.at);
        Some(self.parts)
    }
}
