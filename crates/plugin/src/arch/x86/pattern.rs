//! What an instruction means for the census.

use super::meaning::Meaning;
use crate::arch::USER_END;
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use worstcase_logs::census::facts::Facts;

/// Instructions between reading a task's flags and testing them.
const REACH: usize = 6;

/// A block's instructions, decoded as 64-bit code.
pub fn decode(bytes: &[u8], address: u64) -> Instruction {
    Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode()
}

/// What the first of these instructions means; the others follow it in its block.
pub(crate) fn meaning(instructions: &[Instruction], facts: &Facts) -> Option<Meaning> {
    let (first, rest) = instructions.split_first()?;
    match first.mnemonic() {
        Mnemonic::Cli => Some(Meaning::InterruptsOff),
        Mnemonic::Sti => Some(Meaning::InterruptsOnLater),
        Mnemonic::Popf | Mnemonic::Popfq => Some(Meaning::LoadsFlags),
        Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq => Some(Meaning::Returns),
        Mnemonic::Syscall => Some(Meaning::SystemCall),
        Mnemonic::Sysret | Mnemonic::Sysretq => Some(Meaning::LeavesKernel),
        Mnemonic::Hlt | Mnemonic::Mwait => Some(Meaning::Halts),
        _ if names(first, facts.preempt_offset) => of_count(first),
        Mnemonic::Mov if names(first, facts.current_offset) && first.op0_kind() == OpKind::Memory => {
            Some(Meaning::WritesCurrent)
        }
        _ if may_write_count(first) => Some(Meaning::MayWriteCount(first.memory_size().size() as u8)),
        _ if polls(first, rest, facts) => Some(Meaning::ReadsFlags),
        _ => None,
    }
}

/// Whether the instruction's operand in memory is the CPU's own variable at this offset. A kernel without CONFIG_SMP has it
/// at that address, as any other.
fn names(instruction: &Instruction, offset: u64) -> bool {
    (instruction.memory_segment() == Register::GS || offset >= USER_END)
        && matches!(instruction.memory_base(), Register::None | Register::RIP)
        && instruction.memory_index() == Register::None
        && has_memory(instruction)
        && instruction.memory_displacement64() == offset
}

/// Whether it changes four or eight bytes relative to gs at an address that only shows when it runs.
fn may_write_count(instruction: &Instruction) -> bool {
    instruction.memory_segment() == Register::GS
        && instruction.op0_kind() == OpKind::Memory
        && !matches!(instruction.memory_base(), Register::None | Register::RIP)
        && !matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
        && matches!(instruction.memory_size().size(), 4 | 8)
}

fn has_memory(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|i| instruction.op_kind(i) == OpKind::Memory)
}

fn of_count(instruction: &Instruction) -> Option<Meaning> {
    let bytes = instruction.memory_size().size();
    match instruction.mnemonic() {
        Mnemonic::Cmp => immediate(instruction)
            .and_then(|v| u16::try_from(v).ok())
            .map(Meaning::ComparesCount),
        Mnemonic::Test => None,
        _ if instruction.op0_kind() == OpKind::Memory => u8::try_from(bytes).ok().map(Meaning::WritesCount),
        _ => None,
    }
}

/// Whether it reads a word at a pointer, and the bit that asks for rescheduling is looked at soon after.
fn polls(first: &Instruction, rest: &[Instruction], facts: &Facts) -> bool {
    let asks = facts.resched_mask & facts.resched_mask.wrapping_neg();
    let at_pointer = has_memory(first)
        && first.memory_displacement64() == 0
        && first.memory_index() == Register::None
        && !matches!(first.memory_base(), Register::None | Register::RIP)
        && !matches!(first.memory_segment(), Register::GS | Register::FS);
    if asks == 0 || !at_pointer {
        return false;
    }
    match first.mnemonic() {
        Mnemonic::Test => immediate(first).is_some_and(|mask| mask & asks != 0),
        Mnemonic::Bt => immediate(first).is_some_and(|bit| 1u64.checked_shl(bit as u32) == Some(asks)),
        Mnemonic::Mov if first.op0_kind() == OpKind::Register => {
            let register = first.op0_register().full_register();
            let tests = |i: &Instruction| match i.mnemonic() {
                Mnemonic::Test | Mnemonic::And => immediate(i).is_some_and(|mask| mask & asks != 0),
                Mnemonic::Bt => immediate(i).is_some_and(|bit| 1u64.checked_shl(bit as u32) == Some(asks)),
                Mnemonic::Shr => immediate(i).is_some_and(|bit| 1u64.checked_shl(bit as u32) == Some(asks)),
                _ => false,
            };
            rest.iter()
                .take(REACH)
                .any(|i| i.op0_kind() == OpKind::Register && i.op0_register().full_register() == register && tests(i))
        }
        _ => false,
    }
}

