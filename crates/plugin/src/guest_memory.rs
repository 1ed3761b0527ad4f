//! The guest's memory, read where QEMU itself has it mapped.
//!
//! The lab gives QEMU its guest's memory as a file. A fork maps it privately, so the file does not show what the guest
//! wrote; but the plugin lives in QEMU's process and reads the mapping. A physical address, from where memory begins, is an
//! offset in it: the lab's machines have all memory in one piece.

use std::path::{Path, PathBuf};

/// QEMU's mapping of the guest's memory.
pub(crate) struct GuestMemory {
    base: *const u8,
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread; QEMU's one CPU thread, which writes it, is also the
// only one that reads through this value.
unsafe impl Send for GuestMemory {}

impl GuestMemory {
    /// Finds the mapping of this file. QEMU makes it after it loads plugins, and keeps it until it ends.
    fn of_file(file: &Path) -> Result<GuestMemory, String> {
        let not_found = |why: &dyn std::fmt::Display| format!("the guest's memory, {}: {why}", file.display());
        // Of an open file, in /proc: its user may not be allowed to pass the folders in which it is.
        let path = file
            .read_link()
            .or_else(|_| file.canonicalize())
            .map_err(|e| not_found(&e))?;
        let maps = std::fs::read_to_string("/proc/self/maps").map_err(|e| not_found(&e))?;
        let (base, len) = find(&maps, &path.to_string_lossy()).ok_or_else(|| not_found(&"not mapped by QEMU"))?;
        Ok(GuestMemory {
            base: std::ptr::with_exposed_provenance(base),
            len,
        })
    }

    /// Memory of a test's own.
    #[cfg(test)]
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> GuestMemory {
        let bytes = bytes.leak();
        GuestMemory {
            base: bytes.as_ptr(),
            len: bytes.len(),
        }
    }

    /// The bytes at a physical address; none outside of memory.
    pub fn read<const N: usize>(&self, physical: u64) -> Option<[u8; N]> {
        let at = usize::try_from(physical).ok()?;
        if at.checked_add(N)? > self.len {
            return None;
        }
        // SAFETY: `at..at + N` lies in QEMU's mapping, which stays until QEMU ends; its only writer is this thread.
        Some(unsafe { self.base.add(at).cast::<[u8; N]>().read() })
    }
}

/// Guest memory that is found when it is first needed: QEMU maps it after plugins are installed.
pub(crate) struct LateMemory {
    file: PathBuf,
    found: Option<GuestMemory>,
}

impl LateMemory {
    /// Of this file.
    pub(crate) fn of_file(file: PathBuf) -> LateMemory {
        LateMemory { file, found: None }
    }

    /// The memory; the error says why it is not there.
    pub(crate) fn get(&mut self) -> Result<&GuestMemory, String> {
        match &mut self.found {
            Some(memory) => Ok(memory),
            none => Ok(none.insert(GuestMemory::of_file(&self.file)?)),
        }
    }
}

/// Address and length of the file's mapping from its beginning on, in the text of `/proc/self/maps` (proc(5)).
fn find(maps: &str, path: &str) -> Option<(usize, usize)> {
    let hex = |text: &str| usize::from_str_radix(text, 16).ok();
    let mut found: Option<(usize, usize)> = None;
    for line in maps.lines() {
        let Some(at) = line.find('/').filter(|at| line[*at..] == *path) else {
            continue;
        };
        let mut words = line[..at].split_whitespace();
        let (range, offset) = (words.next()?, words.nth(1)?);
        let (start, end) = range.split_once('-')?;
        let (start, end, offset) = (hex(start)?, hex(end)?, hex(offset)?);
        // One mapping can be shown in pieces that differ in advice.
        match &mut found {
            None if offset == 0 => found = Some((start, end - start)),
            Some((base, len)) if *base + *len == start && offset == *len => *len += end - start,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_mapping_in_pieces_is_one() {
        let maps = "\
7f0000000000-7f0000100000 rw-p 00000000 00:1a 55 /cache/my memory
7f0000100000-7f0000200000 rw-p 00100000 00:1a 55 /cache/my memory
7f0000200000-7f0000201000 ---p 00000000 00:00 0
7f0000300000-7f0000400000 r--p 00200000 00:1a 55 /cache/my memory
7f0000500000-7f0000600000 rw-p 00000000 00:1a 56 /cache/my memory2
";
        assert_eq!(find(maps, "/cache/my memory"), Some((0x7f00_0000_0000, 0x20_0000)));
        assert_eq!(find(maps, "/memory"), None);
    }

    #[test]
    fn what_is_written_to_a_private_mapping_is_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(8192).unwrap();
        // SAFETY: a new mapping of a file of two pages that only this test uses.
        let base = unsafe {
            let map = libc_mmap(8192, file.as_file().as_raw_fd());
            map.add(4096).write(42);
            map
        };
        let mut late = LateMemory::of_file(file.path().into());
        let memory = late.get().unwrap();
        assert_eq!(memory.base, base.cast_const());
        assert_eq!(memory.read::<1>(4096), Some([42]));
        assert_eq!(memory.read::<2>(8191), None);
        assert_eq!(memory.read::<1>(u64::MAX), None);
    }

    /// mmap(2), private, read and write.
    unsafe fn libc_mmap(len: usize, fd: i32) -> *mut u8 {
        unsafe extern "C" {
            fn mmap(at: *mut u8, len: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
        }
        // SAFETY: the caller gives an open file; PROT_READ | PROT_WRITE, MAP_PRIVATE.
        unsafe { mmap(std::ptr::null_mut(), len, 3, 2, fd, 0) }
    }
}
