//! What of a file the page cache holds, and dropping it.

use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use worstcase_instruments::sys::check;
use worstcase_instruments::sys::memory::page_size;

/// As much is mapped at once.
const WINDOW: u64 = 1 << 30;

/// Writes the file back and drops what is cached of it; the pages that are cached all the same.
pub(crate) fn drop_of(file: &File) -> io::Result<u64> {
    file.sync_all()?;
    fadvise(file, 0, None, Advice::DontNeed)?;
    pages_of(file)
}

/// Pages of a file that are cached.
pub(crate) fn pages_of(file: &File) -> io::Result<u64> {
    let bytes = file.metadata()?.len();
    let mut pages = 0;
    for from in (0..bytes).step_by(WINDOW as usize) {
        pages += pages_within(file, from, (bytes - from).min(WINDOW) as usize)?;
    }
    Ok(pages)
}

fn pages_within(file: &File, from: u64, length: usize) -> io::Result<u64> {
    let mut present = vec![0_u8; length.div_ceil(page_size())];
    // SAFETY: the kernel chooses the place; nothing of the mapping is read.
    let start = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            length,
            libc::PROT_NONE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            from as libc::off_t,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `start` is a mapping of `length` bytes, and `present` has a byte for each of its pages.
    let told = check(unsafe { libc::mincore(start, length, present.as_mut_ptr()) });
    // SAFETY: nothing refers to the mapping that was made above.
    unsafe { libc::munmap(start, length) };
    told?;
    Ok(present.iter().filter(|byte| **byte & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_just_written_is_cached_until_it_is_dropped() {
        let mut file = tempfile_in_target();
        file.write_all(&vec![7; 3 * page_size() + 1]).unwrap();
        assert_eq!(pages_of(&file).unwrap(), 4);
        assert_eq!(drop_of(&file).unwrap(), 0);
    }

    /// On a disk, where a file system in memory would keep everything.
    fn tempfile_in_target() -> File {
        let path = std::env::current_exe().unwrap().with_extension("cached");
        let file = File::options()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }
}
