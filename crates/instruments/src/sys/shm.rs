//! System V shared memory segments that cannot outlive the processes that use them.

use super::check;
use super::memory::page_size;
use std::io;
use std::ptr::NonNull;

/// An attached segment, already marked for removal: the kernel removes it with the last detach.
#[derive(Debug)]
pub struct Segment {
    start: NonNull<u8>,
    len: usize,
}

impl Segment {
    /// Creates a segment of `len` bytes, attaches it and marks it for removal.
    pub(crate) fn create(len: usize) -> io::Result<Segment> {
        // SAFETY: no pointers are passed.
        let id = check(unsafe { libc::shmget(libc::IPC_PRIVATE, len, libc::IPC_CREAT | 0o600) })?;
        // SAFETY: the kernel chooses the place, so no memory in use is replaced.
        let start = unsafe { libc::shmat(id, core::ptr::null(), 0) };
        let attached = if start as isize == -1 {
            Err(io::Error::last_os_error())
        } else {
            NonNull::new(start.cast()).ok_or_else(|| io::Error::other("attached at address 0"))
        };
        // SAFETY: IPC_RMID takes no buffer; `id` is the segment made above.
        check(unsafe { libc::shmctl(id, libc::IPC_RMID, core::ptr::null_mut()) })?;
        Ok(Segment { start: attached?, len })
    }

    /// Writes one byte to every page and returns how many pages there are.
    pub(crate) fn touch(&self, value: u8) -> u64 {
        for at in (0..self.len).step_by(page_size()) {
            // SAFETY: `at` lies inside the attached segment, to which no reference exists.
            unsafe { core::ptr::write_volatile(self.start.as_ptr().add(at), value) };
        }
        self.len.div_ceil(page_size()) as u64
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: this is the address at which the segment was attached, detached once.
        unsafe { libc::shmdt(self.start.as_ptr().cast()) };
    }
}
