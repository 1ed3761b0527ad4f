//! What one instruction is, of what is counted.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use worstcase_costs::CostEvent;

/// What is counted of an instruction each time it is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    /// Itself, if it is one of those that are counted.
    pub(super) event: Option<CostEvent>,
    /// How the next one is found.
    pub(super) way: Way,
    /// It is repeated.
    pub(super) string: Option<CountedBytes>,
    /// Addresses may lead elsewhere afterwards.
    pub(super) changes_addresses: bool,
}

/// How the instruction after one is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Way {
    /// It follows, or is one of two.
    #[default]
    Usual,
    /// By a call.
    Call,
    /// By a return.
    Return,
    /// By a jump or otherwise.
    Other,
}

/// Which bytes of a string instruction are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountedBytes {
    Written,
    /// It writes none.
    Read,
}

/// The meaning of an instruction's bytes.
pub(super) fn meaning(bytes: &[u8]) -> Meaning {
    let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
    let event = event(&instruction);
    let written_or_read = string(instruction.mnemonic());
    let is_repeated = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    Meaning {
        event,
        way: way(&instruction),
        string: written_or_read.filter(|_| is_repeated),
        changes_addresses: matches!(
            event,
            Some(CostEvent::PageTableLoad | CostEvent::PageInvalidation | CostEvent::ControlRegister)
        ),
    }
}

fn way(instruction: &Instruction) -> Way {
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::ConditionalBranch => Way::Usual,
        FlowControl::Call | FlowControl::IndirectCall if is_call(instruction) => Way::Call,
        FlowControl::Return if instruction.mnemonic() == Mnemonic::Ret => Way::Return,
        _ => Way::Other,
    }
}

/// `syscall` is one to the decoder, too.
fn is_call(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Call
}

fn string(mnemonic: Mnemonic) -> Option<CountedBytes> {
    use Mnemonic::{
        Cmpsb, Cmpsd, Cmpsq, Cmpsw, Lodsb, Lodsd, Lodsq, Lodsw, Movsb, Movsd, Movsq, Movsw, Scasb, Scasd, Scasq, Scasw,
        Stosb, Stosd, Stosq, Stosw,
    };
    match mnemonic {
        Movsb | Movsw | Movsd | Movsq | Stosb | Stosw | Stosd | Stosq => Some(CountedBytes::Written),
        Lodsb | Lodsw | Lodsd | Lodsq | Cmpsb | Cmpsw | Cmpsd | Cmpsq | Scasb | Scasw | Scasd | Scasq => {
            Some(CountedBytes::Read)
        }
        _ => None,
    }
}

fn event(instruction: &Instruction) -> Option<CostEvent> {
    use Mnemonic::{
        Clts, Cpuid, Div, Fxrstor, Fxrstor64, Fxsave, Fxsave64, Idiv, In, Insb, Insd, Insw, Invlpg, Invpcid, Iret,
        Iretd, Iretq, Lfence, Mfence, Mov, Out, Outsb, Outsd, Outsw, Rdmsr, Rdtsc, Rdtscp, Sfence, Syscall, Wrmsr,
        Xgetbv, Xrstor, Xrstor64, Xrstors, Xrstors64, Xsave, Xsave64, Xsavec, Xsavec64, Xsaveopt, Xsaveopt64, Xsaves,
        Xsaves64, Xsetbv,
    };
    Some(match instruction.mnemonic() {
        Syscall => CostEvent::SystemCall,
        Iret | Iretd | Iretq => CostEvent::InterruptReturn,
        Mov if instruction.op0_register() == Register::CR3 => CostEvent::PageTableLoad,
        Mov if instruction.op0_register().is_cr() || instruction.op1_register().is_cr() => CostEvent::ControlRegister,
        Clts | Xgetbv | Xsetbv => CostEvent::ControlRegister,
        Invlpg | Invpcid => CostEvent::PageInvalidation,
        Wrmsr => CostEvent::MsrWrite,
        Rdmsr => CostEvent::MsrRead,
        Mfence | Lfence | Sfence => CostEvent::Fence,
        Xsave | Xsave64 | Xsavec | Xsavec64 | Xsaveopt | Xsaveopt64 | Xsaves | Xsaves64 | Fxsave | Fxsave64
        | Xrstor | Xrstor64 | Xrstors | Xrstors64 | Fxrstor | Fxrstor64 => CostEvent::FpuState,
        Div | Idiv => CostEvent::Division,
        Cpuid => CostEvent::Cpuid,
        In | Out | Insb | Insw | Insd | Outsb | Outsw | Outsd => CostEvent::Port,
        Rdtsc | Rdtscp => CostEvent::Timestamp,
        _ if is_locked(instruction) => CostEvent::Locked,
        _ => return None,
    })
}

