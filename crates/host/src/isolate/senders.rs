//! What was sent and has not arrived yet, with its sender.

use crate::trace::ShortName;
use std::collections::{HashMap, HashSet};

/// The sender of something that enters a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EntrySender {
    /// The index of its call chain.
    pub chain: u32,
    /// The name of the thread that ran.
    pub thread: ShortName,
}

/// A function that was queued for a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueuedFunction {
    /// Its address.
    pub function: u64,
    /// The sender that queued it.
    pub sender: EntrySender,
}

/// The latest call to several CPUs; the trace does not say to which.
#[derive(Debug)]
struct Many {
    /// The calling CPU, which is never among them.
    from: u32,
    called: QueuedFunction,
    /// The CPUs that have run it.
    taken: HashSet<u32>,
}

/// Limit for wake-ups and work that no event has asked for.
const KEPT: usize = 1 << 16;

/// Everything that was sent and has not arrived.
#[derive(Debug, Default)]
pub(crate) struct Senders {
    calls: HashMap<(u32, u64), QueuedFunction>,
    latest: HashMap<u32, u64>,
    many: Option<Many>,
    interrupts: HashMap<u32, EntrySender>,
    wakes: HashMap<u32, EntrySender>,
    works: HashMap<u64, EntrySender>,
}

impl Senders {
    /// A function is queued for a CPU.
    pub fn call(&mut self, cpu: u32, call: u64, called: QueuedFunction) {
        bounded(&mut self.calls).insert((cpu, call), called);
        self.latest.insert(cpu, call);
    }

    /// CPU `from` queues a function for several others.
    pub(crate) fn call_many(&mut self, from: u32, called: QueuedFunction) {
        self.many = Some(Many {
            from,
            called,
            taken: HashSet::new(),
        });
    }

    /// An interrupt is sent to a CPU.
    pub fn interrupt(&mut self, cpu: u32, sender: EntrySender) {
        self.interrupts.insert(cpu, sender);
    }

    /// A thread is woken.
    pub(crate) fn wake(&mut self, tid: u32, sender: EntrySender) {
        bounded(&mut self.wakes).insert(tid, sender);
    }

    /// A work item is queued.
    pub fn work(&mut self, work: u64, sender: EntrySender) {
        bounded(&mut self.works).insert(work, sender);
    }

    /// The sender of the function that begins on a CPU.
    pub(crate) fn of_call(&mut self, cpu: u32, call: u64) -> Option<EntrySender> {
        self.calls.remove(&(cpu, call)).map(|called| called.sender)
    }

    /// The function that was queued last for a CPU on which no function was seen to begin: one for it alone, else one
    /// for several CPUs.
    pub(crate) fn of_unseen_call(&mut self, cpu: u32) -> Option<QueuedFunction> {
        if let Some(call) = self.latest.remove(&cpu) {
            return self.calls.remove(&(cpu, call));
        }
        let many = self.many.as_mut().filter(|many| many.from != cpu)?;
        many.taken.insert(cpu).then_some(many.called)
    }

    /// The sender of the interrupt that a CPU takes.
    pub(crate) fn of_interrupt(&mut self, cpu: u32) -> Option<EntrySender> {
        self.interrupts.remove(&cpu)
    }

    /// The sender of the wake-up of a thread that begins to run.
    pub(crate) fn of_thread(&mut self, tid: u32) -> Option<EntrySender> {
        self.wakes.remove(&tid)
    }

    /// The sender of the work that begins.
    pub(crate) fn of_work(&mut self, work: u64) -> Option<EntrySender> {
        self.works.remove(&work)
    }
}

fn bounded<K, V>(map: &mut HashMap<K, V>) -> &mut HashMap<K, V> {
    if map.len() >= KEPT {
        map.clear();
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(chain: u32) -> EntrySender {
        EntrySender {
            chain,
            thread: "load".into(),
        }
    }

    #[test]
    fn each_arrives_once_and_at_its_own_cpu() {
        let mut senders = Senders::default();
        let called = |chain| QueuedFunction {
            function: 7,
            sender: sender(chain),
        };
        senders.call(1, 0x10, called(1));
        senders.call(2, 0x10, called(2));
        senders.call(1, 0x20, called(3));
        assert_eq!(senders.of_call(1, 0x10), Some(sender(1)));
        assert_eq!(senders.of_call(1, 0x10), None);
        assert_eq!(senders.of_unseen_call(1), Some(called(3)));
        assert_eq!(senders.of_unseen_call(1), None);
        assert_eq!(senders.of_call(2, 0x10), Some(sender(2)));
    }

    #[test]
    fn a_call_to_several_is_taken_by_each_other_once_after_what_is_its_own() {
        let mut senders = Senders::default();
        let called = |chain| QueuedFunction {
            function: 9,
            sender: sender(chain),
        };
        senders.call_many(0, called(1));
        senders.call(1, 0x10, called(2));
        assert_eq!(senders.of_unseen_call(1), Some(called(2)));
        assert_eq!(senders.of_unseen_call(1), Some(called(1)));
        assert_eq!(senders.of_unseen_call(1), None);
        assert_eq!(senders.of_unseen_call(0), None, "it called itself");
        assert_eq!(senders.of_unseen_call(2), Some(called(1)));
    }
}
