//! What an instruction means for counting: can it leave its block before it is complete, and if it accesses
//! memory, which access completes it.
//!
//! The plugin interface does not tell the CPU's mode, so everything is decoded as 64-bit code. Boot code in other
//! modes mostly decodes alike; where the length differs from QEMU's the instruction is taken as opaque, which
//! costs an addition and is only inexact if it is a block's last and faults.

use iced_x86::{
    CpuidFeature, Decoder, DecoderError, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register,
};
use std::cell::RefCell;

/// Which memory access of an instruction completes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its only access.
    Only,
    /// Its only write, which follows a read.
    Write,
}

/// What an instruction means for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Neither faults nor touches a device: when it starts it completes.
    Stays,
    /// Can be left before it is complete; `completes` is the one access after which it cannot fail any more, if
    /// QEMU makes exactly one such access for it.
    MayLeave {
        /// The access that completes it.
        completes: Option<Access>,
    },
}

const OPAQUE: Class = Class::MayLeave { completes: None };

thread_local! {
    // Made once: the factory keeps its buffers between the hundreds of thousands of uses of a boot.
    static INFO: RefCell<InstructionInfoFactory> = RefCell::new(InstructionInfoFactory::new());
}

/// Classifies the instruction with these bytes.
pub(crate) fn classify(bytes: &[u8]) -> Class {
    let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
    if instruction.is_invalid() || instruction.len() != bytes.len() {
        return OPAQUE;
    }
    let (reads, writes, other) = accesses(&instruction);
    if reads + writes + other > 0 {
        let completes = match (reads, writes, other) {
            _ if !one_access_each(&instruction) => None,
            (1, 0, 0) | (0, 1, 0) => Some(Access::Only),
            (1, 1, 0) => Some(Access::Write),
            _ => None,
        };
        return Class::MayLeave { completes };
    }
    if stays(&instruction) { Class::Stays } else { OPAQUE }
}

/// How many words of 16 bits an instruction fetches from a port each time it starts, if it is INS and fetches more than a byte.
pub(crate) fn words_from_port(bytes: &[u8]) -> Option<u64> {
    const INS: u8 = 0x6d;
    if bytes.last() != Some(&INS) {
        return None;
    }
    match Decoder::new(64, bytes, DecoderOptions::NONE).decode().mnemonic() {
        Mnemonic::Insw => Some(1),
        Mnemonic::Insd => Some(2),
        _ => None,
    }
}

/// Whether an instruction writes where one of its registers points, and neither to the stack nor to the CPU's own memory.
pub(crate) fn writes_to_pointer(bytes: &[u8]) -> bool {
    let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
    INFO.with_borrow_mut(|factory| {
        let mut written = factory.info(&instruction).used_memory().iter().filter(|memory| {
            let writes = matches!(
                memory.access(),
                OpAccess::Write | OpAccess::ReadWrite | OpAccess::CondWrite | OpAccess::ReadCondWrite
            );
            writes && !matches!(memory.base(), Register::None | Register::RSP | Register::RIP)
        });
        written.any(|memory| !matches!(memory.segment(), Register::GS | Register::FS))
    })
}

/// Whether an instruction stores a zero in the byte that a register points to, as unlocking does.
pub(crate) fn clears_byte(bytes: &[u8]) -> bool {
    // mov byte [register], 0
    matches!(bytes, [0xc6, modrm, .., 0] | [0x41, 0xc6, modrm, .., 0] if modrm >> 3 & 7 == 0)
        && writes_to_pointer(bytes)
}

/// Whether these bytes are only the beginning of an instruction.
#[cfg_attr(feature = "api-v4", allow(dead_code, reason = "only QEMU 7.2 lists such"))]
pub(crate) fn is_cut_short(bytes: &[u8]) -> bool {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    decoder.decode().is_invalid() && decoder.last_error() == DecoderError::NoMoreBytes
}

/// Numbers of reads, of writes, and of accesses of which one cannot say.
fn accesses(instruction: &Instruction) -> (u32, u32, u32) {
    INFO.with_borrow_mut(|factory| {
        let (mut reads, mut writes, mut other) = (0, 0, 0);
        for memory in factory.info(instruction).used_memory() {
            match memory.access() {
                OpAccess::None | OpAccess::NoMemAccess => {}
                OpAccess::Read => reads += 1,
                OpAccess::Write => writes += 1,
                OpAccess::ReadWrite => {
                    reads += 1;
                    writes += 1;
                }
                _ => other += 1,
            }
        }
        (reads, writes, other)
    })
}

/// Whether QEMU makes one access for each that the manual names, in the manual's order, and nothing that can
/// fail after them. Strings, vectors, far transfers and segment loads are more than that.
fn one_access_each(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let plain = matches!(
        instruction.mnemonic(),
        Mov | Movzx
            | Movsx
            | Movsxd
            | Add
            | Or
            | Adc
            | Sbb
            | And
            | Sub
            | Xor
            | Cmp
            | Test
            | Inc
            | Dec
            | Not
            | Neg
            | Push
            | Pop
            | Call
            | Ret
            | Jmp
            | Leave
    );
    let far = instruction.is_call_far() || instruction.is_call_far_indirect() || instruction.is_jmp_far_indirect();
    plain && !far && !names_special_register(instruction)
}

/// Whether a segment, control or debug register is an operand.
fn names_special_register(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|i| {
        let register = instruction.op_register(i);
        instruction.op_kind(i) == OpKind::Register
            && (register.is_segment_register() || register.is_cr() || register.is_dr() || register.is_tr())
    })
}

