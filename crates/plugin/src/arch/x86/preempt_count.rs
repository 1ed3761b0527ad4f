//! The kernel's count of reasons not to preempt: each CPU's own, for as long as the census follows one.

use super::word::Word;
use crate::guest_memory::GuestMemory;
use worstcase_logs::census::facts::Facts;

/// Its virtual address, whoever runs.
pub(crate) fn address(facts: &Facts, _task: u64) -> u64 {
    facts.preempt_virtual
}

/// The count, of eight bytes or of four.
pub(crate) fn read(memory: &GuestMemory, facts: &Facts, _task: u64, long: bool) -> Option<Word> {
    if long {
        memory
            .read(facts.preempt_physical)
            .map(u64::from_le_bytes)
            .map(Word::Bits64)
    } else {
        memory
            .read(facts.preempt_physical)
            .map(u32::from_le_bytes)
            .map(Word::Bits32)
    }
}
