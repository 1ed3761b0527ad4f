//! What was sent and has not arrived yet, and by whom.

use crate::trace::Name;
use std::collections::HashMap;

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

/// Wake-ups and work of which nobody asks any more are forgotten when there are so many.
const KEPT: usize = 1 << 16;

/// All that is on its way.
#[derive(Debug, Default)]
pub struct Senders {
    calls: HashMap<(u32, u64), Called>,
    latest: HashMap<u32, u64>,
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

    /// What was queued last for a CPU on which no function was seen to begin.
    pub fn of_unseen_call(&mut self, cpu: u32) -> Option<Called> {
        let call = self.latest.remove(&cpu)?;
        self.calls.remove(&(cpu, call))
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
}
