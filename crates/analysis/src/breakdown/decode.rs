//! What a breakdown needs of a block's machine code: how the block is left, and where it changes the interrupt
//! flag.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};
use worstcase_lab::execution::Block;

/// The place at which execution continues after the last instruction of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// To the next instruction.
    Next,
    /// To one of two places, or to the only one.
    Jump {
        /// The target, if the code tells.
        target: Option<u64>,
        /// Whether the next instruction is possible too.
        conditional: bool,
    },
    /// Into a function that comes back to the next instruction.
    Call,
    /// `ret`.
    Return,
    /// `iret`.
    InterruptReturn,
    /// `syscall` and its like: into the kernel.
    Syscall,
    /// `sysret`, `sysexit`: to user code.
    Sysret,
}

/// An instruction that changes the interrupt flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// `cli`.
    Off,
    /// `sti`.
    On,
    /// `popf`: the flag goes back to an earlier state.
    Restored,
}

/// A block, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Address of each instruction, and of the one behind the last.
    pub starts: Vec<u64>,
    /// The place at which execution continues after the last instruction.
    pub(crate) leave: Leave,
    /// Changes of the interrupt flag, by number of the instruction.
    pub(crate) flags: Vec<(usize, Flag)>,
    /// The CPU waits for an interrupt.
    pub halts: bool,
}

impl Decoded {
    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no instruction.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address behind its last instruction.
    pub fn end(&self) -> u64 {
        *self.starts.last().expect("there is always an end")
    }
}

/// Mnemonics with a meaning of their own here; `iced` knows calls, returns and jumps by itself.
const FLAGS: [(Mnemonic, Flag); 4] = [
    (Mnemonic::Cli, Flag::Off),
    (Mnemonic::Sti, Flag::On),
    (Mnemonic::Popf, Flag::Restored),
    (Mnemonic::Popfq, Flag::Restored),
];

/// Decodes a block.
pub fn decode(block: &Block) -> Decoded {
    let mut starts = vec![block.address];
    for length in &block.lengths {
        starts.push(starts[starts.len() - 1].wrapping_add(u64::from(*length)));
    }
    let mut decoded = Decoded {
        starts,
        leave: Leave::Next,
        flags: Vec::new(),
        halts: false,
    };
    let mut at = 0;
    for (number, length) in block.lengths.iter().enumerate() {
        let end = (at + usize::from(*length)).min(block.code.len());
        // Each instruction by the length that QEMU found, so that one unknown to the decoder costs only itself.
        let address = decoded.starts[number];
        let instruction = Decoder::with_ip(64, &block.code[at.min(end)..end], address, DecoderOptions::NONE).decode();
        at = end;
        let mnemonic = instruction.mnemonic();
        if let Some((_, flag)) = FLAGS.iter().find(|(m, _)| *m == mnemonic) {
            decoded.flags.push((number, *flag));
        }
        decoded.halts |= matches!(mnemonic, Mnemonic::Hlt | Mnemonic::Mwait);
        decoded.leave = leave(&instruction);
    }
    decoded
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
    use super::*;

    fn of(parts: &[&[u8]]) -> Decoded {
        decode(&Block {
            address: 0x1000,
            lengths: parts.iter().map(|p| p.len() as u8).collect(),
            code: parts.concat(),
        })
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
