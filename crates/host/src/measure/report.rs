//! Reports of a measuring thread about its segment: the only one of a run is its result; those of a watch are handed over
//! as samples are, without a lock.

use super::ring::{RingReader, RingWriter, ring};
use std::io;
use worstcase_contract::Nanos;
use worstcase_contract::record::Periods;
use worstcase_instruments::sys::usage::Usage;

const WORDS: usize = 12;
/// Most reports that can wait to be read. At most one comes each second.
const WAITING: usize = 256;

/// A thread's report about its segment: at a checkpoint, and at the segment's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of its segment, from 0.
    pub segment: u64,
    /// The segment is over.
    pub ended: bool,
    /// When the segment's period 0 was due.
    pub start: Nanos,
    /// The account of the periods that were due until now.
    pub periods: Periods,
    /// Samples before their due time.
    pub early: u64,
    /// What the thread has used since the segment began: CPU time and page faults.
    pub used: Usage,
}

impl Report {
    fn words(&self) -> [u64; WORDS] {
        let Periods {
            expected,
            taken,
            missed,
            lost,
            longest_missed_run,
            missed_at_ends,
        } = self.periods;
        debug_assert_eq!(expected, taken + missed + lost);
        [
            self.segment,
            u64::from(self.ended),
            self.start.0,
            taken,
            missed,
            lost,
            longest_missed_run,
            missed_at_ends,
            self.early,
            self.used.cpu.0,
            self.used.minor_faults,
            self.used.major_faults,
        ]
    }

    fn of(words: [u64; WORDS]) -> Report {
        let [
            segment,
            ended,
            start,
            taken,
            missed,
            lost,
            longest_missed_run,
            missed_at_ends,
            early,
            cpu_time,
            minor_faults,
            major_faults,
        ] = words;
        Report {
            segment,
            ended: ended == 1,
            start: Nanos(start),
            periods: Periods {
                expected: taken + missed + lost,
                taken,
                missed,
                lost,
                longest_missed_run,
                missed_at_ends,
            },
            early,
            used: Usage {
                cpu: Nanos(cpu_time),
                minor_faults,
                major_faults,
                ..Usage::default()
            },
        }
    }
}

/// The thread's end.
pub(crate) struct Reporter(RingWriter);

/// The collector's end.
pub(crate) struct Reports {
    ring: RingReader,
    open: Vec<u64>,
}

/// When a thread reports, and to whom.
pub(super) struct Checkpoints {
    /// Periods between two reports.
    pub every: u32,
    /// How many segments there are at most.
    pub most: Option<u64>,
    pub reporter: Reporter,
}

/// A channel for reports.
pub(crate) fn reports() -> (Reporter, Reports) {
    let (writer, reader) = ring(WORDS * WAITING);
    let reports = Reports {
        ring: reader,
        open: Vec::with_capacity(WORDS),
    };
    (Reporter(writer), reports)
}

impl Reporter {
    /// Sends a report; an error if there is no room.
    pub fn say(&mut self, report: &Report) -> io::Result<()> {
        match self.0.push(&report.words()) {
            true => Ok(()),
            false => Err(io::Error::other(
                "nobody has read what it reported for minutes; is the machine overloaded?",
            )),
        }
    }
}

impl Reports {
    /// Hands over the reports since the last call.
    pub fn read(&mut self, mut each: impl FnMut(Report)) {
        let open = &mut self.open;
        self.ring.drain(|word| {
            open.push(word);
            if let Ok(words) = <[u64; WORDS]>::try_from(open.as_slice()) {
                each(Report::of(words));
                open.clear();
            }
        });
    }
}
