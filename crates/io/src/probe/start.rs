//! What the start of a program reads.

use super::noise_file::written;
use super::{Done, Operations, timed};
use rustix::fs::{Advice, IFlags, fadvise, ioctl_getflags, ioctl_setflags};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use worstcase_instruments::bench::{Observer, Request};
use worstcase_logs::Nanos;
use worstcase_logs::prng::SplitMix64;

/// What Python 3.11 read from a disk when it was started to import json, argparse, logging and subprocess, nothing being
/// cached: file, from, length in KiB, in this order, as the page cache was filled (mm_filemap_add_to_page_cache). The
/// linker's cache and libraries come first, then modules; the kernel had read ahead up to 4 MiB.
#[rustfmt::skip]
const READS: [(usize, u64, u64); 63] = [
    (0, 0, 124), (1, 196, 16), (2, 0, 40), (3, 1720, 164), (4, 0, 4), (5, 0, 16), (5, 2572, 4100), (5, 16, 2556),
    (6, 4, 4), (6, 344, 44), (6, 452, 76), (6, 592, 52), (6, 668, 8), (6, 708, 184), (7, 76, 44), (8, 0, 172), (9,
    0, 4), (10, 0, 4), (11, 0, 8), (12, 0, 16), (13, 0, 4), (14, 0, 4), (15, 0, 4), (16, 0, 4), (17, 0, 12), (18,
    0, 4), (19, 0, 16), (20, 0, 16), (21, 0, 20), (22, 0, 88), (23, 0, 16), (24, 0, 20), (25, 0, 48), (26, 0, 80),
    (27, 0, 4), (28, 0, 12), (29, 0, 32), (30, 0, 52), (31, 0, 8), (32, 0, 4), (33, 0, 8), (34, 0, 4), (35, 0,
    48), (36, 0, 20), (37, 0, 112), (38, 0, 28), (39, 0, 24), (40, 0, 100), (41, 0, 48), (42, 0, 4), (43, 0, 8),
    (44, 0, 32), (45, 0, 4), (46, 0, 20), (47, 0, 32), (48, 0, 36), (49, 0, 16), (50, 0, 16), (51, 0, 72), (52, 0,
    84), (53, 0, 64), (54, 0, 8), (55, 0, 28),
];
const FILES: usize = 56;
const KIB: u64 = 1 << 10;

/// Libraries, modules and settings lie in folders that are far apart on the disk.
const FOLDERS: usize = 8;

/// Bytes of all its files.
pub(super) fn room() -> u64 {
    (0..FILES).map(size).sum()
}

fn size(of: usize) -> u64 {
    let ends = READS.iter().filter(|(file, ..)| *file == of);
    ends.map(|(_, from, length)| (from + length) * KIB).max().unwrap_or(0)
}

/// Makes the files; none if somebody wants an end meanwhile.
pub(super) fn prepare(
    folder: &Path,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> io::Result<Option<Box<dyn Operations>>> {
    let mut random = SplitMix64::new(request.seed);
    spread_folders(&File::open(folder)?);
    for nth in 0..FOLDERS {
        fs::create_dir(folder.join(format!("d{nth}")))?;
    }
    let mut files = Vec::new();
    for nth in 0..FILES {
        let path = folder.join(format!("d{}/{nth}", nth % FOLDERS));
        match written(&path, size(nth), &mut random, observer)? {
            Some(file) => files.push(file),
            None => return Ok(None),
        }
    }
    Ok(Some(Box::new(Start { files })))
}

/// As ext4 does with those at its top. A file system that knows nothing of this puts them where it likes.
fn spread_folders(folder: &File) {
    let _ = ioctl_getflags(folder).and_then(|flags| ioctl_setflags(folder, flags | IFlags::TOPDIR));
}

struct Start {
    files: Vec<File>,
}

impl Operations for Start {
    /// By a thread of its own: what starts is new to the scheduler.
    fn next(&mut self, _index: u32) -> io::Result<Done> {
        for file in &self.files {
            fadvise(file, 0, None, Advice::DontNeed)?;
        }
        let files = &self.files;
        let read = || {
            let mut buffer = Vec::new();
            for (file, from, length) in READS {
                buffer.resize((length * KIB) as usize, 0);
                files[file].read_exact_at(&mut buffer, from * KIB)?;
            }
            Ok(READS.iter().map(|(.., length)| length * KIB).sum())
        };
        timed(|| std::thread::scope(|scope| scope.spawn(read).join().expect("it does not panic")))
    }

    fn finish(&mut self) -> io::Result<Option<Nanos>> {
        Ok(None)
    }
}
