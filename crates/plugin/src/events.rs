//! The event log's writer. Its form, and its reader, are `worstcase_logs::trace`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use worstcase_logs::trace::{Event, EventKind, header};
use worstcase_logs::units::Instructions;

/// An event log that is being written. Only [`Log::close`] makes it whole: a log that lost anything, or whose
/// QEMU was killed, stays without the closing event and is refused by readers.
pub struct Log<W: Write = File> {
    out: BufWriter<W>,
    events: u64,
    /// Count of the last event.
    last: Instructions,
    /// The end of measuring is in it. How long QEMU goes on after that is a matter of its controller, so nothing of it is
    /// logged: the same cell gives the same log.
    ended: bool,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
}

impl Log {
    /// Makes (or empties) the file.
    pub(crate) fn create(path: &Path) -> io::Result<Log> {
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
            last: Instructions(0),
            ended: false,
            failed: None,
        })
    }

    /// Appends an event, if measuring has not ended; a failure shows at [`Log::close`].
    pub fn push(&mut self, kind: EventKind, arg: u64, count: Instructions) {
        if !self.ended {
            self.write(Event { kind, arg, count });
            self.events += 1;
            self.last = count;
            self.ended = kind == EventKind::MarkEnd;
        }
    }

    fn write(&mut self, event: Event) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(&event.encode()).err();
        }
    }

    /// Ends the log.
    pub(crate) fn close(mut self) -> io::Result<()> {
        self.write(Event {
            kind: EventKind::Close,
            arg: self.events,
            count: self.last,
        });
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_logs::trace::{TraceError, decode};

    #[test]
    fn a_closed_log_is_read_back() {
        let mut bytes = Vec::new();
        let mut log = Log::new(&mut bytes).unwrap();
        log.push(EventKind::MarkSample, 7, Instructions(9));
        log.close().unwrap();
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
    fn nothing_after_the_end_of_measuring_is_in_it() {
        let log = |more: u64| {
            let mut bytes = Vec::new();
            let mut log = Log::new(&mut bytes).unwrap();
            log.push(EventKind::MarkEnd, 7, Instructions(9));
            for count in 0..more {
                log.push(EventKind::TimerEntry, 8, Instructions(10 + count));
            }
            log.close().unwrap();
            bytes
        };
        assert_eq!(log(0), log(3));
        assert_eq!(decode(&log(3)).unwrap().len(), 1);
    }

    #[test]
    fn a_full_disk_is_told_at_the_end() {
        let mut space = [0; 30];
        let mut log = Log::new(&mut space[..]).unwrap();
        for i in 0..10_000 {
            log.push(EventKind::MarkSample, i, Instructions(i));
        }
        assert!(log.close().is_err());
    }
}
