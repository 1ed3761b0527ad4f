//! Loads of the lab at a rate: the same operations, so many a second.

use super::LoadError;
use super::crew::{Crew, Tally, preparing};
use super::pace::Pace;
use super::place::not_available;
use super::walk;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use worstcase_probe::loads::{LoadKind, LoadSpec};
use worstcase_probe::prng::SplitMix64;
use worstcase_probe::sys::memory::{Mapping, PAGE};
use worstcase_probe::sys::process::{self, Exit, Waited};
use worstcase_probe::sys::shm::Segment;
use worstcase_probe::sys::signal;

const SEGMENT_LEN: usize = 16 << 20;
const FORK_PAGES: u64 = 256;
const WRITTEN_BY_CHILD: usize = 64;
const SYMBOLS: &str = "/proc/kallsyms";

pub(super) fn start(
    crew: &mut Crew,
    load: &LoadSpec,
    rate: Option<u32>,
    seed: u64,
    folder: &Path,
) -> Result<(), LoadError> {
    match load.kind() {
        LoadKind::Shm => crew.spawn_asked(move |tally| segments(Pace::alone(rate), tally)),
        LoadKind::Fork => crew.spawn(move |tally| forks(Pace::alone(rate), seed, tally)),
        LoadKind::ProcRead => crew.spawn(move |tally| symbols(Pace::alone(rate), tally)),
        LoadKind::Find => {
            walk::grow(folder, seed).map_err(preparing("find", "making a tree of files"))?;
            walk::start(crew, folder.to_path_buf(), rate)
        }
        _ => Err(not_available(load.name(), "it cannot be paced")),
    }
}

/// Ends between two segments: a kill between making one and marking it for removal would leave it behind.
fn segments(mut pace: Pace, tally: &Tally) -> Result<(), String> {
    let mut round = 0u8;
    while !signal::is_pending(signal::SIGTERM) {
        pace.wait();
        let segment = Segment::create(SEGMENT_LEN).map_err(|e| format!("making a segment: {e}"))?;
        tally.add(1, segment.touch(round));
        drop(segment);
        tally.add(0, 1);
        round = round.wrapping_add(1);
    }
    Ok(())
}

fn forks(mut pace: Pace, seed: u64, tally: &Tally) -> Result<(), String> {
    let memory = Mapping::private(FORK_PAGES as usize * PAGE).map_err(|e| format!("mapping memory: {e}"))?;
    for page in 0..FORK_PAGES as usize {
        memory.write(page * PAGE, 1);
    }
    let mut random = SplitMix64::new(seed);
    loop {
        pace.wait();
        let pages: [usize; WRITTEN_BY_CHILD] = std::array::from_fn(|_| random.below(FORK_PAGES) as usize);
        let child = process::fork(signal::SIGKILL, || {
            for page in pages {
                memory.write(page * PAGE, 2);
            }
            0
        })
        .map_err(|e| format!("fork: {e}"))?;
        match process::wait(child, true) {
            Ok(Waited::Ended(_, Exit::Code(0))) => tally.add(0, 1),
            other => return Err(format!("waiting for a forked child: {other:?}")),
        }
    }
}

fn symbols(mut pace: Pace, tally: &Tally) -> Result<(), String> {
    let mut buffer = vec![0; 64 * 1024];
    let mut read = || -> io::Result<()> {
        let mut file = File::open(SYMBOLS)?;
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                n => tally.add(0, n as u64),
            }
        }
    };
    loop {
        pace.wait();
        read().map_err(|e| format!("reading {SYMBOLS}: {e}"))?;
        tally.add(1, 1);
    }
}
