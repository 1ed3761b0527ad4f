//! The sampling loop: wait, read the clock, hand over, again.
//!
//! A watch is segment after segment on the same due times, each with its own account, which is reported from time to time. A
//! run is one segment.

use super::books::PeriodBooks;
use super::report::{Checkpoints, Report};
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
    /// Samples before their due time, which count as 0.
    early: u64,
    before: Usage,
    /// The period at which the next report is due.
    report_at: u64,
    checkpoint: u32,
}

impl OpenSegment {
    fn first(schedule: Schedule, checkpoint: u32) -> OpenSegment {
        OpenSegment {
            number: 0,
            schedule,
            books: PeriodBooks::default(),
            early: 0,
            before: usage::own_thread(),
            report_at: u64::from(checkpoint.min(schedule.periods)),
            checkpoint,
        }
    }

    fn report(&mut self, index: u64, ended: bool) -> Report {
        let used = usage::own_thread() - self.before;
        let checkpoint = u64::from(self.checkpoint);
        self.report_at = ((index / checkpoint + 1) * checkpoint).min(u64::from(self.schedule.periods));
        Report {
            segment: self.number,
            ended,
            start: self.schedule.start,
            periods: self.books.close(),
            early: self.early,
            used,
        }
    }

    /// The next segment, without a gap.
    fn next(&self) -> OpenSegment {
        let length = Nanos(self.schedule.interval.0 * u64::from(self.schedule.periods));
        let schedule = Schedule {
            start: self.schedule.start + length,
            ..self.schedule
        };
        OpenSegment {
            number: self.number + 1,
            ..OpenSegment::first(schedule, self.checkpoint)
        }
    }
}