/// Whether it is locked on a machine of several CPUs. On a machine of one the kernel writes a prefix without a meaning in the
/// place of its own locks.
fn is_locked(instruction: &Instruction) -> bool {
    use Mnemonic::{
        Adc, Add, And, Btc, Btr, Bts, Cmpxchg, Cmpxchg8b, Cmpxchg16b, Dec, Inc, Neg, Not, Or, Sbb, Sub, Xadd, Xchg, Xor,
    };
    if instruction.op0_kind() != OpKind::Memory {
        return instruction.mnemonic() == Mnemonic::Xchg && instruction.op1_kind() == OpKind::Memory;
    }
    match instruction.mnemonic() {
        Xchg => true,
        Adc | Add | And | Btc | Btr | Bts | Cmpxchg | Cmpxchg8b | Cmpxchg16b | Dec | Inc | Neg | Not | Or | Sbb
        | Sub | Xadd | Xor => instruction.has_lock_prefix() || instruction.segment_prefix() == Register::DS,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_known_by_their_bytes() {
        use CostEvent::{
            ControlRegister, Cpuid, Division, Fence, FpuState, InterruptReturn, Locked, MsrRead, MsrWrite,
            PageInvalidation, PageTableLoad, Port, SystemCall, Timestamp,
        };
        for (bytes, expected) in [
            (&[0x0f, 0x05][..], Some(SystemCall)),                     // syscall
            (&[0x48, 0xcf], Some(InterruptReturn)),                    // iretq
            (&[0x0f, 0x22, 0xdf], Some(PageTableLoad)),                // mov cr3, rdi
            (&[0x0f, 0x20, 0xd8], Some(ControlRegister)),              // mov rax, cr3
            (&[0x0f, 0x20, 0xd0], Some(ControlRegister)),              // mov rax, cr2
            (&[0x0f, 0x22, 0xe7], Some(ControlRegister)),              // mov cr4, rdi
            (&[0x0f, 0x01, 0x3f], Some(PageInvalidation)),             // invlpg [rdi]
            (&[0x66, 0x0f, 0x38, 0x82, 0x07], Some(PageInvalidation)), // invpcid rax, [rdi]
            (&[0x0f, 0x30], Some(MsrWrite)),
            (&[0x0f, 0x32], Some(MsrRead)),
            (&[0x0f, 0xae, 0xf0], Some(Fence)),          // mfence
            (&[0x0f, 0xae, 0xe8], Some(Fence)),          // lfence
            (&[0x48, 0x0f, 0xae, 0x27], Some(FpuState)), // xsave64 [rdi]
            (&[0x48, 0x0f, 0xc7, 0x2f], Some(FpuState)), // xsaves64 [rdi]
            (&[0x48, 0x0f, 0xae, 0x0f], Some(FpuState)), // fxrstor64 [rdi]
            (&[0xf0, 0x0f, 0xb1, 0x17], Some(Locked)),   // lock cmpxchg [rdi], edx
            (&[0x3e, 0x0f, 0xb1, 0x17], Some(Locked)),   // the same on one CPU
            (&[0x3e, 0xff, 0x07], Some(Locked)),         // lock inc [rdi], on one CPU
            (&[0x87, 0x07], Some(Locked)),               // xchg [rdi], eax
            (&[0x48, 0xf7, 0xf6], Some(Division)),       // div rsi
            (&[0x0f, 0xa2], Some(Cpuid)),
            (&[0xec], Some(Port)),             // in al, dx
            (&[0xf3, 0x66, 0x6d], Some(Port)), // rep insw
            (&[0x0f, 0x31], Some(Timestamp)),
            (&[0x0f, 0x01, 0xf9], Some(Timestamp)), // rdtscp
            (&[0x0f, 0xb1, 0x17], None),            // cmpxchg [rdi], edx
            (&[0x65, 0xff, 0x07], None),            // inc gs:[rdi]
            (&[0x3e, 0xff, 0xe0], None),            // notrack jmp rax
            (&[0x3e, 0x8b, 0x07], None),            // mov eax, ds:[rdi]
            (&[0x93], None),                        // xchg ebx, eax
            (&[0x0f, 0xae, 0x3f], None),            // clflush [rdi]
            (&[0x0f, 0xae, 0x17], None),            // ldmxcsr [rdi]
        ] {
            assert_eq!(meaning(bytes).event, expected, "{bytes:x?}");
        }
    }

    #[test]
    fn string_instructions_are_counted_if_they_are_repeated() {
        use CountedBytes::{Read, Written};
        let string = |bytes: &[u8]| meaning(bytes).string;
        assert_eq!(string(&[0xf3, 0x48, 0xa5]), Some(Written)); // rep movsq
        assert_eq!(string(&[0xf3, 0xaa]), Some(Written)); // rep stosb
        assert_eq!(string(&[0xf2, 0xae]), Some(Read)); // repne scasb
        assert_eq!(string(&[0xaa]), None); // stosb
        assert_eq!(string(&[0xf3, 0x90]), None); // pause
        assert_eq!(string(&[0xf3, 0x0f, 0x10, 0x07]), None); // movss xmm0, [rdi]
    }

    #[test]
    fn calls_and_returns_are_told_apart_from_jumps() {
        let way = |bytes: &[u8]| meaning(bytes).way;
        assert_eq!(way(&[0xe8, 0, 0, 0, 0]), Way::Call);
        assert_eq!(way(&[0xff, 0xd0]), Way::Call); // call rax
        assert_eq!(way(&[0xc3]), Way::Return);
        assert_eq!(way(&[0xc2, 8, 0]), Way::Return); // ret 8
        assert_eq!([way(&[0xeb, 0]), way(&[0xff, 0xe0])], [Way::Other; 2]); // jmp
        assert_eq!([way(&[0x48, 0xcf]), way(&[0x0f, 0x05])], [Way::Other; 2]); // iretq, syscall
        assert_eq!([way(&[0x74, 0]), way(&[0x90])], [Way::Usual; 2]); // je, nop
    }

    #[test]
    fn what_may_lead_addresses_elsewhere() {
        assert!(meaning(&[0x0f, 0x22, 0xdf]).changes_addresses && meaning(&[0x0f, 0x01, 0x3f]).changes_addresses);
        assert!(!meaning(&[0x0f, 0x30]).changes_addresses);
    }
}
