//! The plugin's file: lines of text, of which the last proves that it is whole.
//!
//! ```text
//! worstcase-costs/1
//! at 81234567 data_l2 1                                           an event, with the count of its instruction
//! stretch 7 instruction=812 string_round=64 data_memory=3         between two addresses; 7 was in the first argument's register
//! end 2                                                           so many lines before
//! ```

use crate::{CostEvent, EventCounts};
use std::fmt::Write as _;
use std::io::{self, Write};

/// The first line.
const FIRST: &str = "worstcase-costs/1";

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CostLog {
    /// Events in windows, in the order of their counts; instructions are not among them.
    pub events: Vec<CountedEvent>,
    /// The stretches between two addresses, in order.
    pub stretches: Vec<CountedStretch>,
}

/// An event of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedEvent {
    /// What its CPU had executed before that instruction.
    pub at: u64,
    /// Which.
    pub event: CostEvent,
    /// How many.
    pub n: u64,
}

/// What there was between two addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedStretch {
    /// What was in the register of the first argument when it began.
    pub id: u64,
    /// How many of each event.
    pub counts: EventCounts,
}

/// A file that is not one, or is not whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CostLogError {
    /// The first line is another.
    #[error("not a log of costs of this version")]
    NotALog,
    /// The last line is missing.
    #[error("the log of costs is cut short")]
    CutShort,
    /// A line that cannot be read.
    #[error("the log of costs is damaged in line {0}")]
    Damaged(usize),
}

/// Writes a file; only [`CostWriter::close`] makes it whole.
pub struct CostWriter<W: Write> {
    out: W,
    line: String,
    lines: u64,
    failed: Option<io::Error>,
}

impl<W: Write> CostWriter<W> {
    /// Begins it.
    pub fn new(out: W) -> CostWriter<W> {
        let mut writer = CostWriter {
            out,
            line: FIRST.into(),
            lines: 0,
            failed: None,
        };
        writer.end_line();
        writer.lines = 0;
        writer
    }

    /// An event in a window.
    pub fn event(&mut self, CountedEvent { at, event, n }: CountedEvent) {
        let _ = write!(self.line, "at {at} {} {n}", event.name());
        self.end_line();
    }

    /// What there was between two addresses.
    pub fn stretch(&mut self, stretch: &CountedStretch) {
        let _ = write!(self.line, "stretch {}", stretch.id);
        for (event, n) in stretch.counts.some() {
            let _ = write!(self.line, " {}={n}", event.name());
        }
        self.end_line();
    }

    /// Ends it; tells of any failure since its beginning.
    pub fn close(mut self) -> io::Result<()> {
        let _ = write!(self.line, "end {}", self.lines);
        self.end_line();
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    fn end_line(&mut self) {
        self.line.push('\n');
        if self.failed.is_none() {
            self.failed = self.out.write_all(self.line.as_bytes()).err();
        }
        self.line.clear();
        self.lines += 1;
    }
}

/// Reads a whole file.
pub fn decode(text: &str) -> Result<CostLog, CostLogError> {
    let mut lines = text.split_inclusive('\n').zip(0..);
    if lines.next().is_none_or(|(line, _)| line.trim_end() != FIRST) {
        return Err(CostLogError::NotALog);
    }
    let mut log = CostLog::default();
    while let Some((line, number)) = lines.next() {
        let Some(line) = line.strip_suffix('\n') else {
            return Err(CostLogError::CutShort);
        };
        let damaged = CostLogError::Damaged(number + 1);
        match line.split_once(' ') {
            Some(("at", rest)) => log.events.push(event(rest).ok_or(damaged)?),
            Some(("stretch", rest)) => log.stretches.push(stretch(rest).ok_or(damaged)?),
            Some(("end", rest)) if rest.parse() == Ok(number - 1) && lines.next().is_none() => return Ok(log),
            _ => return Err(damaged),
        }
    }
    Err(CostLogError::CutShort)
}

fn event(text: &str) -> Option<CountedEvent> {
    let (at, rest) = text.split_once(' ')?;
    let (event, n) = rest.split_once(' ')?;
    Some(CountedEvent {
        at: at.parse().ok()?,
        event: CostEvent::named(event)?,
        n: n.parse().ok()?,
    })
}

fn stretch(text: &str) -> Option<CountedStretch> {
    let mut words = text.split(' ');
    let id = words.next()?.parse().ok()?;
    let count = |word: &str| {
        let (event, n) = word.split_once('=')?;
        Some((CostEvent::named(event)?, n.parse().ok()?))
    };
    let counts = words.map(count).collect::<Option<EventCounts>>()?;
    Some(CountedStretch { id, counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> CostLog {
        let event = |at, event, n| CountedEvent { at, event, n };
        CostLog {
            events: vec![event(7, CostEvent::DataL2, 1), event(9, CostEvent::StringByte, 8)],
            stretches: vec![CountedStretch {
                id: 3,
                counts: [(CostEvent::Instruction, 812), (CostEvent::Locked, 2)]
                    .into_iter()
                    .collect(),
            }],
        }
    }

    fn written() -> String {
        let mut bytes = Vec::new();
        let mut writer = CostWriter::new(&mut bytes);
        log().events.into_iter().for_each(|event| writer.event(event));
        log().stretches.iter().for_each(|stretch| writer.stretch(stretch));
        writer.close().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(decode(&written()), Ok(log()));
        assert!(written().contains("\nstretch 3 instruction=812 locked=2\n"));
    }

    #[test]
    fn what_is_cut_or_changed_is_refused() {
        let text = written();
        for n in 0..text.len() {
            assert!(decode(&text[..n]).is_err(), "{n} bytes were taken for a log");
        }
        assert_eq!(decode("worstcase-costs/2\n"), Err(CostLogError::NotALog));
        assert_eq!(decode(&text.replace("data_l2", "tlb")), Err(CostLogError::Damaged(2)));
        assert_eq!(decode(&text.replace("end 3", "end 2")), Err(CostLogError::Damaged(5)));
        assert!(decode(&(text + "at 9 locked 1\n")).is_err());
    }

    #[test]
    fn a_full_disk_is_told_at_the_end() {
        let mut space = [0; 40];
        let mut writer = CostWriter::new(&mut space[..]);
        log().events.into_iter().for_each(|event| writer.event(event));
        assert!(writer.close().is_err());
    }
}
