//! What a breakdown needs of a block's machine code: how the block is left, and where it changes the interrupt
//! flag.

mod a64;
mod x86;

use worstcase_lab::execution::Block;
use worstcase_plan::Arch;

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
    /// `iret`; `eret`, to user code too.
    InterruptReturn,
    /// `syscall` and its like, `svc`: into the kernel.
    Syscall,
    /// `sysret`, `sysexit`: to user code.
    Sysret,
}

/// An instruction that changes the interrupt flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// `cli`; `daifset`.
    Off,
    /// `sti`; `daifclr`.
    On,
    /// `popf`; `daif` from a register: the flag goes back to an earlier state.
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

/// Decodes a block of a machine's code.
pub fn decode(arch: Arch, block: &Block) -> Decoded {
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
    // Each instruction by the length that QEMU found, so that one unknown to the decoder costs only itself.
    let mut at = 0;
    let codes = block.lengths.iter().map(|length| {
        let from = at.min(block.code.len());
        at += usize::from(*length);
        &block.code[from..at.min(block.code.len())]
    });
    match arch {
        Arch::X86 => x86::decode(codes, &mut decoded),
        Arch::Arm64 => a64::decode(codes, &mut decoded),
    }
    decoded
}
