//! A BPF program that runs once a call (BPF_PROG_TYPE_SYSCALL, Linux 5.14) and copies kernel memory into its argument.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bytes that one run copies.
const COPIED: usize = 64;
const WORDS: usize = COPIED / 8;

/// From <linux/bpf.h>.
const PROG_LOAD: libc::c_long = 5;
const PROG_TEST_RUN: libc::c_long = 10;
const TYPE_SYSCALL: u32 = 31;
const SLEEPABLE: u32 = 1 << 4;
const PROBE_READ_KERNEL: i32 = 113;
const LICENSE: &std::ffi::CStr = c"GPL";

/// The loaded program; unloaded when dropped.
#[derive(Debug)]
pub(super) struct CopyProgram(OwnedFd);

/// What the program is given: the address, and room for its memory.
#[repr(C)]
struct CopyArgument {
    address: u64,
    memory: [u64; WORDS],
}

/// The part of `union bpf_attr` that loads a program.
#[repr(C)]
#[derive(Default)]
struct LoadAttributes {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
}

/// The part of `union bpf_attr` that runs one.
#[repr(C)]
#[derive(Default)]
struct RunAttributes {
    program: u32,
    returned: u32,
    data_sizes: [u32; 2],
    data: [u64; 2],
    repeat: u32,
    duration: u32,
    argument_size: u32,
    argument_out_size: u32,
    argument: u64,
    argument_out: u64,
    flags: u32,
    cpu: u32,
}

/// An instruction: operation, registers (source and target), offset, number.
const fn instruction(operation: u8, source: u8, target: u8, offset: i16, number: i32) -> u64 {
    operation as u64
        | (target as u64) << 8
        | (source as u64) << 12
        | (offset as u16 as u64) << 16
        | (number as u32 as u64) << 32
}

/// Register 10 is the stack's end; 1 to 3 are arguments, 6 outlives calls.
fn program() -> Vec<u64> {
    const COPY: u8 = 0xbf;
    const ADD: u8 = 0x07;
    const SET: u8 = 0xb7;
    const LOAD: u8 = 0x79;
    const STORE: u8 = 0x7b;
    let mut code = vec![
        instruction(COPY, 1, 6, 0, 0),
        instruction(LOAD, 1, 3, 0, 0),
        instruction(COPY, 10, 1, 0, 0),
        instruction(ADD, 0, 1, 0, -(COPIED as i32)),
        instruction(SET, 0, 2, 0, COPIED as i32),
        instruction(0x85, 0, 0, 0, PROBE_READ_KERNEL),
    ];
    for word in 0..WORDS as i16 {
        code.push(instruction(LOAD, 10, 1, word * 8 - COPIED as i16, 0));
        code.push(instruction(STORE, 1, 6, word * 8 + 8, 0));
    }
    // The program returns what the call returned.
    code.push(instruction(0x95, 0, 0, 0, 0));
    code
}

impl CopyProgram {
    pub(super) fn load() -> io::Result<CopyProgram> {
        let code = program();
        let mut attributes = LoadAttributes {
            kind: TYPE_SYSCALL,
            count: code.len() as u32,
            instructions: code.as_ptr() as u64,
            license: LICENSE.as_ptr() as u64,
            flags: SLEEPABLE,
            ..LoadAttributes::default()
        };
        // SAFETY: `attributes` is the beginning of a bpf_attr, and what it points to lives until the call returns.
        let fd = unsafe { bpf(PROG_LOAD, &mut attributes) }?;
        // SAFETY: the descriptor was just made and belongs to nobody else.
        Ok(CopyProgram(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    pub(super) fn read(&self, address: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length + COPIED);
        while bytes.len() < length {
            bytes.extend(self.copy(address + bytes.len() as u64)?);
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    fn copy(&self, address: u64) -> io::Result<[u8; COPIED]> {
        let mut argument = CopyArgument {
            address,
            memory: [0; WORDS],
        };
        let mut attributes = RunAttributes {
            program: self.0.as_raw_fd() as u32,
            argument_size: size_of::<CopyArgument>() as u32,
            argument: &raw mut argument as u64,
            ..RunAttributes::default()
        };
        // SAFETY: `attributes` is the beginning of a bpf_attr; the kernel copies the argument in and out, of the stated size.
        unsafe { bpf(PROG_TEST_RUN, &mut attributes) }?;
        match attributes.returned {
            0 => Ok(std::array::from_fn(|at| argument.memory[at / 8].to_ne_bytes()[at % 8])),
            error => Err(io::Error::from_raw_os_error((error as i32).wrapping_neg())),
        }
    }
}

/// # Safety
/// `attributes` must be the beginning of a bpf_attr that is valid for the command.
unsafe fn bpf<T>(command: libc::c_long, attributes: &mut T) -> io::Result<i32> {
    // SAFETY: the caller's promise.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, &raw mut *attributes, size_of::<T>()) };
    match result {
        0.. => Ok(result as i32),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_copies_what_the_kernel_holds() {
        worstcase_skips::needs_root!();
        let program = match CopyProgram::load() {
            Ok(program) => program,
            // Before 5.14, without BPF, or forbidden: then /proc/kcore is the way.
            Err(e) => return println!("no BPF here: {e}"),
        };
        let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap();
        let halt = symbols.lines().find(|line| line.ends_with("native_safe_halt")).unwrap();
        let address = u64::from_str_radix(halt.split(' ').next().unwrap(), 16).unwrap();
        let code = program.read(address, 100).unwrap();
        assert!(code.windows(2).any(|pair| pair == [0xfb, 0xf4]), "sti, hlt: {code:x?}");
        assert!(program.read(8, 8).is_err());
    }
}
