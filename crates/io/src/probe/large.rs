//! One large file.

use super::noise_file::{Aligned, FILE, noise, open_directly, written};
use super::parameters::{Io, Work, has_seekers};
use super::{Done, Operations, timed};
use crate::sys::cache;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use worstcase_instruments::bench::{Observer, Request};
use worstcase_logs::prng::SplitMix64;

/// As the C library buffers characters.
const CHARACTERS: usize = 4096;
/// bonnie++ writes to one place in ten that it seeks to.
const WRITTEN_OF: u64 = 10;

impl Work {
    /// Whether it goes through the file once, from begin to end.
    pub(super) const fn is_through(self) -> bool {
        matches!(
            self,
            Work::Buffered | Work::Write | Work::Read | Work::Putc | Work::Rewrite | Work::Getc
        )
    }

    const fn writes(self) -> bool {
        matches!(
            self,
            Work::Write | Work::RandomWrite | Work::Putc | Work::Rewrite | Work::Seeks
        )
    }
}

/// Makes the file, if it has to be there before; none if somebody wants an end meanwhile.
pub(super) fn prepare(
    what: &Io,
    folder: &Path,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> io::Result<Option<Box<dyn Operations>>> {
    let path = folder.join(FILE);
    let mut random = SplitMix64::new(request.seed);
    let size = if what.work.needs_written() { what.size } else { 0 };
    let Some(mut file) = written(&path, size, &mut random, observer)? else {
        return Ok(None);
    };
    if size > 0 {
        let left = cache::pages_of(&file)?;
        if left > 0 && what.work != Work::Cached {
            return Err(io::Error::other(format!(
                "{left} pages of the file stay in the page cache: another folder (--work-dir) may have a file system that lets them go"
            )));
        }
    }
    if what.direct {
        file = open_directly(&path)?;
    }
    let block = what.block as usize;
    let what = *what;
    Ok(Some(match what.work {
        Work::Putc => Box::new(Putc {
            out: BufWriter::with_capacity(CHARACTERS, file),
            data: noise(block, &mut random),
        }),
        Work::Getc => Box::new(Getc {
            characters: BufReader::with_capacity(CHARACTERS, file),
            block,
        }),
        _ => Box::new(Blocks {
            buffer: Aligned::filled(block, &mut random),
            what,
            file,
            random,
        }),
    }))
}

/// Work block by block.
struct Blocks {
    what: Io,
    file: File,
    buffer: Aligned,
    random: SplitMix64,
}

impl Operations for Blocks {
    fn next(&mut self, index: u32) -> io::Result<Done> {
        let Blocks {
            what,
            file,
            buffer,
            random,
        } = self;
        let block = u64::from(what.block);
        let at = match what.work {
            work if has_seekers(work) => return seek(what, file, buffer.get(), random),
            Work::Cached => 0,
            _ => u64::from(index) * block,
        };
        let buffer = buffer.get();
        let done = timed(|| match what.work {
            Work::Write => file.write_all_at(buffer, at).map(|()| block),
            Work::Rewrite => changed(file, buffer, at),
            _ => file.read_exact_at(buffer, at).map(|()| block),
        })?;
        Ok(Done { at: Some(at), ..done })
    }

    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }

    fn finish(&mut self) -> io::Result<Option<worstcase_logs::Nanos>> {
        synced(&self.file, self.what.work)
    }
}

/// An operation at a random place.
pub(super) fn seek(what: &Io, file: &File, buffer: &mut [u8], random: &mut SplitMix64) -> io::Result<Done> {
    let block = u64::from(what.block);
    let at = random.below(what.size / block) * block;
    let is_changed = what.work == Work::Seeks && random.below(WRITTEN_OF) == 0;
    let done = timed(|| match what.work {
        Work::RandomWrite => file.write_all_at(buffer, at).map(|()| block),
        _ if is_changed => changed(file, buffer, at),
        _ => file.read_exact_at(buffer, at).map(|()| block),
    })?;
    Ok(Done { at: Some(at), ..done })
}

/// A block is read, changed and written again.
fn changed(file: &File, buffer: &mut [u8], at: u64) -> io::Result<u64> {
    file.read_exact_at(buffer, at)?;
    buffer[0] = buffer[0].wrapping_add(1);
    file.write_all_at(buffer, at).map(|()| 2 * buffer.len() as u64)
}

fn synced(file: &File, work: Work) -> io::Result<Option<worstcase_logs::Nanos>> {
    match work.writes() {
        true => timed(|| file.sync_all().map(|()| 0)).map(|done| Some(done.took)),
        false => Ok(None),
    }
}

/// Byte by byte through a buffer, a block a sample.
struct Putc {
    out: BufWriter<File>,
    data: Vec<u8>,
}

impl Operations for Putc {
    fn next(&mut self, _index: u32) -> io::Result<Done> {
        let Putc { out, data } = self;
        timed(|| {
            for byte in data.iter() {
                out.write_all(&[*byte])?;
            }
            Ok(data.len() as u64)
        })
    }

    fn finish(&mut self) -> io::Result<Option<worstcase_logs::Nanos>> {
        self.out.flush()?;
        synced(self.out.get_ref(), Work::Putc)
    }
}

/// As [`Putc`], the other way.
struct Getc {
    characters: BufReader<File>,
    block: usize,
}

impl Operations for Getc {
    fn next(&mut self, index: u32) -> io::Result<Done> {
        if index == 0 {
            self.characters.seek(SeekFrom::Start(0))?;
        }
        let Getc { characters, block } = self;
        timed(|| {
            let mut byte = [0];
            for _ in 0..*block {
                characters.read_exact(&mut byte)?;
                std::hint::black_box(byte);
            }
            Ok(*block as u64)
        })
    }

    fn finish(&mut self) -> io::Result<Option<worstcase_logs::Nanos>> {
        Ok(None)
    }
}
