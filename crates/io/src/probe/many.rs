//! Many small files.

use super::{Done, Io, Operations, Work, timed};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use worstcase_instruments::bench::{Observer, Request};
use worstcase_logs::Nanos;
use worstcase_logs::prng::SplitMix64;

/// bonnie++ -n 115:25381::27, the article's: no file is larger, and they are spread over so many folders.
const LARGEST: u64 = 25_381;
const FOLDERS: u32 = 27;
/// tar writes and reads in records of this size.
const RECORD: usize = 10_240;
/// A tree of sources: so many files a folder, sizes as below.
const FILES_A_FOLDER: u64 = 15;
const LARGEST_SOURCE: u64 = 512 << 10;
/// A block and an inode.
const OVERHEAD: u64 = 4096 + 512;

/// Bytes that so many files can take.
pub(super) fn room(files: u64) -> u64 {
    files * (LARGEST + OVERHEAD)
}

/// A file that is made, asked for or removed.
#[derive(Clone, Debug)]
struct Small {
    path: PathBuf,
    size: u64,
}

/// Makes what has to be there before; none if somebody wants an end meanwhile.
pub(super) fn prepare(
    what: &Io,
    folder: &Path,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> io::Result<Option<Box<dyn Operations>>> {
    let mut random = SplitMix64::new(request.seed);
    let top = File::open(folder)?;
    let data = vec![0x77; RECORD];
    if what.work == Work::Unpack {
        let files = sources(folder, request.repetitions, &mut random);
        return Ok(Some(Box::new(Each {
            what: *what,
            files,
            data,
            top,
        })));
    }
    let is_random = matches!(what.work, Work::RandomCreate | Work::RandomStat | Work::RandomDelete);
    for nth in 0..FOLDERS {
        fs::create_dir(folder.join(format!("{nth:05}")))?;
    }
    let mut files: Vec<Small> = (0..request.repetitions)
        .map(|nth| named(folder, nth, is_random, &mut random))
        .collect();
    if what.work.needs_written() {
        for file in &files {
            if observer.wants_end() {
                return Ok(None);
            }
            create(file, &data)?;
        }
        rustix::fs::syncfs(&top)?;
        match is_random {
            true => shuffle(&mut files, &mut random),
            false => files = in_order_of_folders(folder, &files)?,
        }
    }
    Ok(Some(Box::new(Each {
        what: *what,
        files,
        data,
        top,
    })))
}

/// bonnie++'s names: a number and letters that are none; in random order the letters come first.
fn named(folder: &Path, nth: u32, is_random: bool, random: &mut SplitMix64) -> Small {
    let letters: String = (0..random.below(8))
        .map(|_| (b'a' + random.below(26) as u8) as char)
        .collect();
    let name = match is_random {
        true => format!("{letters}{nth:010x}"),
        false => format!("{nth:010x}{letters}"),
    };
    let place = match is_random {
        true => random.below(u64::from(FOLDERS)) as u32,
        false => nth % FOLDERS,
    };
    Small {
        path: folder.join(format!("{place:05}")).join(name),
        size: random.below(LARGEST + 1),
    }
}

/// Sources are small, and a few are large: the size's logarithm is spread evenly below 16 KiB for nine files in ten.
fn sources(folder: &Path, files: u32, random: &mut SplitMix64) -> Vec<Small> {
    let mut place = folder.to_path_buf();
    (0..files)
        .map(|nth| {
            if nth == 0 || random.below(FILES_A_FOLDER) == 0 {
                // One folder in three goes deeper, if it is not deep already.
                let depth = place.components().count() - folder.components().count();
                if depth == 0 || depth > 5 || random.below(3) > 0 {
                    place = folder.join(format!("d{}", random.below(24)));
                }
                place = place.join(format!("s{nth}"));
            }
            let most = match random.below(10) {
                0 => LARGEST_SOURCE.ilog2(),
                _ => 14,
            };
            let size = 1_u64 << random.below(u64::from(most) + 1);
            Small {
                path: place.join(format!("f{nth}.c")),
                size: size + random.below(size),
            }
        })
        .collect()
}

fn shuffle(files: &mut [Small], random: &mut SplitMix64) {
    for at in (1..files.len()).rev() {
        files.swap(at, random.below(at as u64 + 1) as usize);
    }
}

/// As the folders list them.
fn in_order_of_folders(folder: &Path, files: &[Small]) -> io::Result<Vec<Small>> {
    let sizes: std::collections::HashMap<&Path, u64> = files.iter().map(|f| (f.path.as_path(), f.size)).collect();
    let mut all = Vec::new();
    for nth in 0..FOLDERS {
        for entry in fs::read_dir(folder.join(format!("{nth:05}")))? {
            let path = entry?.path();
            let size = *sizes.get(path.as_path()).ok_or(io::ErrorKind::NotFound)?;
            all.push(Small { path, size });
        }
    }
    Ok(all)
}

fn create(file: &Small, data: &[u8]) -> io::Result<u64> {
    let mut made = File::create_new(&file.path)?;
    let mut left = file.size;
    while left > 0 {
        let piece = left.min(data.len() as u64);
        made.write_all(&data[..piece as usize])?;
        left -= piece;
    }
    Ok(file.size)
}

/// One file an operation.
struct Each {
    what: Io,
    files: Vec<Small>,
    data: Vec<u8>,
    top: File,
}

impl Operations for Each {
    fn next(&mut self, index: u32) -> io::Result<Done> {
        let Each { what, files, data, .. } = self;
        let file = &files[index as usize];
        timed(|| match what.work {
            Work::Unpack => {
                fs::create_dir_all(file.path.parent().unwrap_or(Path::new("/")))?;
                create(file, data)
            }
            Work::Create | Work::RandomCreate => create(file, data),
            Work::Stat | Work::RandomStat => {
                let is = fs::metadata(&file.path)?;
                if is.len() != file.size {
                    return Err(io::Error::other(format!("{} has another size", file.path.display())));
                }
                let mut read = File::open(&file.path)?;
                let mut left = is.len();
                while left > 0 {
                    let piece = left.min(data.len() as u64) as usize;
                    read.read_exact(&mut data[..piece])?;
                    left -= piece as u64;
                }
                Ok(is.len())
            }
            _ => fs::remove_file(&file.path).map(|()| 0),
        })
    }

    fn finish(&mut self) -> io::Result<Option<Nanos>> {
        match self.what.work {
            Work::Stat | Work::RandomStat => Ok(None),
            _ => timed(|| Ok(rustix::fs::syncfs(&self.top).map(|()| 0)?)).map(|done| Some(done.took)),
        }
    }
}
