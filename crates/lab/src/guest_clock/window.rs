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
    /// `rdtsc`, `rdtscp`.
    Read,
    /// `hlt`: the CPU idles until an interrupt comes.
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
            [0x0f, 0x31] | [0x0f, 0x01, 0xf9] => ClockCode::Read,
            [0xf4] => ClockCode::Halt,
            _ => return None,
        };
        Some((number, code))
    };
    block.lengths.iter().enumerate().filter_map(code).collect()
}
