//! Locking, mapping and touching memory.

use super::check;
use rustix::mm::{MlockAllFlags, mlockall, munlockall};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Bytes of a page on x86-64.
const PAGE: usize = 4096;

/// Locks all present and future memory of this process; also brings in every page, and breaks
/// copy-on-write sharing of private ones, so that no page fault is left for later.
pub fn lock_all() -> io::Result<()> {
    Ok(mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)?)
}

/// Locks all memory that this process has now, and brings in every page of it.
pub(crate) fn lock_present() -> io::Result<()> {
    Ok(mlockall(MlockAllFlags::CURRENT)?)
}

/// Locks all present and future memory of this process, each page when it is touched.
pub fn lock_on_touch() -> io::Result<()> {
    Ok(mlockall(
        MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT,
    )?)
}

/// Whether some memory of this process is locked already.
pub fn is_locked() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
    locked.is_some_and(|amount| !amount.trim_start().starts_with("0 "))
}

/// Undoes whatever of these was done.
pub fn unlock_all() {
    // Cannot fail for a process that may lock.
    let _ = munlockall();
}

/// Bytes that could be had without paging, as the kernel estimates.
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Pages that the kernel has written back since it started; 0 where it does not tell.
pub fn pages_written() -> u64 {
    let text = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("nr_written "));
    line.and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// Writes to `bytes` of stack below the caller's frame, so that the sampling loop finds it present.
#[inline(never)]
pub fn prefault_stack() {
    let mut area = [0u8; 64 * 1024];
    for page in area.chunks_mut(page_size()) {
        // SAFETY: the pointer comes from an exclusive borrow of at least one byte.
        unsafe { core::ptr::write_volatile(page.as_mut_ptr(), 1) };
    }
    std::hint::black_box(&area);
}

/// Writes to every page of `values` without changing what they hold.
pub fn prefault<T: Copy>(values: &mut [T]) {
    let step = (page_size() / size_of::<T>().max(1)).max(1);
    let last = values.len().saturating_sub(1);
    for i in (0..values.len())
        .step_by(step)
        .chain((!values.is_empty()).then_some(last))
    {
        let value = values[i];
        // SAFETY: the pointer comes from an exclusive borrow of one valid element.
        unsafe { core::ptr::write_volatile(&mut values[i], value) };
    }
}

