//! The sampling loop: wait, read the clock, hand over, again.

use super::books::PeriodBooks;
use super::ring::RingWriter;
use super::source::TimerSource;
use crate::packed::pack;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_contract::Schedule;
use worstcase_contract::record::Periods;

/// The result of a thread's loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopResult {
    /// The schedule as the timer kept it.
    pub(crate) schedule: Schedule,
    /// The account of the periods that were due until the loop ended.
    pub periods: Periods,
    /// Samples before their due time, which count as 0.
    pub early: u64,
}

impl LoopResult {
    /// For a loop that reported its results on its way.
    pub(crate) fn none(schedule: Schedule) -> LoopResult {
        LoopResult {
            schedule,
            periods: Periods::default(),
            early: 0,
        }
    }
}

/// Takes the samples of `schedule` until its end or `stop`.
pub fn take<S: TimerSource>(
    source: &mut S,
    schedule: Schedule,
    ring: &mut RingWriter,
    stop: &AtomicBool,
) -> io::Result<LoopResult> {
    let schedule = source.arm(schedule)?;
    let (mut index, mut last) = (0_u32, -1_i64);
    let (mut books, mut early) = (PeriodBooks::default(), 0);
    while index < schedule.periods {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let Some(wake) = source.wait(&schedule, index)? else {
            continue;
        };
        let due = schedule.due(index);
        early += u64::from(wake.now < due);
        let (words, used) = pack((i64::from(index) - last) as u64, wake.now.saturating_sub(due).0);
        if ring.push(&words[..used]) {
            last = i64::from(index);
            books.taken();
        } else {
            books.lost(1);
        }
        let next = schedule.next(index, wake.overrun);
        books.missed(u64::from(next - index - 1));
        index = next;
    }
    Ok(LoopResult {
        schedule,
        periods: books.close(),
        early,
    })
}

#[cfg(test)]
mod tests {
    use super::super::ring::ring;
    use super::super::source::Wake;
    use super::*;
    use crate::packed::Unpacker;
    use worstcase_contract::Nanos;

    /// Wake-ups that are late by a script.
    struct Script(std::vec::IntoIter<i64>);

    impl TimerSource for Script {
        fn arm(&mut self, schedule: Schedule) -> io::Result<Schedule> {
            Ok(schedule)
        }

        fn wait(&mut self, schedule: &Schedule, index: u32) -> io::Result<Option<Wake>> {
            let late = self.0.next().unwrap_or(0);
            let now = Nanos(schedule.due(index).0.wrapping_add_signed(late));
            Ok(Some(Wake {
                now,
                overrun: schedule.overrun(index, now),
            }))
        }
    }

    fn run(periods: u32, late: Vec<i64>, words: usize) -> (LoopResult, Vec<(u64, u64)>) {
        let schedule = Schedule {
            start: Nanos(1_000_000),
            interval: Nanos(1_000),
            periods,
        };
        let (mut writer, mut reader) = ring(words);
        let taken = take(
            &mut Script(late.into_iter()),
            schedule,
            &mut writer,
            &AtomicBool::new(false),
        )
        .unwrap();
        let (mut unpacker, mut samples) = (Unpacker::default(), Vec::new());
        reader.drain(|word| samples.extend(unpacker.push(word)));
        (taken, samples)
    }

    #[test]
    fn expected_is_taken_plus_missed() {
        let (taken, samples) = run(10, vec![5, 2_100, -3, 7], 64);
        let expected = Periods {
            expected: 10,
            taken: 8,
            missed: 2,
            lost: 0,
            longest_missed_run: 2,
            missed_at_ends: 0,
        };
        assert_eq!(taken.periods, expected);
        assert_eq!(taken.early, 1);
        assert_eq!(samples[..4], [(1, 5), (1, 2_100), (3, 0), (1, 7)]);
        let missed: u64 = samples.iter().map(|(step, _)| step - 1).sum();
        assert_eq!(samples.len() as u64 + missed, 10);
    }

    #[test]
    fn a_sample_without_room_is_lost_and_no_period_is_missed_for_it() {
        let (LoopResult { periods, .. }, samples) = run(20, vec![], 8);
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
}
