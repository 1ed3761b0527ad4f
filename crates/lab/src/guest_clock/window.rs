//! A window, cut where the CPU idled, with the clock reads in it.

use super::BusyStretch;
use crate::execution::{Block, Execution};

/// The window, cut where the CPU idled.
pub(super) fn busy_stretches(execution: &Execution) -> Vec<BusyStretch> {
    let Some(first) = execution.steps.first() else {
        return Vec::new();
    };
    let codes: Vec<Vec<(usize, ClockCode)>> = execution.blocks.iter().map(clock_codes).collect();
    let (mut stretches, mut from, mut reads) = (Vec::new(), first.count.0, Vec::new());
    let mut end = |to: u64, reads: &mut Vec<u64>| {
        stretches.push(BusyStretch {
            counts: std::mem::replace(&mut from, to)..to,
            reads: std::mem::take(reads),
            points: Vec::new(),
        });
    };
    for (number, step) in execution.steps.iter().enumerate() {
        let span = execution.span(number);
        for (place, code) in &codes[step.block as usize] {
            let count = span.start + *place as u64;
            match code {
                _ if count >= span.end => break,
                ClockCode::Read => reads.push(count),
                ClockCode::Halt => end(count + 1, &mut reads),
            }
        }
    }
    end(execution.end.0, &mut reads);
    stretches
}

/// An instruction that has to do with the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClockCode {
    /// `rdtsc`, `rdtscp`; of arm64 `mrs xN, cntvct_el0`.
    Read,
    /// `hlt`, `wfi`: the CPU idles until an interrupt comes.
    Halt,
}

/// Those of a block of the kernel, by the instruction's number.
fn clock_codes(block: &Block) -> Vec<(usize, ClockCode)> {
    if block.address >> 63 == 0 {
        return Vec::new();
    }
    let mut at = 0;
    let code = |(number, length): (usize, &u8)| {
        let begin = at;
        at += usize::from(*length);
        let code = match block.code.get(begin..at)? {
            [0x0f, 0x31] | [0x0f, 0x01, 0xf9] | [0x40..=0x5f, 0xe0, 0x3b, 0xd5] => ClockCode::Read,
            [0xf4] | [0x7f, 0x20, 0x03, 0xd5] => ClockCode::Halt,
            _ => return None,
        };
        Some((number, code))
    };
    block.lengths.iter().enumerate().filter_map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_halts_of_arm64_are_known() {
        let words = [
            0xd53b_e055_u32, // mrs x21, cntvct_el0
            0xd53b_e001,     // mrs x1, cntfrq_el0
            0xd503_207f,     // wfi
            0xd503_205f,     // wfe
        ];
        let mut block = Block {
            address: 1 << 63,
            lengths: vec![4; words.len()],
            code: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
        };
        assert_eq!(clock_codes(&block), [(0, ClockCode::Read), (2, ClockCode::Halt)]);
        block.address = 0x40_0000;
        assert_eq!(clock_codes(&block), [], "of the user");
    }
}
