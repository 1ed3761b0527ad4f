//! The pages of a guest's memory that it has changed since its snapshot, in the memory of the QEMU that runs it.
//!
//! A fork maps the snapshot's memory privately: a page that was written to is no longer the file's, which
//! `/proc/PID/pagemap` shows. So only what changed is read, and a machine is put where another one was by writing it back.

use procfs::page_size;
use procfs::process::{MemoryMap, Process};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// The guest's memory within a QEMU that is stopped.
pub(crate) struct GuestPages {
    memory: File,
    pagemap: File,
    /// Where it is mapped.
    at: Range<u64>,
}

/// Of an entry of pagemap: the page is in memory, or in swap; it is of a file, or shared.
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const OF_FILE: u64 = 1 << 61;

/// Pages that are copied at once.
const AT_ONCE: u64 = 256;

impl GuestPages {
    /// The memory of this process that is mapped from this file.
    pub(crate) fn of(process: u32, file: &Path) -> io::Result<GuestPages> {
        let wanted = std::fs::metadata(file)?;
        let process = Process::new(process.cast_signed()).map_err(io::Error::other)?;
        let maps = process.maps().map_err(io::Error::other)?;
        let is_whole = |map: &&MemoryMap| map.inode == wanted.ino() && map.address.1 - map.address.0 == wanted.len();
        let map = maps.iter().find(is_whole);
        let map = map.ok_or_else(|| io::Error::other("the guest's memory is not mapped"))?;
        let open = |name: &str| {
            File::options()
                .read(true)
                .write(name == "mem")
                .open(format!("/proc/{}/{name}", process.pid))
        };
        Ok(GuestPages {
            memory: open("mem")?,
            pagemap: open("pagemap")?,
            at: map.address.0..map.address.1,
        })
    }

    /// Ranges of pages that are no longer those of the file, by their numbers.
    pub(crate) fn changed(&self) -> io::Result<Vec<Range<u32>>> {
        let page = page_size();
        let pages = (self.at.end - self.at.start) / page;
        let mut entries = vec![0; pages as usize * 8];
        self.pagemap.read_exact_at(&mut entries, self.at.start / page * 8)?;
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for (number, entry) in (0..).zip(entries.as_chunks::<8>().0) {
            let entry = u64::from_ne_bytes(*entry);
            if entry & (PRESENT | SWAPPED) == 0 || entry & OF_FILE != 0 {
                continue;
            }
            match ranges.last_mut() {
                Some(last) if last.end == number => last.end += 1,
                _ => ranges.push(number..number + 1),
            }
        }
        Ok(ranges)
    }

    /// Writes these pages to `out`: how many ranges, each one's ends, and then the pages themselves.
    pub(crate) fn save(&self, ranges: &[Range<u32>], out: &mut impl Write) -> io::Result<()> {
        out.write_all(&(ranges.len() as u32).to_le_bytes())?;
        for range in ranges {
            out.write_all(&range.start.to_le_bytes())?;
            out.write_all(&range.end.to_le_bytes())?;
        }
        self.each(ranges, |memory, bytes, at| {
            memory.read_exact_at(bytes, at)?;
            out.write_all(bytes)
        })
    }

    /// Writes saved pages into the guest's memory.
    pub(crate) fn restore(&self, saved: &mut (impl Read + Seek)) -> io::Result<()> {
        let mut word = [0; 4];
        let mut next = |saved: &mut dyn Read| {
            saved.read_exact(&mut word)?;
            Ok::<u32, io::Error>(u32::from_le_bytes(word))
        };
        saved.seek(SeekFrom::Start(0))?;
        let count = next(saved)?;
        let ranges = (0..count).map(|_| Ok(next(saved)?..next(saved)?));
        let ranges: Vec<Range<u32>> = ranges.collect::<io::Result<_>>()?;
        let pages = (self.at.end - self.at.start) / page_size();
        if ranges.iter().any(|range| u64::from(range.end) > pages) {
            return Err(io::Error::other("a saved page lies outside of the guest's memory"));
        }
        self.each(&ranges, |memory, bytes, at| {
            saved.read_exact(bytes)?;
            memory.write_all_at(bytes, at)
        })
    }

    fn each(
        &self,
        ranges: &[Range<u32>],
        mut copy: impl FnMut(&File, &mut [u8], u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let page = page_size();
        let mut buffer = vec![0; (AT_ONCE * page) as usize];
        for range in ranges {
            let (mut at, end) = (u64::from(range.start) * page, u64::from(range.end) * page);
            while at < end {
                let length = (end - at).min(buffer.len() as u64);
                copy(&self.memory, &mut buffer[..length as usize], self.at.start + at)?;
                at += length;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn what_was_written_to_is_found_and_put_back() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let page = page_size() as usize;
        std::fs::write(file.path(), vec![7; 8 * page]).unwrap();
        // SAFETY: a new mapping of a file that stays; 8 pages.
        let map = unsafe {
            let map = libc::mmap(
                std::ptr::null_mut(),
                8 * page,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE,
                File::open(file.path()).unwrap().as_raw_fd(),
                0,
            );
            assert_ne!(map, libc::MAP_FAILED);
            std::slice::from_raw_parts_mut(map.cast::<u8>(), 8 * page)
        };
        assert_eq!(map[0], 7, "a page that is only read stays the file's");
        map[2 * page] = 1;
        map[4 * page - 1] = 2;
        map[7 * page] = 3;
        let pages = GuestPages::of(std::process::id(), file.path()).unwrap();
        let changed = pages.changed().unwrap();
        assert_eq!(changed, [2..4, 7..8]);
        let mut saved = io::Cursor::new(Vec::new());
        pages.save(&changed, &mut saved).unwrap();
        let was = map.to_vec();
        map[2 * page..4 * page].fill(9);
        map[7 * page] = 9;
        pages.restore(&mut saved).unwrap();
        assert!(map == was);
    }
}
