//! The event log's writer. Its form, and its reader, are `worstcase_probe::trace`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use worstcase_probe::trace::{Event, EventKind, header};
use worstcase_probe::units::Instructions;

/// An event log that is being written. Only [`Log::close`] makes it whole: a log that lost anything, or whose
/// QEMU was killed, stays without the closing event and is refused by readers.
pub struct Log<W: Write = File> {
    out: BufWriter<W>,
    events: u64,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
}

impl Log {
    /// Makes (or empties) the file.
    pub fn create(path: &Path) -> io::Result<Log> {
        Log::new(File::create(path)?)
    }
}

impl<W: Write> Log<W> {
    fn new(out: W) -> io::Result<Log<W>> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        out.write_all(&header())?;
        Ok(Log {
            out,
            events: 0,
            failed: None,
        })
    }

    /// Appends an event; a failure shows at [`Log::close`].
    pub fn push(&mut self, kind: EventKind, arg: u64, count: Instructions) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(&Event { kind, arg, count }.encode()).err();
            self.events += 1;
        }
    }

    /// Ends the log, with the number of instructions executed in all.
    pub fn close(mut self, total: Instructions) -> io::Result<()> {
        let events = self.events;
        self.push(EventKind::Close, events, total);
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_probe::trace::{TraceError, decode};

    #[test]
    fn a_closed_log_is_read_back() {
        let mut bytes = Vec::new();
        let mut log = Log::new(&mut bytes).unwrap();
        log.push(EventKind::MarkSample, 7, Instructions(9));
        log.close(Instructions(10)).unwrap();
        let events = decode(&bytes).unwrap();
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].arg, events[0].count), (7, Instructions(9)));
    }

    #[test]
    fn a_log_that_was_not_closed_is_refused() {
        let mut bytes = Vec::new();
        let mut log = Log::new(&mut bytes).unwrap();
        log.push(EventKind::MarkSample, 7, Instructions(9));
        drop(log);
        assert_eq!(decode(&bytes), Err(TraceError::CutShort));
    }

    #[test]
    fn a_full_disk_is_told_at_the_end() {
        let mut space = [0; 30];
        let mut log = Log::new(&mut space[..]).unwrap();
        for i in 0..10_000 {
            log.push(EventKind::MarkSample, i, Instructions(i));
        }
        assert!(log.close(Instructions(0)).is_err());
    }
}
