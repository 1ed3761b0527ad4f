//! `munmap`: pages mapped, touched and unmapped, again and again.
//!
//! Every other CPU that may have translations of the process's memory is told to forget those of the pages. With
//! `munmap:own` that is the probe's CPU: it is a thread of the probe's process that unmaps.

use super::board::Board;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::memory::{Mapping, page_size};

const PAGES: usize = 64;
const UNMAPPINGS: usize = 0;

/// Memory mapped, touched and unmapped.
pub const MUNMAP: LoadCode = LoadCode {
    name: "munmap",
    units: &["unmappings"],
    body: Some(start),
};

/// The same by a thread of the probe's process.
pub const MUNMAP_OWN: LoadCode = LoadCode {
    name: "munmap",
    units: &["unmappings"],
    body: Some(start_own),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| unmap(board, rate))
}

fn start_own(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    load.own_thread(move |board| unmap(board, rate));
    Ok(())
}

fn unmap(board: &Board, rate: Option<u32>) -> Result<(), String> {
    let mut pace = Pace::alone(rate);
    while !board.end_is_asked_for() {
        pace.wait();
        let pages = Mapping::private(PAGES * page_size()).map_err(|e| format!("mapping pages: {e}"))?;
        (0..PAGES).for_each(|page| pages.write(page * page_size(), 1));
        drop(pages);
        board.add(UNMAPPINGS, 1);
    }
    Ok(())
}