/// Takes the samples of `schedule` until its end or `stop`, and gives its report. With `checkpoints`, segment follows segment
/// until `stop`: `schedule` is that of the first, and all reports go there.
pub(crate) fn take_segments<S: TimerSource>(
    source: &mut S,
    schedule: Schedule,
    ring: &mut RingWriter,
    checkpoints: &mut Option<Checkpoints>,
    stop: &AtomicBool,
) -> io::Result<Report> {
    let checkpoint = checkpoints.as_ref().map_or(u32::MAX, |checkpoints| checkpoints.every);
    let mut segment = OpenSegment::first(source.arm(schedule)?, checkpoint);
    let periods = u64::from(schedule.periods);
    // The next period, which is beyond the segment's end after a sample that was late for it; periods since the last kept
    // sample.
    let (mut index, mut step) = (0_u64, 1_u64);
    loop {
        if index >= segment.report_at {
            let Some(checkpoints) = checkpoints else {
                break;
            };
            let ended = index >= periods;
            let report = segment.report(index, ended);
            checkpoints.reporter.say(&report)?;
            if ended && checkpoints.most.is_some_and(|most| segment.number + 1 >= most) {
                return Ok(report);
            }
            if ended {
                index -= periods;
                segment = segment.next();
                segment.books.missed(index.min(periods));
            }
            continue;
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let Some(wake) = source.wait(&segment.schedule, index as u32)? else {
            continue;
        };
        let due = segment.schedule.due(index as u32);
        segment.early += u64::from(wake.now < due);
        let (words, used) = pack(step, wake.now.saturating_sub(due).0);
        if ring.push(&words[..used]) {
            step = 0;
            segment.books.taken();
        } else {
            segment.books.lost(1);
        }
        let next = (index + 1).saturating_add(wake.overrun);
        segment.books.missed(next.min(periods) - index - 1);
        step += next - index;
        index = next;
    }
    let last = segment.report(index, true);
    match checkpoints {
        Some(checkpoints) => checkpoints.reporter.say(&last).map(|()| last),
        None => Ok(last),
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::reports;
    use super::super::ring::ring;
    use super::super::source::Wake;
    use super::*;
    use crate::packed::Unpacker;
    use worstcase_contract::record::Periods;

    /// Wake-ups that are late by a script, or early; sets the flag at its end.
    struct Script<'a>(std::vec::IntoIter<i64>, &'a AtomicBool);

    impl TimerSource for Script<'_> {
        fn arm(&mut self, schedule: Schedule) -> io::Result<Schedule> {
            Ok(schedule)
        }

        fn wait(&mut self, schedule: &Schedule, index: u32) -> io::Result<Option<Wake>> {
            let late = self.0.next().unwrap();
            self.1.store(self.0.len() == 0, Ordering::Relaxed);
            let now = Nanos(schedule.due(index).0.wrapping_add_signed(late));
            let overrun = schedule.overrun(index, now);
            Ok(Some(Wake { now, overrun }))
        }
    }

    /// (segment, ended, start, expected, taken, missed, longest) of each report, and (step, latency) of each sample.
    type Told = (Vec<(u64, bool, u64, u64, u64, u64, u64)>, Vec<(u64, u64)>);

    fn run(periods: u32, checkpoint: u32, late: Vec<i64>) -> Told {
        run_of(periods, checkpoint, None, late)
    }

    fn run_of(periods: u32, checkpoint: u32, most: Option<u64>, late: Vec<i64>) -> Told {
        let stop = AtomicBool::new(false);
        let schedule = Schedule {
            start: Nanos(1_000_000),
            interval: Nanos(1_000),
            periods,
        };
        let ((mut writer, mut reader), (reporter, mut reports)) = (ring(64), reports());
        let every = checkpoint;
        let mut script = Script(late.into_iter(), &stop);
        take_segments(
            &mut script,
            schedule,
            &mut writer,
            &mut Some(Checkpoints { every, most, reporter }),
            &stop,
        )
        .unwrap();
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

    /// A run: one segment, without reports on its way.
    fn one(periods: u32, late: Vec<i64>, words: usize) -> (Report, Vec<(u64, u64)>) {
        let stop = AtomicBool::new(false);
        let schedule = Schedule {
            start: Nanos(1_000_000),
            interval: Nanos(1_000),
            periods,
        };
        let (mut writer, mut reader) = ring(words);
        let late = late.into_iter().chain([0; 20]).collect::<Vec<_>>();
        let report = take_segments(
            &mut Script(late.into_iter(), &stop),
            schedule,
            &mut writer,
            &mut None,
            &stop,
        )
        .unwrap();
        let (mut unpacker, mut samples) = (Unpacker::default(), Vec::new());
        reader.drain(|word| samples.extend(unpacker.push(word)));
        (report, samples)
    }

    #[test]
    fn expected_is_taken_plus_missed() {
        let (report, samples) = one(10, vec![5, 2_100, -3, 7], 64);
        let expected = Periods {
            expected: 10,
            taken: 8,
            missed: 2,
            lost: 0,
            longest_missed_run: 2,
            missed_at_ends: 0,
        };
        assert_eq!(
            (report.periods, report.ended, report.start),
            (expected, true, Nanos(1_000_000))
        );
        assert_eq!(report.early, 1);
        assert_eq!(samples[..4], [(1, 5), (1, 2_100), (3, 0), (1, 7)]);
        let missed: u64 = samples.iter().map(|(step, _)| step - 1).sum();
        assert_eq!(samples.len() as u64 + missed, 10);
    }

    #[test]
    fn a_sample_that_is_late_beyond_the_end_ends_a_run_and_nothing_is_missed_after_it() {
        let (report, samples) = one(4, vec![5, 9_100], 64);
        let p = report.periods;
        assert_eq!((p.expected, p.taken, p.missed, p.missed_at_ends), (4, 2, 2, 2));
        assert_eq!(samples, [(1, 5), (1, 9_100)]);
        assert_eq!(one(0, vec![], 64).1, []);
    }

    #[test]
    fn a_sample_without_room_is_lost_and_no_period_is_missed_for_it() {
        let (Report { periods, .. }, samples) = one(20, vec![], 8);
        assert_eq!(
            (periods.expected, periods.missed, periods.longest_missed_run),
            (20, 0, 0)
        );
        assert_eq!(
            (periods.taken, periods.lost),
            (samples.len() as u64, 20 - samples.len() as u64)
        );
        assert!(periods.lost > 0);
    }

    #[test]
    fn the_last_of_a_number_of_segments_is_whole_and_nothing_follows() {
        let (told, samples) = run_of(3, 3, Some(2), vec![0; 20]);
        let ended: Vec<(u64, bool, u64)> = told.iter().map(|t| (t.0, t.1, t.4)).collect();
        assert_eq!(ended, [(0, true, 3), (1, true, 3)]);
        assert_eq!(samples.len(), 6);
    }
}
