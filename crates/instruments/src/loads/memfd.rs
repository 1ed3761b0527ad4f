//! `memfd`: a big file in memory, filled by sendfile(2) and emptied at once, by a truncation and by a hole in turn.
//!
//! Pages come from the CPU's own list of free pages and go back to it. The kernel fills and empties that list with a lock held
//! and interrupts off: the more pages one after the other, the more in one go.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::memory::page_size;
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create, sendfile};
use std::fs::File;
use std::io::{self, Write};

/// Large enough that a list is as long as it becomes.
const MEBIBYTES: u32 = 96;
const BLOCK: usize = 1 << 20;
const PAGES: usize = 0;
const FILES: usize = 1;

/// A big file in memory filled and emptied.
pub const MEMFD: LoadCode = LoadCode {
    name: "memfd",
    units: &["pages", "files"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    let blocks = load.request().number().unwrap_or(MEBIBYTES) as usize;
    load.spawn(Ending::Anywhere, move |board| {
        let failed = |e| format!("a file of {blocks} MiB in memory: {e}");
        let mut source = empty().map_err(failed)?;
        source.write_all(&[1; BLOCK]).map_err(failed)?;
        let mut pace = Pace::alone(rate);
        for empty_it in [truncate, punch].iter().cycle() {
            pace.wait();
            let file = empty().map_err(failed)?;
            for _ in 0..blocks {
                copy(&source, &file).map_err(failed)?;
                board.add(PAGES, (BLOCK / page_size()) as u64);
            }
            empty_it(&file, blocks * BLOCK).map_err(failed)?;
            board.add(FILES, 1);
        }
        Ok(())
    })
}

fn empty() -> io::Result<File> {
    Ok(File::from(memfd_create("load-memfd", MemfdFlags::CLOEXEC)?))
}

/// Appends a block.
fn copy(source: &File, file: &File) -> io::Result<()> {
    let mut at = 0;
    while at < BLOCK as u64 {
        let rest = BLOCK - at as usize;
        if sendfile(file, source, Some(&mut at), rest)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

pub(super) fn truncate(file: &File, _bytes: usize) -> io::Result<()> {
    file.set_len(0)
}

pub(super) fn punch(file: &File, bytes: usize) -> io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(fallocate(file, flags, 0, bytes as u64)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_file_is_filled_and_its_pages_are_given_back() {
        let mut source = empty().unwrap();
        source.write_all(&[7; BLOCK]).unwrap();
        for empty_it in [truncate, punch] {
            let file = empty().unwrap();
            (0..2).try_for_each(|_| copy(&source, &file)).unwrap();
            let full = file.metadata().unwrap();
            assert_eq!((full.size(), full.blocks()), (2 << 20, 2 << 11));
            empty_it(&file, 2 * BLOCK).unwrap();
            assert_eq!(file.metadata().unwrap().blocks(), 0);
        }
    }
}
