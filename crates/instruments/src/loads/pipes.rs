//! `pipes`: hundreds of pipes with a byte in each, closed at once.
//!
//! Each gives two blocks of pages back, which become a long list of the CPU's own: Linux 6.12 empties it with a lock held and
//! interrupts off.

use super::LoadError;
use super::Pace;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use crate::sys::rlimit::Resource;
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::OwnedFd;

/// With two ends each, as many as a process usually may have open.
const USUAL_PIPES: u32 = 480;
const CLOSED: usize = 0;

/// Many pipes closed at once.
pub const PIPES: LoadCode = LoadCode {
    name: "pipes",
    units: &["pipes"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    let pipes = u64::from(load.request().number().unwrap_or(USUAL_PIPES));
    let files = load.limit_of_files(2 * pipes)?;
    load.spawn(Ending::Anywhere, move |board| {
        let failed = |e| format!("one of {pipes} pipes: {e}");
        let _raised = Resource::Files.raise(files).map_err(failed)?;
        let mut pace = Pace::alone(rate);
        let mut open = Vec::with_capacity(pipes as usize);
        loop {
            for _ in 0..pipes {
                pace.wait();
                open.push(pipe_with_a_byte().map_err(failed)?);
            }
            open.clear();
            board.add(CLOSED, pipes);
        }
    })
}

fn pipe_with_a_byte() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::write(&writer, b"x")?;
    Ok((reader, writer))
}
