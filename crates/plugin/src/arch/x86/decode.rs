//! What is to be known of an instruction.
//!
//! The plugin interface does not tell the CPU's mode, so everything is decoded as 64-bit code.

use iced_x86::{Decoder, DecoderError, DecoderOptions, InstructionInfoFactory, Mnemonic, OpAccess, Register};
use std::cell::RefCell;

thread_local! {
    // Made once: the factory keeps its buffers between the hundreds of thousands of uses of a boot.
    static INFO: RefCell<InstructionInfoFactory> = RefCell::new(InstructionInfoFactory::new());
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_beginning_of_an_instruction() {
        assert!(is_cut_short(&[0xe8]) && is_cut_short(&[0x48, 0x8b, 0x80]));
        assert!(!is_cut_short(&[0xc3]) && !is_cut_short(&[0x48, 0x89, 0x03]));
    }
}
