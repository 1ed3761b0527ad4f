//! Filters of system calls: installing one tries it on every call's number, under a lock that keeps interrupts off.

use std::convert::Infallible;
use std::io;

/// Starts processes that each install a filter of so many instructions.
pub(crate) fn run(instructions: u32) -> io::Result<Infallible> {
    let load = libc::sock_filter {
        code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
        jt: 0,
        jf: 0,
        k: 0,
    };
    let allow = libc::sock_filter {
        code: (libc::BPF_RET | libc::BPF_K) as u16,
        k: libc::SECCOMP_RET_ALLOW,
        ..load
    };
    let mut filter = vec![load; instructions as usize];
    filter.push(allow);
    loop {
        // SAFETY: the process has one thread.
        match unsafe { libc::fork() } {
            0 => {
                let done = install(&mut filter);
                // SAFETY: ends the child and runs nothing of the parent's.
                unsafe { libc::_exit(i32::from(done.is_err())) }
            }
            child if child < 0 => return Err(io::Error::last_os_error()),
            child => super::areas::ended_well(child, "install its filter")?,
        }
    }
}

fn install(filter: &mut [libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program is as long as it says, and the kernel copies it.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
    };
    match installed {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