/// Whether an instruction without memory accesses always completes. A list of what is known to: an instruction
/// that is missing here costs one more addition, one that is wrongly here costs exactness.
fn stays(instruction: &Instruction) -> bool {
    use CpuidFeature::*;
    let known = instruction.cpuid_features().iter().all(|feature| {
        matches!(
            feature,
            INTEL8086
                | INTEL186
                | INTEL286
                | INTEL386
                | INTEL486
                | X64
                | CMOV
                | MULTIBYTENOP
                | POPCNT
                | LZCNT
                | BMI1
                | BMI2
                | ADX
                | CET_IBT
        )
    });
    let may_fault = matches!(
        instruction.mnemonic(),
        Mnemonic::Div | Mnemonic::Idiv | Mnemonic::Aam | Mnemonic::Into | Mnemonic::Popf | Mnemonic::Popfq
    );
    known
        && !may_fault
        && instruction.flow_control() == FlowControl::Next
        && !instruction.is_privileged()
        && !names_special_register(instruction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completes(access: Access) -> Class {
        Class::MayLeave {
            completes: Some(access),
        }
    }

    #[test]
    fn words_that_come_from_a_port() {
        assert_eq!(words_from_port(&[0x6d]), Some(2));
        assert_eq!(words_from_port(&[0xf3, 0x6d]), Some(2));
        assert_eq!(words_from_port(&[0xf3, 0x66, 0x6d]), Some(1));
        assert_eq!(words_from_port(&[0xf3, 0x6c]), None); // insb
        assert_eq!(words_from_port(&[0xb0, 0x6d]), None); // mov al, 0x6d
    }

    #[test]
    fn writes_to_locks() {
        for bytes in [
            &[0xf0, 0x0f, 0xb1, 0x17][..], // lock cmpxchg [rdi], edx
            &[0xc6, 0x07, 0x00],           // mov byte [rdi], 0
            &[0xf0, 0x0f, 0xc1, 0x03],     // lock xadd [rbx], eax
        ] {
            assert!(writes_to_pointer(bytes), "{bytes:x?}");
        }
        for bytes in [
            &[0x65, 0xff, 0x04, 0x25, 0, 0, 0, 0][..], // inc dword gs:[0]
            &[0x53],                                   // push rbx
            &[0x8b, 0x07],                             // mov eax, [rdi]
            &[0x89, 0x44, 0x24, 0x08],                 // mov [rsp+8], eax
        ] {
            assert!(!writes_to_pointer(bytes), "{bytes:x?}");
        }
        assert!(clears_byte(&[0xc6, 0x07, 0x00]) && clears_byte(&[0x41, 0xc6, 0x44, 0x24, 0x10, 0x00]));
        assert!(!clears_byte(&[0xc6, 0x07, 0x01]) && !clears_byte(&[0x88, 0x07]));
    }

    #[test]
    fn register_work_stays() {
        for bytes in [
            &[0x48, 0x89, 0xd8][..],                     // mov rax, rbx
            &[0x48, 0x8d, 0x04, 0x18],                   // lea rax, [rax+rbx]
            &[0x0f, 0x1f, 0x80, 0x02, 0x4d, 0x43, 0x57], // nopl 0x57434d02(%rax): a mark
            &[0xf3, 0x0f, 0x1e, 0xfa],                   // endbr64
            &[0x48, 0x0f, 0x44, 0xc3],                   // cmove rax, rbx
            &[0x90],                                     // nop
        ] {
            assert_eq!(classify(bytes), Class::Stays, "{bytes:x?}");
        }
    }

    #[test]
    fn one_access_completes() {
        for (bytes, access) in [
            (&[0x48, 0x8b, 0x03][..], Access::Only),    // mov rax, [rbx]
            (&[0x48, 0x39, 0x03], Access::Only),        // cmp [rbx], rax
            (&[0xc3], Access::Only),                    // ret
            (&[0xff, 0x23], Access::Only),              // jmp [rbx]
            (&[0x48, 0x89, 0x03], Access::Only),        // mov [rbx], rax
            (&[0x48, 0x01, 0x03], Access::Write),       // add [rbx], rax
            (&[0xf0, 0x48, 0x01, 0x03], Access::Write), // lock add [rbx], rax
            (&[0xe8, 0, 0, 0, 0], Access::Only),        // call
            (&[0xff, 0x13], Access::Write),             // call [rbx]
            (&[0x53], Access::Only),                    // push rbx
            (&[0xff, 0x33], Access::Write),             // push [rbx]
            (&[0x8f, 0x03], Access::Write),             // pop [rbx]
            (&[0xc9], Access::Only),                    // leave
        ] {
            assert_eq!(classify(bytes), completes(access), "{bytes:x?}");
        }
    }

    #[test]
    fn the_beginning_of_an_instruction() {
        assert!(is_cut_short(&[0xe8]) && is_cut_short(&[0x48, 0x8b, 0x80]));
        assert!(!is_cut_short(&[0xc3]) && !is_cut_short(&[0x48, 0x89, 0x03]));
    }

    #[test]
    fn the_rest_is_opaque() {
        for bytes in [
            &[0xf3, 0x48, 0xa5][..], // rep movsq
            &[0xa4],                 // movsb
            &[0x48, 0xcf],           // iretq
            &[0x0f, 0x10, 0x03],     // movups xmm0, [rbx]
            &[0x48, 0xf7, 0xf3],     // div rbx
            &[0x0f, 0x32],           // rdmsr
            &[0x0f, 0x31],           // rdtsc
            &[0x8e, 0xd8],           // mov ds, eax
            &[0xec],                 // in al, dx
            &[0x0f, 0x0b],           // ud2
            &[0xfa],                 // cli
            &[0x06],                 // push es, no 64-bit instruction
            &[0x48],                 // cut short
        ] {
            assert_eq!(classify(bytes), OPAQUE, "{bytes:x?}");
        }
    }
}
