//! `shm`: System V segments of 16 MiB made, touched and removed in a loop, as in the study `preemption-models`.
//!
//! Every page is allocated and cleared at its first touch, and freed by the detach: what the kernel does under
//! the locks of page allocation and of the TLB gather is what this load is about.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::{shm::Segment, signal};

const SEGMENT_LEN: usize = 16 << 20;
const SEGMENTS: usize = 0;
const PAGES: usize = 1;

/// System V segments made, touched and removed.
pub const SHM: LoadCode = LoadCode {
    name: "shm",
    units: &["segments", "pages"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    // Asked to end between two segments: a kill between making a segment and marking it for removal would
    // leave it behind.
    let rate = load.request().rate();
    load.spawn(Ending::Asked, move |board| {
        let mut pace = Pace::alone(rate);
        let mut round = 0u8;
        while !signal::is_pending(signal::SIGTERM) {
            pace.wait();
            let segment = Segment::create(SEGMENT_LEN).map_err(|e| format!("making a segment: {e}"))?;
            board.add(PAGES, segment.touch(round));
            drop(segment);
            board.add(SEGMENTS, 1);
            round = round.wrapping_add(1);
        }
        Ok(())
    })
}
