//! Registers what instructions do that the census follows.

use super::meaning::Meaning;
use super::packed::PackedInstruction;
use super::state::lock;
use super::{own, pattern, steps};
use crate::api::{Block, Instruction};
use crate::count::Place;
use worstcase_logs::census::facts::Facts;

/// Registers a freshly translated block.
pub(crate) fn observe(block: &Block, instructions: &[Instruction], places: impl Iterator<Item = Place>) {
    let guard = lock();
    let (Some(census), Some(first)) = (guard.as_ref(), instructions.first()) else {
        return;
    };
    let facts = &census.facts;
    let decoded: Vec<_> = instructions
        .iter()
        .map(|i| pattern::decode(i.bytes(), i.vaddr()))
        .collect();
    own::observe(block, first.vaddr());
    if census.audit.is_some() && !is_entry(facts, first.vaddr()) {
        block.on_start::<steps::Audited>(first.vaddr());
    }
    for (i, (instruction, place)) in instructions.iter().zip(places).enumerate() {
        let at = PackedInstruction::new(instruction.vaddr(), place);
        let vaddr = instruction.vaddr();
        if is_entry(facts, vaddr) {
            instruction.on_start::<steps::Entry>(at.0);
        }
        if facts.schedule.contains(&vaddr) {
            instruction.on_start::<steps::Schedule>(at.0);
        }
        if facts.points.contains(&vaddr) {
            instruction.on_start::<steps::Point>(at.0);
        }
        register(instruction, pattern::meaning(&decoded[i..], facts), at, facts);
    }
}

fn is_entry(facts: &Facts, vaddr: u64) -> bool {
    facts.entries.contains(&vaddr) || facts.stubs.iter().any(|stubs| stubs.contains(&vaddr))
}

fn register(instruction: &Instruction, meaning: Option<Meaning>, at: PackedInstruction, facts: &Facts) {
    let vaddr = instruction.vaddr();
    let Some(meaning) = meaning else {
        return;
    };
    if vaddr >> 63 == 0 {
        return own::register_of_user(instruction, meaning, at);
    }
    match meaning {
        Meaning::InterruptsOff => instruction.on_start::<steps::InterruptsOff>(at.0),
        Meaning::Halts => instruction.on_start::<steps::Halts>(at.0),
        Meaning::WritesCount(8) => instruction.on_write::<steps::WritesLongCount>(at.0),
        Meaning::MayWriteCount(8) => instruction.on_write::<steps::MayWriteLongCount>(at.0),
        Meaning::MayWriteCount(_) => instruction.on_write::<steps::MayWriteCount>(at.0),
        Meaning::WritesCount(_) => instruction.on_write::<steps::WritesCount>(at.0),
        Meaning::ComparesCount(0) => instruction.on_start::<steps::Point>(at.0),
        Meaning::ComparesCount(1) => instruction.on_start::<steps::PointInLock>(at.0),
        Meaning::WritesCurrent => instruction.on_write::<steps::WritesCurrent>(at.0),
        Meaning::ReadsFlags if !facts.bystanders.iter().any(|range| range.contains(&vaddr)) => {
            instruction.on_read::<steps::ReadsFlags>(at.0);
        }
        own => own::register(instruction, own, at),
    }
}
