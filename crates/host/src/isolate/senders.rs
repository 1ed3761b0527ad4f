//! What was sent and has not arrived yet, and by whom.

use crate::trace::Name;
use std::collections::{HashMap, HashSet};

/// Who made something enter a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sender {
    /// The number of its call chain.
    pub chain: u32,
    /// The name of the thread that ran.
    pub thread: Name,
}

/// A function that was queued for a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its address.
    pub function: u64,
    /// By whom.
    pub sender: Sender,
}

/// The latest call to several CPUs: which ones is not known.
#[derive(Debug)]
struct Many {
    /// The CPU that called; never one of them.
    from: u32,
    called: Called,
    /// The CPUs that have taken it.
    taken: HashSet<u32>,
}

/// Wake-ups and work of which nobody asks any more are forgotten when there are so many.
const KEPT: usize = 1 << 16;

/// All that is on its way.
#[derive(Debug, Default)]
pub struct Senders {
    calls: HashMap<(u32, u64), Called>,
    latest: HashMap<u32, u64>,
    many: Option<Many>,
    interrupts: HashMap<u32, Sender>,
    wakes: HashMap<u32, Sender>,
    works: HashMap<u64, Sender>,
}

impl Senders {
    /// A function is queued for a CPU.
    pub fn call(&mut self, cpu: u32, call: u64, called: Called) {
        bounded(&mut self.calls).insert((cpu, call), called);
        self.latest.insert(cpu, call);
    }

    /// CPU `from` queues a function for several others.
    pub fn call_many(&mut self, from: u32, called: Called) {
        self.many = Some(Many {
            from,
            called,
            taken: HashSet::new(),
        });
    }

    /// An interrupt is sent to a CPU.
    pub fn interrupt(&mut self, cpu: u32, sender: Sender) {
        self.interrupts.insert(cpu, sender);
    }

    /// A thread is woken.
    pub fn wake(&mut self, tid: u32, sender: Sender) {
        bounded(&mut self.wakes).insert(tid, sender);
    }

    /// A work item is queued.
    pub fn work(&mut self, work: u64, sender: Sender) {
        bounded(&mut self.works).insert(work, sender);
    }

    /// Who queued the function that begins on a CPU.
    pub fn of_call(&mut self, cpu: u32, call: u64) -> Option<Sender> {
        self.calls.remove(&(cpu, call)).map(|called| called.sender)
    }

    /// What was queued last for a CPU on which no function was seen to begin: for it alone, else for several.
    pub fn of_unseen_call(&mut self, cpu: u32) -> Option<Called> {
        if let Some(call) = self.latest.remove(&cpu) {
            return self.calls.remove(&(cpu, call));
        }
        let many = self.many.as_mut().filter(|many| many.from != cpu)?;
        many.taken.insert(cpu).then_some(many.called)
    }

    /// Who sent the interrupt that a CPU takes.
    pub fn of_interrupt(&mut self, cpu: u32) -> Option<Sender> {
        self.interrupts.remove(&cpu)
    }

    /// Who woke the thread that begins to run.
    pub fn of_thread(&mut self, tid: u32) -> Option<Sender> {
        self.wakes.remove(&tid)
    }

    /// Who queued the work that begins.
    pub fn of_work(&mut self, work: u64) -> Option<Sender> {
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

    fn sender(chain: u32) -> Sender {
        Sender {
            chain,
            thread: "load".into(),
        }
    }

    #[test]
    fn each_arrives_once_and_at_its_own_cpu() {
        let mut senders = Senders::default();
        let called = |chain| Called {
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
        let called = |chain| Called {
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
