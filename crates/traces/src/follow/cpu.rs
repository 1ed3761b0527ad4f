//! What one CPU ran.

use super::calls::Call;
use super::task::Waker;
use crate::contexts::OpenContexts;
use crate::events::{CpuContext, TracedThread};
use std::collections::{BTreeMap, VecDeque};
use worstcase_contract::Nanos;

/// What a CPU does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Code of a thread whose system calls are not traced.
    Code,
    /// User code of the program.
    User,
    /// A system call of the program.
    Call(Call),
    /// A page fault of the program, and the code after it: the kernel does not report its end.
    Fault,
    /// The program's handler of a signal.
    Handler(u32),
    /// A system call of the program waits for a lock of the kernel.
    KernelLock(Option<Call>),
    /// An interrupt, soft interrupt or timer's function.
    Context(CpuContext),
    /// Nothing; in this idle state, if it is in one.
    Idle(Option<u32>),
    /// It came back from idle and ran the thread, which was in this call: when it did which was not reported.
    FromIdle(Option<Call>),
    /// Events are missing.
    Unknown,
}

/// From an instant to the next stretch one thread was current, and did one thing.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    pub from: Nanos,
    pub thread: TracedThread,
    pub activity: Activity,
}

/// Who raised a soft interrupt.
#[derive(Clone, Debug)]
pub(super) struct Raiser {
    pub thread: TracedThread,
    pub contexts: Vec<CpuContext>,
}

/// One CPU.
#[derive(Debug, Default)]
pub(super) struct Cpu {
    stretches: VecDeque<Stretch>,
    /// The current thread; none before the first event.
    pub thread: Option<TracedThread>,
    /// What interrupts it.
    pub contexts: OpenContexts,
    /// Who raised each soft interrupt last.
    pub raised: BTreeMap<u8, Raiser>,
    /// The timer whose function runs.
    pub expired: Option<super::task::ExpiredTimer>,
    /// The instant of the last event.
    pub last: Nanos,
    /// The idle state that it is in, until something interrupts it.
    pub idle_state: Option<u32>,
    /// Its frequency in kHz, and since when.
    frequencies: VecDeque<(Nanos, u32)>,
    /// The highest so far.
    highest: Option<u32>,
}

impl Cpu {
    /// Something else begins.
    pub fn begin(&mut self, at: Nanos, thread: TracedThread, activity: Activity) {
        if self.stretches.back().is_some_and(|s| s.from == at) {
            self.stretches.pop_back();
        }
        self.stretches.push_back(Stretch {
            from: at,
            thread,
            activity,
        });
    }

    /// It is not known what ran from `since` on.
    pub fn forget(&mut self, since: Nanos) {
        while self.stretches.back().is_some_and(|s| s.from > since) {
            self.stretches.pop_back();
        }
        self.contexts.forget_open();
        self.expired = None;
        self.idle_state = None;
        self.begin(since, TracedThread::default(), Activity::Unknown);
    }

    /// Goes over to another thread.
    pub fn switch(&mut self, from: u32, to: TracedThread) {
        self.contexts.switch(from, to.tid);
        self.idle_state = None;
        self.thread = Some(to);
    }

    /// A context ends.
    pub fn leave(&mut self, context: &CpuContext) {
        self.contexts.leave(context);
        if matches!(context, CpuContext::TimerFunction { .. }) {
            self.expired = None;
        }
    }

    /// Who wakes a thread now: soft interrupts belong to whoever raised them, not to the thread that they interrupted.
    pub fn waker(&self, at: Nanos) -> Waker {
        let current = self.thread.unwrap_or_default();
        let timer = self.expired;
        let open = self.contexts.all();
        let by_contexts = |contexts: Vec<CpuContext>| Waker {
            at,
            thread: None,
            contexts,
            timer,
        };
        let by_thread = |thread| Waker {
            at,
            thread: Some(thread),
            contexts: open.to_vec(),
            timer,
        };
        let is_soft = |context: &CpuContext| matches!(context, CpuContext::Soft(_));
        if timer.is_some() || open.iter().any(|context| !is_soft(context)) {
            return by_contexts(open.to_vec());
        }
        let Some(CpuContext::Soft(vector)) = open.last() else {
            return match current.tid {
                0 => by_contexts(Vec::new()),
                _ => by_thread(current),
            };
        };
        match self.raised.get(vector) {
            Some(raiser) if !raiser.contexts.is_empty() => {
                let mut contexts = raiser.contexts.clone();
                contexts.extend(open);
                by_contexts(contexts)
            }
            Some(raiser) if raiser.thread.tid != 0 => by_thread(raiser.thread),
            _ if current.tid == 0 => by_contexts(open.to_vec()),
            _ => by_thread(current),
        }
    }

    /// What ran from `from` to `to`: stretches with their ends.
    pub fn ran(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = (Nanos, Nanos, &Stretch)> {
        let first = self.stretches.partition_point(|s| s.from <= from).saturating_sub(1);
        let rest = self.stretches.range(first..);
        rest.enumerate()
            .take_while(move |(_, stretch)| stretch.from < to)
            .map(move |(nth, stretch)| {
                let end = self
                    .stretches
                    .get(first + nth + 1)
                    .map_or(self.last.max(to), |next| next.from);
                (stretch.from.max(from), end.min(to), stretch)
            })
            .filter(|(from, to, _)| from < to)
    }

    /// Forgets what ended before an instant.
    pub fn prune(&mut self, before: Nanos) {
        let keep = self.stretches.partition_point(|s| s.from <= before).saturating_sub(1);
        drop_first(&mut self.stretches, keep);
        let passed = self.frequencies.partition_point(|(since, _)| *since <= before);
        drop_first(&mut self.frequencies, passed.saturating_sub(1));
    }

    /// Its frequency is set.
    pub fn set_frequency(&mut self, at: Nanos, khz: u32) {
        if self.frequencies.back().is_none_or(|(_, last)| *last != khz) {
            self.frequencies.push_back((at, khz));
        }
        self.highest = self.highest.max(Some(khz));
    }

    /// Its frequencies from `from` to `to`, each with its begin, if it had not the highest one all the time.
    pub fn frequencies(&self, from: Nanos, to: Nanos) -> Vec<(Nanos, u32)> {
        let first = self
            .frequencies
            .partition_point(|(since, _)| *since <= from)
            .saturating_sub(1);
        let within = self.frequencies.range(first..).take_while(|(since, _)| *since < to);
        let all: Vec<_> = within.map(|(since, khz)| ((*since).max(from), *khz)).collect();
        match all.iter().all(|(_, khz)| Some(*khz) == self.highest) {
            true => Vec::new(),
            false => all,
        }
    }

    /// How many stretches are kept.
    pub fn len(&self) -> usize {
        self.stretches.len()
    }
}

/// Room for fewer than so many is kept.
const LITTLE: usize = 64;

/// Drops the first ones, and the room that they took: of thousands of threads each had very many once.
pub(super) fn drop_first<T>(all: &mut VecDeque<T>, count: usize) {
    all.drain(..count);
    if all.capacity() > LITTLE.max(4 * all.len()) {
        all.shrink_to(2 * all.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_takes_no_room() {
        let mut cpu = Cpu::default();
        for at in 0..10_000 {
            cpu.begin(Nanos(at), TracedThread::default(), Activity::Idle(None));
        }
        cpu.prune(Nanos(9_990));
        assert_eq!(cpu.len(), 10);
        assert!(cpu.stretches.capacity() < 100, "{}", cpu.stretches.capacity());
    }
}
