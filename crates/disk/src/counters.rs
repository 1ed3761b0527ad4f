//! What a disk did.

use crate::{Action, Ended, SECTOR};
use worstcase_logs::Nanos;

/// Sums over all requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Reads that are done.
    pub reads: u64,
    /// Writes that are done.
    pub writes: u64,
    /// Flushes that are done.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Time in which the arm moved for a request.
    pub seek: Nanos,
    /// Time in which a request waited for the platter.
    pub rotation: Nanos,
    /// The most requests at once.
    pub most: u64,
    inside: u64,
}

impl Counters {
    pub(crate) fn comes(&mut self) {
        self.inside += 1;
        self.most = self.most.max(self.inside);
    }

    pub(crate) fn ends(&mut self, ended: &Ended) {
        let bytes = u64::from(ended.request.sectors) * SECTOR;
        match ended.request.action {
            Action::Read => (self.reads, self.read_bytes) = (self.reads + 1, self.read_bytes + bytes),
            Action::Write => (self.writes, self.written_bytes) = (self.writes + 1, self.written_bytes + bytes),
            Action::Flush => self.flushes += 1,
            Action::Discard => {}
        }
        self.seek = self.seek + ended.parts.seek;
        self.rotation = self.rotation + ended.parts.rotation;
        self.inside -= 1;
    }
}
