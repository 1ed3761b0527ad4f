//! Facts about a kernel of arm64.

use super::{KernelFunctions, KernelMemory, of_flags};
use crate::vectors::{SLOT, TABLES};
use worstcase_contract::census::facts::Facts;

/// A table begins at a multiple of its length.
const TABLE: u64 = 0x800;

/// The function that counts an interrupt among the reasons not to preempt.
const COUNTS_INTERRUPT: &str = "irq_enter_rcu";
/// What it adds until 7.2, and from 7.3 on.
const INTERRUPT: [u64; 2] = [1 << 16, 1 << 24];

/// How far back a mask is made: just before its use.
const BACK: usize = 4;

/// Adds what is so on arm64.
pub(super) fn add(facts: &mut Facts, memory: &KernelMemory, functions: &KernelFunctions) -> Result<(), String> {
    let places = facts.tasks;
    facts.preempt_offset = places.preempt_count;
    let tables = functions.ranges(|name| TABLES.contains(&name));
    facts.entries = tables
        .into_iter()
        .flat_map(|table| (table.start..table.start + (table.end - table.start) / TABLE * TABLE).step_by(SLOT as usize))
        .collect();
    facts.resched_mask = functions.mask_in(memory, &places, "__schedule", cleared_flags)?;
    let added = functions.mask_in(memory, &places, COUNTS_INTERRUPT, interrupt_in_count)?;
    facts.count_is_long = match INTERRUPT.iter().position(|interrupt| *interrupt == added) {
        Some(layout) => layout == 1,
        None => return Err("it counts interrupts in another way than is known".into()),
    };
    Ok(())
}

fn words(code: &[u8]) -> Vec<u32> {
    let words = code.chunks_exact(4).map(|word| word.try_into().unwrap_or_default());
    words.map(u32::from_le_bytes).collect()
}

/// What a register holds that was made from a constant just before: `movz`, of either width.
fn made(before: &[u32], register: u32) -> Option<u64> {
    let is_made = |word: &&u32| **word & 0x7f80_001f == 0x5280_0000 | register;
    let word = before.iter().rev().take(BACK).find(is_made)?;
    Some(u64::from(word >> 5 & 0xffff) << (16 * (word >> 21 & 3)))
}

/// The flags that the scheduler clears in the task it leaves: those that request rescheduling.
fn cleared_flags(code: &[u8], _address: u64) -> u64 {
    let words = words(code);
    let cleared = words.iter().enumerate().filter_map(|(at, word)| {
        // stclr xM, [xN]
        let clears = word & 0xffe0_fc1f == 0xf820_101f;
        made(&words[..at], word >> 16 & 31).filter(|_| clears)
    });
    of_flags(cleared.fold(0, |mask, cleared| mask | cleared))
}

/// What an interrupt adds to the count, if it is one of those that are known.
fn interrupt_in_count(code: &[u8], _address: u64) -> u64 {
    let words = words(code);
    let added = words.iter().enumerate().find_map(|(at, word)| {
        let added = match () {
            // add wN, wM, #constant
            () if word & 0xff80_0000 == 0x1100_0000 => Some(u64::from(word >> 10 & 0xfff) << (12 * (word >> 22 & 1))),
            // add wN, wM, wL
            () if word & 0xffe0_fc00 == 0x0b00_0000 => made(&words[..at], word >> 16 & 31),
            () => None,
        };
        added.filter(|added| INTERRUPT.contains(added))
    });
    added.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn the_flags_that_the_scheduler_clears() {
        let cleared = |words: &[u32]| cleared_flags(&bytes(words), 0);
        let stclr = 0xf820_12bf; // stclr x0, [x21]
        assert_eq!(cleared(&[0xd280_0040, stclr]), 2); // mov x0, #2
        assert_eq!(cleared(&[0xd280_00c0, 0xd503_201f, stclr]), 6); // mov x0, #6; nop
        assert_eq!(cleared(&[0xd280_0041, stclr]), 0, "another register");
        assert_eq!(cleared(&[0xd280_0080, 0xf820_32bf]), 0); // mov x0, #4; stset x0, [x21]
        assert_eq!(cleared(&[0xd29f_ffe0, stclr]), 0, "no flags");
    }

    #[test]
    fn how_interrupts_are_counted() {
        let added = |words: &[u32]| interrupt_in_count(&bytes(words), 0);
        assert_eq!(added(&[0x9100_03fd, 0x1140_4000]), 1 << 16); // add w0, w0, #0x10, lsl #12
        assert_eq!(added(&[0x52a0_2002, 0x0b02_0000]), 1 << 24); // mov w2, #0x1000000; add w0, w0, w2
        assert_eq!(added(&[0x1100_0400]), 0); // add w0, w0, #1
    }
}
