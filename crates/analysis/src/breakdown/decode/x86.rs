//! x86-64.

use super::{Decoded, Flag, Leave};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};

/// Mnemonics with a meaning of their own here; `iced` knows calls, returns and jumps by itself.
const FLAGS: [(Mnemonic, Flag); 4] = [
    (Mnemonic::Cli, Flag::Off),
    (Mnemonic::Sti, Flag::On),
    (Mnemonic::Popf, Flag::Restored),
    (Mnemonic::Popfq, Flag::Restored),
];

/// Decodes a block's instructions.
pub(super) fn decode<'a>(codes: impl Iterator<Item = &'a [u8]>, decoded: &mut Decoded) {
    for (number, code) in codes.enumerate() {
        let instruction = Decoder::with_ip(64, code, decoded.starts[number], DecoderOptions::NONE).decode();
        let mnemonic = instruction.mnemonic();
        if let Some((_, flag)) = FLAGS.iter().find(|(m, _)| *m == mnemonic) {
            decoded.flags.push((number, *flag));
        }
        decoded.halts |= matches!(mnemonic, Mnemonic::Hlt | Mnemonic::Mwait);
        decoded.leave = leave(&instruction);
    }
}

fn leave(instruction: &Instruction) -> Leave {
    match instruction.mnemonic() {
        Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int => return Leave::Syscall,
        Mnemonic::Sysret | Mnemonic::Sysretq | Mnemonic::Sysexit | Mnemonic::Sysexitq => return Leave::Sysret,
        Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq => return Leave::InterruptReturn,
        _ => {}
    }
    let jump = |target, conditional| Leave::Jump { target, conditional };
    match instruction.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall => Leave::Call,
        FlowControl::Return => Leave::Return,
        FlowControl::UnconditionalBranch => jump(Some(instruction.near_branch_target()), false),
        FlowControl::ConditionalBranch => jump(Some(instruction.near_branch_target()), true),
        FlowControl::IndirectBranch => jump(None, false),
        _ => Leave::Next,
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;
    use worstcase_lab::execution::Block;
    use worstcase_plan::Arch;

    fn of(parts: &[&[u8]]) -> Decoded {
        decode(
            Arch::X86,
            &Block {
                address: 0x1000,
                lengths: parts.iter().map(|p| p.len() as u8).collect(),
                code: parts.concat(),
            },
        )
    }

    #[test]
    fn the_last_instruction_tells_how_a_block_is_left() {
        let jump = |target, conditional| Leave::Jump { target, conditional };
        for (code, leave) in [
            (&[0xe8, 0, 0, 0, 0][..], Leave::Call),
            (&[0xff, 0xd0], Leave::Call),
            (&[0xc3], Leave::Return),
            (&[0x48, 0xcf], Leave::InterruptReturn),
            (&[0x0f, 0x05], Leave::Syscall),
            (&[0x48, 0x0f, 0x07], Leave::Sysret),
            (&[0xeb, 0x0e], jump(Some(0x1011), false)),
            (&[0x74, 0x0e], jump(Some(0x1011), true)),
            (&[0xff, 0xe0], jump(None, false)),
            (&[0x90], Leave::Next),
        ] {
            assert_eq!(of(&[&[0x90], code]).leave, leave, "{code:x?}");
        }
    }

    #[test]
    fn changes_of_the_interrupt_flag_are_found_with_their_place() {
        let decoded = of(&[&[0xfa], &[0x90], &[0xfb], &[0x9d], &[0xf4]]);
        assert_eq!(decoded.flags, [(0, Flag::Off), (2, Flag::On), (3, Flag::Restored)]);
        assert!(decoded.halts);
        assert_eq!(decoded.end(), 0x1005);
    }

    #[test]
    fn code_that_cannot_be_decoded_costs_only_itself() {
        assert_eq!(of(&[&[0x06], &[0xc3]]).leave, Leave::Return);
    }
}
