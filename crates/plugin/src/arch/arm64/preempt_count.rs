//! The kernel's count of reasons not to preempt: each task's own, 32 bits long. Behind it stands whether nobody asked to
//! reschedule.

use super::word::Word;
use crate::guest_memory::GuestMemory;
use worstcase_logs::census::facts::Facts;

/// Its virtual address, for the task that runs.
pub(crate) fn address(facts: &Facts, task: u64) -> u64 {
    task.wrapping_add(facts.preempt_offset)
}

/// The count, laid out as what has eight bytes on x86-64, or as what has four.
pub(crate) fn read(memory: &GuestMemory, facts: &Facts, task: u64, long: bool) -> Option<Word> {
    let count = memory.read(facts.tasks.physical(address(facts, task))?);
    let count = u32::from_le_bytes(count?);
    Some(match long {
        true => Word::Bits64(count.into()),
        false => Word::Bits32(count),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_logs::window::ask::TaskPlaces;

    #[test]
    fn a_count_is_its_task_s_and_ends_before_the_request_to_reschedule() {
        let facts = Facts {
            preempt_offset: 8,
            tasks: TaskPlaces {
                direct_map: 0xffff_0000_0000_0000,
                image: u64::MAX,
                ..TaskPlaces::default()
            },
            ..Facts::default()
        };
        let words = [0, 0x0000_0001_0100_0002_u64, 0, 1];
        let memory = GuestMemory::of_bytes(words.iter().flat_map(|word| word.to_le_bytes()).collect());
        let of = |at: u64, long| read(&memory, &facts, facts.tasks.direct_map + at, long);
        assert_eq!(of(0, true), Some(Word::Bits64(0x0100_0002)));
        assert_eq!(of(0, false), Some(Word::Bits32(0x0100_0002)));
        assert_eq!(of(16, false), Some(Word::Bits32(1)));
        assert_eq!(read(&memory, &facts, 0x40_0000, false), None);
    }
}
