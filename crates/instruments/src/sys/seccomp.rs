//! Filters of system calls: programs that the kernel runs before each call of a process.

use super::check;
use std::io;

/// Gives this process a filter of so many instructions, and one that allows, for good: it looks at the call's number, as
/// filters do, and allows every call.
pub(crate) fn install(instructions: u32) -> io::Result<()> {
    let instruction = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let mut program = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0); instructions as usize];
    program.push(instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: no pointer is passed.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    // SAFETY: the program is as long as it says, and the kernel copies it.
    let installed = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
    check(installed as libc::c_int)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::process::{self, Exit, Waited};
    use crate::sys::signal;

    #[test]
    fn a_process_with_a_filter_does_what_it_did() {
        for (instructions, code) in [(100, 0), (4096, 1)] {
            let child = process::fork(signal::SIGKILL, || i32::from(install(instructions).is_err())).unwrap();
            let ended = process::wait(child, true).unwrap();
            assert!(
                matches!(ended, Waited::Ended(_, Exit::Code(c)) if c == code),
                "{ended:?}"
            );
        }
    }
}