fn immediate(instruction: &Instruction) -> Option<u64> {
    (0..instruction.op_count())
        .find(|&i| {
            !matches!(
                instruction.op_kind(i),
                OpKind::Register | OpKind::Memory | OpKind::NearBranch64 | OpKind::NearBranch32
            )
        })
        .and_then(|i| instruction.try_immediate(i).ok())
        .filter(|_| instruction.code() != Code::INVALID)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            preempt_offset: 0x1f948,
            current_offset: 0x1f940,
            resched_mask: 8,
            ..Facts::default()
        }
    }

    fn of(blocks: &[&[u8]]) -> Option<Meaning> {
        let mut address = 0xffff_ffff_8100_0000;
        let decoded: Vec<Instruction> = blocks
            .iter()
            .map(|bytes| {
                let instruction = decode(bytes, address);
                address += bytes.len() as u64;
                instruction
            })
            .collect();
        meaning(&decoded, &facts())
    }

    #[test]
    fn what_changes_the_interrupt_flag() {
        assert_eq!(of(&[&[0xfa]]), Some(Meaning::InterruptsOff));
        assert_eq!(of(&[&[0xfb]]), Some(Meaning::InterruptsOnLater));
        assert_eq!(of(&[&[0x9d]]), Some(Meaning::LoadsFlags));
        assert_eq!(of(&[&[0x48, 0xcf]]), Some(Meaning::Returns));
        assert_eq!(of(&[&[0x0f, 0x05]]), Some(Meaning::SystemCall));
        assert_eq!(of(&[&[0x48, 0x0f, 0x07]]), Some(Meaning::LeavesKernel));
        assert_eq!(of(&[&[0xf4]]), Some(Meaning::Halts));
        assert_eq!(of(&[&[0x90]]), None);
    }

    #[test]
    fn the_kernels_count() {
        // incl %gs:0x1f948, absolute and relative to the instruction's end at 0xffffffff81000008.
        let incl = [0x65, 0xff, 0x04, 0x25, 0x48, 0xf9, 0x01, 0x00];
        assert_eq!(of(&[&incl]), Some(Meaning::WritesCount(4)));
        let relative = [0x65, 0xff, 0x05, 0x41, 0xf9, 0x01, 0x7f];
        assert_eq!(of(&[&relative]), Some(Meaning::WritesCount(4)));
        let other = [0x65, 0xff, 0x04, 0x25, 0x49, 0xf9, 0x01, 0x00];
        assert_eq!(of(&[&other]), None);
        // incl %gs:0(%rbp)
        assert_eq!(of(&[&[0x65, 0xff, 0x45, 0x00]]), Some(Meaning::MayWriteCount(4)));
        // mov %gs:0x1f948,%eax reads it; cmpl $0x201,%gs:0x1f948 does not fit a byte, cmpl $1 does.
        let read = [0x65, 0x8b, 0x04, 0x25, 0x48, 0xf9, 0x01, 0x00];
        assert_eq!(of(&[&read]), None);
        let cmp = [0x65, 0x83, 0x3c, 0x25, 0x48, 0xf9, 0x01, 0x00, 0x01];
        assert_eq!(of(&[&cmp]), Some(Meaning::ComparesCount(1)));
    }

    #[test]
    fn without_smp_both_are_where_their_symbols_say() {
        let facts = Facts {
            preempt_offset: 0xffff_ffff_8200_0000,
            current_offset: 0xffff_ffff_8200_0008,
            ..facts()
        };
        let of = |bytes: &[u8]| meaning(&[decode(bytes, 0xffff_ffff_8100_0001)], &facts);
        // incl and decl of the count, absolute and relative; mov %rsi to the pointer, and from it.
        assert_eq!(of(&[0xff, 0x04, 0x25, 0, 0, 0, 0x82]), Some(Meaning::WritesCount(4)));
        assert_eq!(of(&[0xff, 0x0d, 0xf9, 0xff, 0xff, 0]), Some(Meaning::WritesCount(4)));
        assert_eq!(
            of(&[0x48, 0x89, 0x34, 0x25, 8, 0, 0, 0x82]),
            Some(Meaning::WritesCurrent)
        );
        assert_eq!(of(&[0x48, 0x8b, 0x34, 0x25, 8, 0, 0, 0x82]), None);
    }

    #[test]
    fn the_pointer_to_the_current_task() {
        // mov %rsi,%gs:0x1f940 and the other way round
        let store = [0x65, 0x48, 0x89, 0x34, 0x25, 0x40, 0xf9, 0x01, 0x00];
        assert_eq!(of(&[&store]), Some(Meaning::WritesCurrent));
        let load = [0x65, 0x48, 0x8b, 0x34, 0x25, 0x40, 0xf9, 0x01, 0x00];
        assert_eq!(of(&[&load]), None);
    }

    #[test]
    fn polls_of_the_flags() {
        // testb $8,(%rax)
        assert_eq!(of(&[&[0xf6, 0x00, 0x08]]), Some(Meaning::ReadsFlags));
        assert_eq!(of(&[&[0xf6, 0x00, 0x04]]), None);
        assert_eq!(of(&[&[0xf6, 0x40, 0x08, 0x08]]), None);
        // mov (%rax),%rdx; test $8,%dl
        let load = [0x48, 0x8b, 0x10];
        assert_eq!(of(&[&load, &[0xf6, 0xc2, 0x08]]), Some(Meaning::ReadsFlags));
        assert_eq!(of(&[&load, &[0x90], &[0xf6, 0xc2, 0x08]]), Some(Meaning::ReadsFlags));
        assert_eq!(of(&[&load, &[0xf6, 0xc1, 0x08]]), None);
        assert_eq!(of(&[&load]), None);
    }
}
