//! Endless sampling: one schedule follows the other on the same due times. Each segment has its own account, which is reported
//! from time to time.

use super::books::PeriodBooks;
use super::report::{Report, Reporter};
use super::ring::RingWriter;
use super::source::TimerSource;
use crate::packed::pack;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_contract::{Nanos, Schedule};
use worstcase_instruments::sys::usage::{self, Usage};

struct OpenSegment {
    number: u64,
    schedule: Schedule,
    books: PeriodBooks,
    early: u64,
    before: Usage,
    /// The period at which the next report is due.
    report_at: u32,
    checkpoint: u32,
}

impl OpenSegment {
    fn report(&mut self, index: u32, ended: bool, reporter: &mut Reporter) -> io::Result<()> {
        let used = usage::own_thread() - self.before;
        let next = (index / self.checkpoint + 1).saturating_mul(self.checkpoint);
        self.report_at = next.min(self.schedule.periods);
        reporter.say(&Report {
            segment: self.number,
            ended,
            start: self.schedule.start,
            periods: self.books.close(),
            early: self.early,
            cpu_time: used.cpu,
            minor_faults: used.minor_faults,
            major_faults: used.major_faults,
        })
    }

    /// Begins the next segment, without a gap.
    fn next(&mut self) {
        let length = Nanos(self.schedule.interval.0 * u64::from(self.schedule.periods));
        self.number += 1;
        self.schedule.start = self.schedule.start + length;
        self.books = PeriodBooks::default();
        self.early = 0;
        self.before = usage::own_thread();
        self.report_at = self.checkpoint.min(self.schedule.periods);
    }
}

/// Takes samples until `stop`; `schedule` is that of the first segment, with a report every `checkpoint` periods.
pub(crate) fn take_segments<S: TimerSource>(
    source: &mut S,
    schedule: Schedule,
    checkpoint: u32,
    ring: &mut RingWriter,
    reporter: &mut Reporter,
    stop: &AtomicBool,
) -> io::Result<()> {
    let mut segment = OpenSegment {
        number: 0,
        schedule: source.arm(schedule)?,
        books: PeriodBooks::default(),
        early: 0,
        before: usage::own_thread(),
        report_at: checkpoint.min(schedule.periods),
        checkpoint,
    };
    // Periods since the last kept sample.
    let (mut index, mut step) = (0_u32, 1_u64);
    while !stop.load(Ordering::Relaxed) {
        let Some(wake) = source.wait(&segment.schedule, index)? else {
            continue;
        };
        let due = segment.schedule.due(index);
        segment.early += u64::from(wake.now < due);
        let (words, used) = pack(step, wake.now.saturating_sub(due).0);
        if ring.push(&words[..used]) {
            step = 0;
            segment.books.taken();
        } else {
            segment.books.lost(1);
        }
        index += 1;
        step += 1 + wake.overrun;
        let mut passed = wake.overrun;
        loop {
            let here = passed.min(u64::from(segment.schedule.periods - index));
            segment.books.missed(here);
            index += here as u32;
            passed -= here;
            let ended = index == segment.schedule.periods;
            if index >= segment.report_at {
                segment.report(index, ended, reporter)?;
            }
            if !ended {
                break;
            }
            segment.next();
            index = 0;
        }
    }
    segment.report(index, true, reporter)
}

#[cfg(test)]
mod tests {
    use super::super::report::reports;
    use super::super::ring::ring;
    use super::super::source::Wake;
    use super::*;
    use crate::packed::Unpacker;

    /// Wake-ups that are late by a script; sets the flag at its end.
    struct Script<'a>(std::vec::IntoIter<u64>, &'a AtomicBool);

    impl TimerSource for Script<'_> {
        fn arm(&mut self, schedule: Schedule) -> io::Result<Schedule> {
            Ok(schedule)
        }

        fn wait(&mut self, schedule: &Schedule, index: u32) -> io::Result<Option<Wake>> {
            let late = self.0.next().unwrap();
            self.1.store(self.0.len() == 0, Ordering::Relaxed);
            let now = schedule.due(index) + Nanos(late);
            let overrun = schedule.overrun(index, now);
            Ok(Some(Wake { now, overrun }))
        }
    }

    /// (segment, ended, start, expected, taken, missed, longest) of each report, and (step, latency) of each sample.
    type Told = (Vec<(u64, bool, u64, u64, u64, u64, u64)>, Vec<(u64, u64)>);

    fn run(periods: u32, checkpoint: u32, late: Vec<u64>) -> Told {
        let stop = AtomicBool::new(false);
        let schedule = Schedule {
            start: Nanos(1_000_000),
            interval: Nanos(1_000),
            periods,
        };
        let ((mut writer, mut reader), (mut reporter, mut reports)) = (ring(64), reports());
        let mut script = Script(late.into_iter(), &stop);
        take_segments(&mut script, schedule, checkpoint, &mut writer, &mut reporter, &stop).unwrap();
        let (mut told, mut samples, mut unpacker) = (Vec::new(), Vec::new(), Unpacker::default());
        reader.drain(|word| samples.extend(unpacker.push(word)));
        reports.read(|r| {
            let p = r.periods;
            let missed = (p.missed, p.longest_missed_run);
            told.push((r.segment, r.ended, r.start.0, p.expected, p.taken, missed.0, missed.1));
        });
        (told, samples)
    }

    #[test]
    fn segments_follow_each_other_without_a_gap() {
        let (told, samples) = run(4, 2, vec![5; 9]);
        let expected = [
            (0, false, 1_000_000, 2, 2, 0, 0),
            (0, true, 1_000_000, 4, 4, 0, 0),
            (1, false, 1_004_000, 2, 2, 0, 0),
            (1, true, 1_004_000, 4, 4, 0, 0),
            (2, true, 1_008_000, 1, 1, 0, 0),
        ];
        assert_eq!(told, expected);
        assert_eq!(samples, [(1, 5); 9]);
    }

    #[test]
    fn a_sample_that_is_late_for_segments_is_one_sample_and_each_has_its_missed_periods() {
        let (told, samples) = run(4, 2, vec![5, 9_100, 7]);
        let expected = [
            (0, true, 1_000_000, 4, 2, 2, 2),
            (1, true, 1_004_000, 4, 0, 4, 4),
            (2, false, 1_008_000, 3, 0, 3, 3),
            (2, true, 1_008_000, 4, 1, 3, 3),
            (3, true, 1_012_000, 0, 0, 0, 0),
        ];
        assert_eq!(told, expected);
        assert_eq!(samples, [(1, 5), (1, 9_100), (10, 7)]);
        let expected: u64 = told.iter().filter(|t| t.1).map(|t| t.3).sum();
        let (taken, missed): (u64, u64) = (samples.len() as u64, samples.iter().map(|s| s.0 - 1).sum());
        assert_eq!(expected, taken + missed);
    }
}
