//! `unmap`: a big area of memory filled page by page and given back at once, in each of five ways in turn.
//!
//! Pages that are freed one after the other go to the CPU's own list of free pages, of which the kernel then gives ever more
//! back in one go, with a lock held and interrupts off: the larger the area, the more.

use super::code::LoadCode;
use super::memfd;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::memory::{Mapping, page_size};
use crate::sys::process::{self, Exit, Waited};
use crate::sys::signal;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, Write};

/// Large enough that a list is as long as it becomes.
const MEBIBYTES: u32 = 96;
const AREAS: usize = 0;
const PAGES: usize = 1;

/// Big areas of memory given back at once.
pub const UNMAP: LoadCode = LoadCode {
    name: "unmap",
    units: &["areas", "pages"],
    body: Some(start),
};

/// What fills so many bytes and gives them back.
type Way = fn(usize) -> io::Result<()>;

const WAYS: [(&str, Way); 5] = [
    ("munmap", munmap),
    ("madvise", madvise),
    ("exit", exit),
    ("truncation", truncate),
    ("hole", punch),
];

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    let bytes = (load.request().number().unwrap_or(MEBIBYTES) as usize) << 20;
    load.spawn(Ending::Anywhere, move |board| {
        let mut pace = Pace::alone(rate);
        for (name, give_back) in WAYS.iter().cycle() {
            pace.wait();
            give_back(bytes).map_err(|e| format!("{name} of {} MiB: {e}", bytes >> 20))?;
            board.add(AREAS, 1);
            board.add(PAGES, (bytes / page_size()) as u64);
        }
        Ok(())
    })
}

fn munmap(bytes: usize) -> io::Result<()> {
    Mapping::filled(bytes).map(drop)
}

fn madvise(bytes: usize) -> io::Result<()> {
    Mapping::filled(bytes)?.discard()
}

fn exit(bytes: usize) -> io::Result<()> {
    // The area is the child's until it ends.
    let child = process::fork(signal::SIGKILL, || {
        i32::from(Mapping::filled(bytes).map(std::mem::forget).is_err())
    })?;
    match process::wait(child, true)? {
        Waited::Ended(_, Exit::Code(0)) => Ok(()),
        other => Err(io::Error::other(format!("a child: {other:?}"))),
    }
}

fn truncate(bytes: usize) -> io::Result<()> {
    memfd::truncate(&written(bytes)?, bytes)
}

fn punch(bytes: usize) -> io::Result<()> {
    memfd::punch(&written(bytes)?, bytes)
}

/// A file in memory.
fn written(bytes: usize) -> io::Result<File> {
    let mut file = File::from(memfd_create("unmap", MemfdFlags::CLOEXEC)?);
    let block = vec![1; 1 << 20];
    (0..bytes >> 20).try_for_each(|_| file.write_all(&block))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_gives_its_area_back() {
        for (name, give_back) in WAYS {
            give_back(2 << 20).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}
