//! Files of noise, and the buffers that are read and written with them.

use super::parameters::ALIGNED;
use crate::sys::cache;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use worstcase_instruments::bench::Observer;
use worstcase_logs::prng::SplitMix64;

/// The file is made in pieces of this size.
pub(super) const PIECE: usize = 1 << 20;
/// What is measured.
pub(super) const FILE: &str = "file";

/// A file of noise that is not cached; none if somebody wants an end.
pub(super) fn written(
    path: &Path,
    size: u64,
    random: &mut SplitMix64,
    observer: &mut dyn Observer,
) -> io::Result<Option<File>> {
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    let piece = noise(PIECE, random);
    for at in (0..size).step_by(PIECE) {
        if observer.wants_end() {
            return Ok(None);
        }
        file.write_all_at(&piece[..PIECE.min((size - at) as usize)], at)?;
    }
    cache::drop_of(&file)?;
    Ok(Some(file))
}

/// Opens a file past the page cache.
pub(super) fn open_directly(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let direct = options.read(true).write(true).custom_flags(libc::O_DIRECT);
    direct.open(path).map_err(|e| match e.raw_os_error() {
        Some(libc::EINVAL) => io::Error::other(
            "this file system takes no O_DIRECT: leave +direct out, or choose another folder with --work-dir",
        ),
        _ => e,
    })
}

/// Bytes that cannot be compressed, the same for the same seed.
pub(super) fn noise(bytes: usize, random: &mut SplitMix64) -> Vec<u8> {
    let words = (0..bytes.div_ceil(8)).flat_map(|_| random.next_u64().to_le_bytes());
    words.take(bytes).collect()
}

/// A buffer that O_DIRECT takes.
pub(super) struct Aligned {
    bytes: Vec<u8>,
    from: usize,
    length: usize,
}

impl Aligned {
    pub(crate) fn filled(length: usize, random: &mut SplitMix64) -> Aligned {
        let bytes = noise(length + ALIGNED as usize, random);
        let from = bytes.as_ptr().align_offset(ALIGNED as usize);
        Aligned { bytes, from, length }
    }

    pub fn get(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + self.length]
    }
}
