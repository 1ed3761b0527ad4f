//! The records of one CPU in one instance, read page by page.

use crate::trace::TracingError;
use crate::trace::events::{CpuEvent, TracedChange};
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use worstcase_contract::Nanos;
use worstcase_traces::pages::PageReader;

/// Bytes of the largest page that a machine has.
pub(super) const LARGEST_PAGE: usize = 64 << 10;
/// What one call has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drained {
    /// Bytes of records.
    pub bytes: usize,
    /// All that had been recorded when it was called.
    pub is_whole: bool,
}

/// `stats` is a few lines.
const STATS: usize = 1 << 10;

/// A CPU's records.
#[derive(Debug)]
pub(super) struct CpuStream {
    cpu: u32,
    pages: File,
    stats: File,
    /// The instant of the last event.
    last: Nanos,
    /// Events so far of which no page says that they are missing.
    vanished: u64,
    /// When that was read.
    looked: Nanos,
}

impl CpuStream {
    pub fn open(folder: &Path, cpu: u32) -> Result<CpuStream, TracingError> {
        let open = |name: &str, flags: OFlags| {
            let path = folder.join(name);
            let opened = File::options().read(true).custom_flags(flags.bits() as i32).open(&path);
            opened.map_err(|source| TracingError::Read {
                path: path.display().to_string(),
                source,
            })
        };
        Ok(CpuStream {
            cpu,
            pages: open("trace_pipe_raw", OFlags::NONBLOCK)?,
            stats: open("stats", OFlags::empty())?,
            last: Nanos(0),
            vanished: 0,
            looked: Nanos(0),
        })
    }

    /// Events that come from now on are whole.
    pub fn begin(&mut self, now: Nanos) {
        (self.last, self.looked) = (now, now);
    }

    /// Hands over what is there, at most `bytes`, through `page`. What cannot be read is lost.
    pub fn drain(
        &mut self,
        reader: &PageReader,
        page: &mut [u8],
        now: Nanos,
        bytes: usize,
        mut each: impl FnMut(CpuEvent<'static>),
    ) -> Drained {
        let lost = |at, since, count| CpuEvent {
            at,
            cpu: self.cpu,
            tid: 0,
            what: TracedChange::Lost { since, count },
            chain: &[],
        };
        let (mut read, mut taken, mut is_whole) = (0, 0, true);
        // Whoever floods it would be read for ever.
        while self.last < now {
            if read >= bytes {
                is_whole = false;
                break;
            }
            let length = match self.pages.read(page) {
                Ok(0) => break,
                Ok(length) => length,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    each(lost(now, self.last, 0));
                    break;
                }
            };
            read += length;
            match reader.read_page(self.cpu, &page[..length], &mut self.last, &mut each) {
                Ok(records) => taken += records,
                Err(_) => each(lost(now, self.last, 0)),
            }
        }
        if let Ok(vanished) = self.vanished() {
            if vanished > self.vanished {
                each(lost(now, self.looked, vanished - self.vanished));
            }
            (self.vanished, self.looked) = (vanished, now);
        }
        Drained { bytes: taken, is_whole }
    }

    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// The instant of the last event that was read.
    pub fn last(&self) -> Nanos {
        self.last
    }

    /// Events that nobody has read.
    pub fn unread(&self) -> u64 {
        self.stats(&["entries:"]).unwrap_or_default()
    }

    /// Events that found no room where no page tells it: the oldest were not written over, because one that interrupted another
    /// was too deep in the buffer.
    fn vanished(&self) -> io::Result<u64> {
        self.stats(&VANISHED)
    }

    fn stats(&self, keys: &[&str]) -> io::Result<u64> {
        let mut text = [0; STATS];
        let length = self.stats.read_at(&mut text, 0)?;
        Ok(counted(&String::from_utf8_lossy(&text[..length]), keys))
    }
}

const VANISHED: [&str; 2] = ["commit overrun:", "dropped events:"];

/// The sum of these lines.
fn counted(stats: &str, keys: &[&str]) -> u64 {
    let count = |key: &&str| {
        stats
            .lines()
            .find_map(|line| line.strip_prefix(*key)?.trim().parse::<u64>().ok())
    };
    keys.iter().filter_map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_page_tells_is_counted_by_the_kernel() {
        let stats =
            "entries: 122\noverrun: 9\ncommit overrun: 2\nbytes: 5020\nnow ts: 68042.609604\ndropped events: 3\n";
        assert_eq!(counted(stats, &VANISHED), 5);
        assert_eq!(counted(stats, &["entries:"]), 122);
        assert_eq!(counted("", &VANISHED), 0);
    }
}
