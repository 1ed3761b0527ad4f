//! Whether the disk of the samples has room enough to keep them once the measurement is over.
//!
//! While it measures, samples are plain words. To be kept they are written once more, packed, beside those. A disk that is full
//! before that would cost everything that was taken. So a measurement ends a little before.

use crate::HostSpec;
use rustix::fs::statvfs;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What a cell takes but for its samples: record, checksums, folders.
const CELL: u64 = 32 << 10;
/// What a trace around a sample takes: 20 KB were seen.
const CAPTURE: u64 = 32 << 10;
/// Of each CPU so much may be waiting in memory, of samples and of their parts.
const WAITING: u64 = 2 << 16;

/// The collector may be kept from running for this long, and what it finds then must still find room.
const AHEAD: Duration = Duration::from_secs(2);

/// Looks at the folder of a measurement's samples.
pub(super) struct Room {
    folder: PathBuf,
    /// What is needed whatever is measured.
    fixed: u64,
    began: Instant,
    /// How long it is going to measure.
    length: Duration,
}

impl Room {
    /// For a measurement that begins now.
    pub fn begin(spec: &HostSpec) -> Room {
        let a_cell = CELL + WAITING + spec.captures as u64 * CAPTURE;
        Room {
            folder: spec.samples_dir.clone(),
            fixed: spec.cpus.len() as u64 * a_cell,
            began: Instant::now(),
            length: Duration::from_nanos(spec.interval.0.saturating_mul(u64::from(spec.periods))),
        }
    }

    /// Whether what was taken until now may just be kept. A disk that cannot be asked is not short.
    pub fn is_short(&self) -> bool {
        let needed = needed(self.fixed, self.taken(), self.began.elapsed(), self.length);
        statvfs(&self.folder).is_ok_and(|disk| {
            let blocks = match rustix::process::geteuid().is_root() {
                true => disk.f_bfree,
                false => disk.f_bavail,
            };
            disk.f_blocks > 0 && blocks.saturating_mul(disk.f_frsize) < needed
        })
    }

    fn taken(&self) -> u64 {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
    }
}

/// Packed, samples took at most 0.35 of their plain words (wakeup, noise, response); half is counted on. Until one looks again
/// more comes, as fast as until now.
fn needed(fixed: u64, taken: u64, elapsed: Duration, length: Duration) -> u64 {
    let ahead = length.saturating_sub(elapsed).min(AHEAD);
    let more = u128::from(taken) * ahead.as_nanos() / elapsed.as_nanos().max(1);
    let taken_then = taken.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
    fixed + taken_then / 2 + (taken_then - taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_still_to_come_needs_room_too() {
        let needed = |taken, elapsed, length| {
            let [elapsed, length] = [elapsed, length].map(Duration::from_millis);
            needed(1_000, taken, elapsed, length)
        };
        // Nothing was taken, then half of it is what it is packed.
        assert_eq!(needed(0, 0, 1_000), 1_000);
        assert_eq!(needed(10_000, 1_000, 1_000), 1_000 + 5_000);
        // As much again in the second that is left; two seconds of an hour.
        assert_eq!(needed(10_000, 1_000, 2_000), 1_000 + 10_000 + 10_000);
        assert_eq!(needed(10_000, 1_000, 3_600_000), 1_000 + 15_000 + 20_000);
    }
}
