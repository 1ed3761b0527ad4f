//! What the server noted, in memory that it shares with the process that measures.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use worstcase_disk::{Action, Ended, Profile};
use worstcase_instruments::loads::Board;
use worstcase_instruments::sys::memory::Mapping;
use worstcase_io::{DiskAction, DiskDetails, DiskRequest};
use worstcase_logs::Nanos;

/// Requests that are noted; of later ones nothing is told.
const MOST: usize = 200_000;
/// Words of an entry.
const ENTRY: usize = 6;
/// Requests that a record tells of, of the first ones and of those in the longest operation.
const TOLD: usize = 4_096;
const SECTOR: u64 = 512;

/// See the module.
pub(crate) struct Log {
    words: Mapping,
    board: Board,
}

/// What is told of the time in which a probe measured.
pub(crate) struct Told {
    pub(crate) disk: DiskDetails,
    /// Time in which the disk had a request.
    pub(crate) with_one: Nanos,
    /// Time in which it had several.
    pub(crate) with_several: Nanos,
    /// The most at once.
    pub(crate) most: u64,
}

impl Log {
    pub(crate) fn new() -> io::Result<Log> {
        Ok(Log {
            words: Mapping::shared((1 + MOST * ENTRY) * size_of::<u64>())?,
            board: Board::new()?,
        })
    }

    /// The server's end, in words.
    pub(crate) fn fail(&self, message: &str) {
        self.board.report(message);
    }

    pub(crate) fn error(&self) -> Option<String> {
        self.board.message()
    }

    pub(crate) fn add(&self, ended: &Ended) {
        let words = self.words.words();
        let count = words[0].load(Ordering::Relaxed);
        if count as usize >= MOST {
            return;
        }
        let request = &ended.request;
        let entry = [
            ended.arrived.0,
            ended.began.0,
            ended.ended.0,
            request.sector,
            u64::from(request.sectors) << 8 | request.action as u64,
            ended.parts.seek.0 << 32 | ended.parts.rotation.0,
        ];
        let at = 1 + count as usize * ENTRY;
        for (word, value) in words[at..at + ENTRY].iter().zip(entry) {
            word.store(value, Ordering::Relaxed);
        }
        words[0].store(count + 1, Ordering::Relaxed);
    }

    /// All that are noted and ended in this time, with times since its start.
    fn requests(&self, start: Nanos, elapsed: Nanos) -> impl Iterator<Item = DiskRequest> {
        let words = self.words.words();
        let count = words[0].load(Ordering::Relaxed) as usize;
        let all = words[1..].chunks_exact(ENTRY).take(count).map(entry);
        let inside = all.filter(move |r| r.ended >= start && r.arrived <= start + elapsed);
        inside.map(move |r| DiskRequest {
            arrived: r.arrived.saturating_sub(start),
            began: r.began.saturating_sub(start),
            ended: r.ended.saturating_sub(start),
            ..r
        })
    }

    /// `longest` is when the longest operation began, since the start, and how long it took.
    pub(crate) fn tell(&self, profile: &Profile, start: Nanos, elapsed: Nanos, longest: (Nanos, Nanos)) -> Told {
        let all: Vec<DiskRequest> = self.requests(start, elapsed).collect();
        let in_longest = |r: &&DiskRequest| r.ended >= longest.0 && r.arrived <= longest.0 + longest.1;
        let (first, later) = all.split_at(all.len().min(TOLD));
        let others = later.iter().filter(in_longest).take(TOLD);
        let sum = |of: fn(&DiskRequest) -> u64| Nanos(all.iter().map(of).sum());
        let mut told = Told {
            disk: DiskDetails {
                profile: profile.name.clone(),
                sectors: profile.capacity / SECTOR,
                flushes: all.iter().filter(|r| r.action == DiskAction::Flush).count() as u64,
                seek: sum(|r| r.seek.0),
                rotation: sum(|r| r.rotation.0),
                requests: first.iter().chain(others).copied().collect(),
                first: first.len() as u64,
            },
            with_one: Nanos(0),
            with_several: Nanos(0),
            most: 0,
        };
        let mut changes: Vec<(u64, i64)> = all.iter().flat_map(|r| [(r.arrived.0, 1), (r.ended.0, -1)]).collect();
        changes.sort_unstable();
        let (mut inside, mut since) = (0_i64, 0);
        for (at, change) in changes {
            told.with_one.0 += if inside > 0 { at - since } else { 0 };
            told.with_several.0 += if inside > 1 { at - since } else { 0 };
            (inside, since) = (inside + change, at);
            told.most = told.most.max(inside as u64);
        }
        told
    }
}

fn entry(words: &[AtomicU64]) -> DiskRequest {
    let word = |at: usize| words[at].load(Ordering::Relaxed);
    let action = match word(4) & 0xff {
        a if a == Action::Read as u64 => DiskAction::Read,
        a if a == Action::Write as u64 => DiskAction::Write,
        a if a == Action::Flush as u64 => DiskAction::Flush,
        _ => DiskAction::Discard,
    };
    DiskRequest {
        action,
        arrived: Nanos(word(0)),
        began: Nanos(word(1)),
        ended: Nanos(word(2)),
        seek: Nanos(word(5) >> 32),
        rotation: Nanos(word(5) & 0xffff_ffff),
        sector: word(3),
        sectors: (word(4) >> 8) as u32,
    }
}
