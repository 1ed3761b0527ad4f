//! `fork`: a parent with 1 MiB of written memory forks a child that writes to 64 of its 256 pages and exits.
//!
//! Each round copies page tables, breaks copy-on-write page by page, and frees the lot again.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{Draws, LoadError, Pace};
use crate::sys::memory::{Mapping, page_size};
use crate::sys::process::{self, Exit, Waited};
use crate::sys::signal;

const PAGES: u64 = 256;
const WRITTEN_BY_CHILD: usize = 64;
const FORKS: usize = 0;

/// Fork, exit, wait.
pub const FORK: LoadCode = LoadCode {
    name: "fork",
    units: &["forks"],
    body: Some(start),
};

fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        let memory = Mapping::private(PAGES as usize * page_size()).map_err(|e| format!("mapping memory: {e}"))?;
        for page in 0..PAGES as usize {
            memory.write(page * page_size(), 1);
        }
        let mut random = Draws::new(board, seed);
        let mut pace = Pace::alone(rate);
        loop {
            pace.wait();
            let pages: [usize; WRITTEN_BY_CHILD] = std::array::from_fn(|_| random.below(PAGES) as usize);
            let child = process::fork(signal::SIGKILL, || {
                for page in pages {
                    memory.write(page * page_size(), 2);
                }
                0
            })
            .map_err(|e| format!("fork: {e}"))?;
            match process::wait(child, true) {
                Ok(Waited::Ended(_, Exit::Code(0))) => board.add(FORKS, 1),
                Ok(Waited::Ended(_, exit)) => return Err(format!("a forked child ended with {exit}")),
                other => return Err(format!("waiting for a forked child: {other:?}")),
            }
        }
    })
}