/// Mapped memory, unmapped when dropped. Its bytes may change under the holder (shared mappings), so they
/// are only reached as atomics.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: nothing ties mapped memory to the thread that mapped it.
unsafe impl Send for Mapping {}
// SAFETY: through a shared reference the memory is read and written as atomics only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Zeroed pages that forked children share.
    pub fn shared(len: usize) -> io::Result<Mapping> {
        Self::map(len, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0)
    }

    /// Zeroed pages of this process; forked children get a copy, page by page, when one of them writes.
    pub fn private(len: usize) -> io::Result<Mapping> {
        Self::map(len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    }

    /// `len` bytes of `file` from `offset` (a multiple of the page size), shared: writes reach the file.
    pub fn of_file(file: &File, offset: u64, len: usize) -> io::Result<Mapping> {
        Self::map(len, libc::MAP_SHARED, file.as_raw_fd(), offset)
    }

    /// The same in small pages, of which each is written to.
    pub(crate) fn filled(len: usize) -> io::Result<Mapping> {
        let area = Mapping::private(len)?;
        area.use_small_pages();
        (0..len).step_by(page_size()).for_each(|at| area.write(at, 1));
        Ok(area)
    }

    fn map(len: usize, flags: libc::c_int, fd: libc::c_int, offset: u64) -> io::Result<Mapping> {
        // SAFETY: the kernel chooses the place, so no memory in use is replaced.
        let start = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                fd,
                offset as libc::off_t,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))?;
        Ok(Mapping { start, len })
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes one byte; panics outside the mapping.
    pub fn write(&self, at: usize, value: u8) {
        self.byte(at).store(value, Ordering::Relaxed);
    }

    /// Writes one byte to its beginning, with the mark of a machine that stops there.
    #[cfg(target_arch = "x86_64")]
    pub fn write_stop(&self, value: u8) {
        assert!(!self.is_empty(), "the mapping is empty");
        // SAFETY: the byte lies inside the live mapping, to which no reference exists; who mapped a device wants it.
        unsafe { worstcase_logs::mark::stop(self.start.as_ptr(), value) }
    }

    /// Reads one byte; panics outside the mapping.
    pub fn read(&self, at: usize) -> u8 {
        self.byte(at).load(Ordering::Relaxed)
    }

    fn byte(&self, at: usize) -> &AtomicU8 {
        assert!(at < self.len, "offset {at} outside the mapping");
        // SAFETY: the byte lies inside the mapping, which lives as long as the borrow; no user of words uses bytes too.
        unsafe { AtomicU8::from_ptr(self.start.as_ptr().add(at)) }
    }

    /// The mapping as words that several processes may use at once.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is page-aligned, lives as long as the borrow, and every bit pattern is an
        // AtomicU64; no user of bytes uses words too.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr().cast(), self.len / 8) }
    }

    /// The mapping as half words that several processes may use at once.
    pub(crate) fn half_words(&self) -> &[AtomicU32] {
        // SAFETY: as for `words`.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr().cast(), self.len / 4) }
    }

    /// Asks for pages of the smallest size only, whatever this machine does otherwise.
    pub(crate) fn use_small_pages(&self) {
        // Fails only where the kernel knows no other pages.
        // SAFETY: the range is this live mapping; which pages back it does not change what it holds.
        unsafe { libc::madvise(self.start.as_ptr().cast(), self.len, libc::MADV_NOHUGEPAGE) };
    }

    /// Sets whether it can be written to: who does so when it cannot gets SIGSEGV.
    pub(crate) fn let_write(&self, yes: bool) -> io::Result<()> {
        let rights = libc::PROT_READ | if yes { libc::PROT_WRITE } else { 0 };
        // SAFETY: the range is this live mapping, which no reference borrows but as atomics, and what it holds stays.
        check(unsafe { libc::mprotect(self.start.as_ptr().cast(), self.len, rights) })?;
        Ok(())
    }

    /// Gives all its pages back, so that the next reader finds zeroes.
    pub(crate) fn discard(&self) -> io::Result<()> {
        // SAFETY: the range is this live mapping, which is reached as atomics only.
        check(unsafe { libc::madvise(self.start.as_ptr().cast(), self.len, libc::MADV_DONTNEED) })?;
        Ok(())
    }

    /// Lets the kernel page it out again, whatever the process has locked.
    pub fn unlock(&self) {
        // Fails only for memory that is not mapped.
        // SAFETY: the range is this live mapping; whether it is locked does not change what it holds.
        unsafe { libc::munlock(self.start.as_ptr().cast(), self.len) };
    }

    /// The start of the mapping, for system calls that fill it.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Writes one byte, with the mark of a machine that stops there; panics outside the mapping.
    #[cfg(target_arch = "aarch64")]
    pub fn write_stop_at(&self, at: usize, value: u8) {
        // SAFETY: the byte lies inside the live mapping, to which no reference exists; who mapped a device wants it.
        unsafe { worstcase_logs::mark::stop(self.byte(at).as_ptr(), value) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, unmapped once; no borrow of it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Bytes of a page of this machine.
#[inline(always)]
pub fn page_size() -> usize {
    match cfg!(target_arch = "x86_64") {
        true => PAGE,
        // SAFETY: no pointers are passed; the page size always exists.
        false => unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_mapping_holds_what_is_written() {
        let m = Mapping::private(2 * page_size()).unwrap();
        m.write(page_size(), 7);
        assert_eq!((m.read(page_size()), m.read(0)), (7, 0));
        m.let_write(false).unwrap();
        assert_eq!(m.read(page_size()), 7);
        m.let_write(true).unwrap();
        m.write(page_size(), 8);
        m.discard().unwrap();
        assert_eq!(m.read(page_size()), 0);
        let s = Mapping::shared(page_size()).unwrap();
        s.words()[511].store(9, Ordering::Relaxed);
        assert_eq!(s.words()[511].load(Ordering::Relaxed), 9);
    }

    #[test]
    #[should_panic(expected = "outside the mapping")]
    fn outside_a_mapping_nothing_is_touched() {
        Mapping::private(page_size()).unwrap().write(page_size(), 1);
    }

    #[test]
    fn prefaulting_changes_nothing() {
        let mut values: Vec<u32> = (0..5000).collect();
        prefault(&mut values);
        assert!(values.iter().enumerate().all(|(i, v)| i as u32 == *v));
        prefault::<u64>(&mut []);
    }
}
