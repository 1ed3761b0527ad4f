//! What other CPUs did: the code that sent an interrupt, and what they executed while this CPU waited in a loop.

use super::frames::walk;
use super::lines::SourceLines;
use super::roles;
use super::shares::CallChainShares;
use super::sources::Sources;
use super::spans::{KernelTask, OtherCpu};
use std::collections::BTreeMap;
use std::ops::Range;
use worstcase_lab::execution::{Elsewhere, Execution, Symbols, Why};

/// Finds what other CPUs did, for interrupts in the order of time.
pub(crate) struct OtherCpuFinder<'a> {
    execution: &'a Execution,
    symbols: &'a Symbols,
    lines: &'a dyn SourceLines,
    sent: Vec<&'a Elsewhere>,
    /// Interrupts sent up to here have been received.
    received: usize,
}

impl<'a> OtherCpuFinder<'a> {
    /// The finder of a window.
    pub(crate) fn of(execution: &'a Execution, symbols: &'a Symbols, lines: &'a dyn SourceLines) -> OtherCpuFinder<'a> {
        let sent = execution.elsewhere.iter().filter(|other| other.why == Why::Sends);
        OtherCpuFinder {
            execution,
            symbols,
            lines,
            sent: sent.collect(),
            received: 0,
        }
    }

    /// The sender of an interrupt that was entered at or before this instruction: the last one until then, unless an earlier
    /// interrupt was the last one's already.
    pub(crate) fn sender(&mut self, entry: &str, start: u64) -> Option<OtherCpu> {
        if !roles::is_from_cpu(entry) {
            return None;
        }
        let until = self.sent.partition_point(|sent| sent.at.0 <= start);
        let new = until > std::mem::replace(&mut self.received, until);
        let sent = self.sent[..until].last().filter(|_| new)?;
        Some(self.describe(sent, 0))
    }

    /// What each other CPU that did not idle executed while this CPU waited in a range, until the last wait.
    pub(crate) fn waited_for(&self, range: Range<u64>) -> Vec<OtherCpu> {
        let within = |other: &&Elsewhere| other.why == Why::IsWaitedFor && range.contains(&other.at.0);
        let waited_for = self.execution.elsewhere.iter().filter(within);
        let last: BTreeMap<u32, &Elsewhere> = waited_for.map(|other| (other.cpu, other)).collect();
        let busy = last.into_values().filter(|other| other.task.0 != 0);
        busy.map(|other| self.describe(other, other.at.0 - range.start))
            .collect()
    }

    /// Describes a CPU by its last `length` instructions, or by the very last one.
    pub(crate) fn describe(&self, other: &Elsewhere, length: u64) -> OtherCpu {
        let execution = self.execution.of_other(other);
        let walk = walk(&execution, self.symbols);
        let sources = Sources {
            execution: &execution,
            walk: &walk,
            lines: self.lines,
        };
        let call = other.system_call.and_then(|number| self.symbols.system_call(number));
        let intervals: Vec<_> = walk
            .within(other.count.0.saturating_sub(length), other.count.0)
            .collect();
        let shares = CallChainShares::of(&walk, &intervals);
        let common = shares.common().filter(|_| length > 0);
        OtherCpu {
            cpu: other.cpu,
            task: KernelTask {
                pid: other.task.0,
                comm: other.task.1.clone(),
            },
            system_call: call.and_then(roles::system_call).map(str::to_string),
            chain: match common {
                Some(id) => sources.chain(id, &intervals),
                None => sources.chain_at(other.count.0.saturating_sub(1)),
            },
            most: shares.most(|n| execution.time_of(n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::testing::SyntheticMachine;
    use worstcase_contract::{Instructions, Nanos};

    /// A window in which another CPU's thread runs in a function; the other CPU is recorded at these counts of the
    /// measuring one.
    fn window(why: Why, at: &[u64]) -> (Execution, Symbols) {
        let mut m = SyntheticMachine::in_user(83, "load");
        m.work(3)
            .syscall()
            .work(2)
            .call("text_poke")
            .work(4)
            .call("apic_mem_write")
            .work(2);
        let (other, symbols) = m.execution();
        let told = |at: &u64| Elsewhere {
            why,
            at: Instructions(*at),
            cpu: 2,
            count: Instructions(m.count),
            task: (83, "load".into()),
            system_call: Some(0),
            steps: other.steps.clone(),
            goes_on: false,
        };
        let elsewhere = at.iter().map(told).collect();
        (Execution { elsewhere, ..other }, symbols)
    }

    #[test]
    fn a_sender_is_named_with_its_call_chain() {
        let (execution, symbols) = window(Why::Sends, &[500]);
        let mut others = OtherCpuFinder::of(&execution, &symbols, &());
        assert_eq!(others.sender("asm_sysvec_apic_timer_interrupt", 600), None);
        let sender = others.sender("asm_sysvec_call_function_single", 600).unwrap();
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
    fn what_was_waited_for_is_named_where_the_wait_was() {
        let (execution, symbols) = window(Why::IsWaitedFor, &[500, 700]);
        let mut others = OtherCpuFinder::of(&execution, &symbols, &());
        assert_eq!(others.sender("asm_sysvec_call_function_single", 600), None);
        let functions = |range| -> Vec<Option<String>> {
            let told = others.waited_for(range);
            told.iter().map(|other| other.by().map(str::to_string)).collect()
        };
        assert!(functions(0..500).is_empty());
        assert_eq!(functions(698..900), [Some("text_poke".to_string())]);
        let most = others.waited_for(690..900)[0].most.clone().unwrap();
        assert_eq!((most.function.as_str(), most.total_ns), ("text_poke", Nanos(7)));
    }

    #[test]
    fn each_interrupt_has_a_sender_of_its_own() {
        let (execution, symbols) = window(Why::Sends, &[500, 700]);
        let mut others = OtherCpuFinder::of(&execution, &symbols, &());
        let mut is_known = |start| others.sender("asm_sysvec_reschedule_ipi", start).is_some();
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
