//! Who sent an interrupt from another CPU: the window holds what each sender ran until then.

use super::frames::walk;
use super::lines::Lines;
use super::roles;
use super::sources::Sources;
use super::spans::{Sender, Task};
use worstcase_lab::execution::{Execution, Sent, Symbols};

/// Finds senders, for interrupts in the order of time.
pub struct Senders<'a> {
    execution: &'a Execution,
    symbols: &'a Symbols,
    lines: &'a dyn Lines,
    /// What was sent up to here has been received.
    received: usize,
}

impl<'a> Senders<'a> {
    /// Of the interrupts of a window.
    pub fn of(execution: &'a Execution, symbols: &'a Symbols, lines: &'a dyn Lines) -> Senders<'a> {
        Senders {
            execution,
            symbols,
            lines,
            received: 0,
        }
    }

    /// The sender of an interrupt that was entered at or before this instruction: the last one until then, unless an earlier
    /// interrupt was the last one's already.
    pub fn next(&mut self, entry: &str, start: u64) -> Option<Sender> {
        if !roles::is_from_cpu(entry) {
            return None;
        }
        let until = self.execution.sent.partition_point(|sent| sent.at.0 <= start);
        let new = until > std::mem::replace(&mut self.received, until);
        let sent = self.execution.sent[..until].last().filter(|_| new)?;
        Some(self.sender(sent))
    }

    fn sender(&self, sent: &Sent) -> Sender {
        let execution = self.execution.of_sender(sent);
        let walk = walk(&execution, self.symbols);
        let sources = Sources {
            execution: &execution,
            walk: &walk,
            lines: self.lines,
        };
        let call = sent.system_call.and_then(|number| self.symbols.system_call(number));
        Sender {
            cpu: sent.cpu,
            task: Task {
                pid: sent.task.0,
                comm: sent.task.1.clone(),
            },
            system_call: call.and_then(roles::system_call).map(str::to_string),
            chain: sources.chain_at(sent.count.0.saturating_sub(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::testing::Machine;
    use worstcase_probe::Instructions;

    /// A window in which another CPU's thread sends an interrupt from a function, at this count of the receiver.
    fn window(at: &[u64]) -> (Execution, Symbols) {
        let mut m = Machine::in_user(83, "load");
        m.work(3)
            .syscall()
            .work(2)
            .call("text_poke")
            .work(4)
            .call("apic_mem_write")
            .work(2);
        let (sender, symbols) = m.execution();
        let sent = |at: &u64| Sent {
            at: Instructions(*at),
            cpu: 2,
            count: Instructions(m.count),
            task: (83, "load".into()),
            system_call: Some(0),
            steps: sender.steps.clone(),
            goes_on: false,
        };
        let sent = at.iter().map(sent).collect();
        (Execution { sent, ..sender }, symbols)
    }

    #[test]
    fn a_sender_is_named_with_its_call_chain() {
        let (execution, symbols) = window(&[500]);
        let mut senders = Senders::of(&execution, &symbols, &());
        assert_eq!(senders.next("asm_sysvec_apic_timer_interrupt", 600), None);
        let sender = senders.next("asm_sysvec_call_function_single", 600).unwrap();
        assert_eq!((sender.cpu, sender.task.comm.as_str()), (2, "load"));
        assert_eq!(sender.system_call.as_deref(), Some("read"));
        let chain: Vec<_> = sender.chain.iter().map(|f| f.function.as_str()).collect();
        assert_eq!(
            chain,
            ["[user] load", "entry_SYSCALL_64", "text_poke", "apic_mem_write"]
        );
        assert_eq!(sender.by(), Some("text_poke"));
    }

    #[test]
    fn each_interrupt_has_a_sender_of_its_own() {
        let (execution, symbols) = window(&[500, 700]);
        let mut senders = Senders::of(&execution, &symbols, &());
        let mut is_known = |start| senders.next("asm_sysvec_reschedule_ipi", start).is_some();
        assert_eq!(
            [
                is_known(499),
                is_known(500),
                is_known(600),
                is_known(900),
                is_known(950)
            ],
            [false, true, false, true, false]
        );
    }
}
