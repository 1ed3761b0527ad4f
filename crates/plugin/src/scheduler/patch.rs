//! Replaces functions of QEMU's in this process: a jump is written over their first bytes. Where what was replaced is still to be
//! called, these bytes are copied before, and a jump to the rest follows them.

use iced_x86::{Decoder, DecoderOptions, FlowControl};
use std::ffi::c_void;

/// `movabs r11, ADDRESS; jmp r11`.
const LENGTH: usize = 13;
const PAGE: usize = 4096;

fn jump_to(address: u64) -> [u8; LENGTH] {
    let mut jump = [0; LENGTH];
    jump[..2].copy_from_slice(&[0x49, 0xbb]);
    jump[2..10].copy_from_slice(&address.to_le_bytes());
    jump[10..].copy_from_slice(&[0x41, 0xff, 0xe3]);
    jump
}

/// Code that does what `function` does, also when that has been replaced; none if its first instructions cannot be moved.
///
/// # Safety
/// `function` is QEMU's, and at least 64 bytes of code follow its address.
pub(crate) unsafe fn copy(function: *mut c_void) -> Result<Option<*mut c_void>, String> {
    // SAFETY: the caller's promise.
    let code = unsafe { function.cast::<[u8; 64]>().read_unaligned() };
    let Some(head) = head(&code) else {
        return Ok(None);
    };
    let jump = jump_to(function as u64 + head as u64);
    // SAFETY: a fresh page, larger than both; it is executable only when they are written.
    let page = unsafe {
        let page = libc::mmap(
            std::ptr::null_mut(),
            PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if page == libc::MAP_FAILED {
            return Err(format!("no memory: {}", std::io::Error::last_os_error()));
        }
        let at = page.cast::<u8>();
        at.copy_from_nonoverlapping(code.as_ptr(), head);
        at.add(head).copy_from_nonoverlapping(jump.as_ptr(), LENGTH);
        if libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_EXEC) != 0 {
            return Err(format!(
                "cannot run a copy of QEMU's code: {}",
                std::io::Error::last_os_error()
            ));
        }
        page
    };
    Ok(Some(page))
}

/// The length of the instructions that a jump would be written over, if they do the same elsewhere.
fn head(code: &[u8]) -> Option<usize> {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    while decoder.position() < LENGTH {
        let instruction = decoder.decode();
        let has_address = instruction.is_ip_rel_memory_operand() || instruction.flow_control() != FlowControl::Next;
        if instruction.is_invalid() || has_address {
            return None;
        }
    }
    Some(decoder.position())
}

/// From now on a call of `function` is a call of `instead`.
///
/// # Safety
/// Both have the same form; `function` is at least 13 bytes long, and no thread is in its first 13 bytes.
pub(crate) unsafe fn replace(function: *mut c_void, instead: *const c_void) -> Result<(), String> {
    let start = function as usize & !(PAGE - 1);
    let length = (function as usize + LENGTH).next_multiple_of(PAGE) - start;
    let protect = |protection| {
        // SAFETY: whole pages of QEMU's code, which stay executable.
        match unsafe { libc::mprotect(start as *mut c_void, length, protection) } {
            0 => Ok(()),
            _ => Err(format!(
                "cannot change QEMU's code in memory: {}; allow it to map memory that it writes and executes",
                std::io::Error::last_os_error()
            )),
        }
    };
    protect(libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
    // SAFETY: the caller's promise, and the pages are writable now.
    unsafe {
        function.cast::<[u8; LENGTH]>().write_unaligned(jump_to(instead as u64));
    }
    protect(libc::PROT_READ | libc::PROT_EXEC)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cpu_exec` of Ubuntu's QEMU 8.2 for arm64.
    const HEAD: [u8; 14] = [
        0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x66, 0x0f, 0xef, 0xc0, 0x48, 0x89, 0xe5, 0x41, 0x56,
    ];

    #[test]
    fn whole_instructions_are_moved_and_no_address() {
        let lea = [0x4c, 0x8d, 0x35, 0x4c, 0x81, 0x29, 0x00];
        let jump = [0xeb, 0x00];
        assert_eq!(head(&[&HEAD[..], &lea].concat()), Some(14));
        assert_eq!(head(&HEAD), Some(14));
        assert_eq!(head(&HEAD[..12]), None);
        assert_eq!(head(&[&HEAD[..12], &lea].concat()), None);
        assert_eq!(head(&[&HEAD[..12], &jump].concat()), None);
    }

    /// Calls the copy while the function itself is another.
    #[test]
    fn a_copy_does_what_was_replaced() {
        // endbr64; push %rbp; mov %rsp,%rbp; xor %eax,%eax; push %r12; push %r13; mov $7,%eax; pop %r13; pop %r12; pop %rbp; ret
        let code: [u8; 27] = [
            0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0x41, 0x54, 0x41, 0x55, 0xb8, 7, 0, 0, 0, 0x41,
            0x5d, 0x41, 0x5c, 0x5d, 0xc3, 0x90, 0x90,
        ];
        extern "C" fn eleven() -> i32 {
            11
        }
        let layout = std::alloc::Layout::from_size_align(PAGE, PAGE).unwrap();
        // SAFETY: a page of its own, which stays, with a function in it, in which no thread is.
        unsafe {
            let page = std::alloc::alloc(layout).cast::<c_void>();
            page.cast::<u8>().copy_from_nonoverlapping(code.as_ptr(), code.len());
            let copied = copy(page).unwrap().unwrap();
            replace(page, eleven as *const c_void).unwrap();
            let call = |at: *mut c_void| std::mem::transmute::<*mut c_void, extern "C" fn() -> i32>(at)();
            assert_eq!((call(page), call(copied)), (11, 7));
        }
    }
}
