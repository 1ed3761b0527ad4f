//! Whether the disk has room enough to keep the samples when the measurement is over.
//!
//! While it measures, samples are plain words. Keeping them writes them once more, packed, beside the words. A disk that is
//! full before that would lose all samples, so a measurement ends a little earlier.

use crate::HostSpec;
use rustix::fs::statvfs;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use worstcase_contract::Nanos;

/// Bytes of a cell without its samples: record, checksums, folders.
const CELL: u64 = 32 << 10;
/// Bytes of a trace around a sample: 20 KB were seen.
const CAPTURE: u64 = 32 << 10;
/// Bytes of samples, and of their parts, that may wait in memory for each CPU.
const WAITING: u64 = 2 << 16;

/// The collector may be kept from running for this long; the samples of that time must still find room.
const AHEAD: Duration = Duration::from_secs(2);

/// Watches the space for a measurement's samples.
pub(super) struct Room {
    folder: PathBuf,
    /// Bytes that are needed whatever is measured.
    fixed: u64,
    /// The length of the measurement.
    length: Duration,
}

impl Room {
    pub(super) fn new(spec: &HostSpec) -> Room {
        let a_cell = CELL + WAITING + spec.captures as u64 * CAPTURE;
        Room {
            folder: spec.samples_dir.clone(),
            fixed: spec.cpus.len() as u64 * a_cell,
            length: Duration::from_nanos(spec.length().0),
        }
    }

    /// Whether the disk has only just room for the samples of the time so far. A disk whose space cannot be read is not short.
    pub(super) fn is_short(&self, elapsed: Nanos) -> bool {
        let needed = needed(self.fixed, self.taken(), Duration::from_nanos(elapsed.0), self.length);
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

/// Packed samples took at most 0.35 of their plain words (wakeup, noise, response); this counts half. Until the next look more
/// samples come, at the same rate as so far.
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
        // With no more samples to come, half of their size is needed to pack them.
        assert_eq!(needed(0, 0, 1_000), 1_000);
        assert_eq!(needed(10_000, 1_000, 1_000), 1_000 + 5_000);
        // As many samples again in the second that is left; two seconds of an hour.
        assert_eq!(needed(10_000, 1_000, 2_000), 1_000 + 10_000 + 10_000);
        assert_eq!(needed(10_000, 1_000, 3_600_000), 1_000 + 15_000 + 20_000);
    }
}
