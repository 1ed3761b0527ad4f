//! Processes with many areas of memory, which all go when the process ends.

use std::convert::Infallible;
use std::io;

const PAGE: usize = 4096;

/// Ends processes of so many areas each, one after the other.
pub(crate) fn run(areas: u32) -> io::Result<Infallible> {
    loop {
        // SAFETY: the process has one thread.
        match unsafe { libc::fork() } {
            0 => {
                let done = map(areas as usize);
                // SAFETY: ends the child and runs nothing of the parent's.
                unsafe { libc::_exit(i32::from(done.is_err())) }
            }
            child if child < 0 => return Err(io::Error::last_os_error()),
            child => ended_well(child, "map its areas")?,
        }
    }
}

/// Every second page may be written, so that no two are one area.
fn map(areas: usize) -> io::Result<()> {
    let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping, used by nothing else.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), areas * PAGE, libc::PROT_NONE, anonymous, -1, 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    for area in (0..areas).step_by(2) {
        // SAFETY: within the mapping.
        let changed = unsafe { libc::mprotect(base.byte_add(area * PAGE), PAGE, libc::PROT_READ | libc::PROT_WRITE) };
        if changed != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Waits for a child that was to do something.
pub(crate) fn ended_well(child: libc::pid_t, what: &str) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    match unsafe { libc::waitpid(child, &raw mut status, 0) } {
        pid if pid == child && status == 0 => Ok(()),
        pid if pid == child => Err(io::Error::other(format!("a process could not {what}"))),
        _ => Err(io::Error::last_os_error()),
    }
}
