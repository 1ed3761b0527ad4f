//! System calls that take long because they work on much memory: each page is there, and is freed again.

use std::convert::Infallible;
use std::io;
use std::ptr::null_mut;

/// Makes and removes so many MiB, again and again.
pub(crate) fn run(mebibytes: usize) -> io::Result<Infallible> {
    let length = mebibytes << 20;
    let succeeds = |result: libc::c_int| match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    loop {
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
        );
        for discards in [true, false] {
            // SAFETY: new memory, which only this loop knows and none reads or writes.
            let memory = unsafe { libc::mmap(null_mut(), length, protection, flags, -1, 0) };
            if memory == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: the memory that was just mapped.
            unsafe {
                succeeds(libc::mprotect(memory, length, libc::PROT_READ))?;
                if discards {
                    succeeds(libc::madvise(memory, length, libc::MADV_DONTNEED))?;
                }
                succeeds(libc::munmap(memory, length))?;
            }
        }
    }
}
