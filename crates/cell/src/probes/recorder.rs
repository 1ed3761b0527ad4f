//! The sample buffers, the marks, and the accounting: every period is either a sample or counted as missed.

use worstcase_instruments::record::Sample;
use worstcase_instruments::schedule::Schedule;
use worstcase_instruments::sys::{clock, memory};
use worstcase_logs::Nanos;
use worstcase_logs::mark::{MarkKind, mark};

/// Takes samples without allocating, faulting or calling the system.
#[derive(Debug)]
pub(super) struct Recorder {
    schedule: Schedule,
    /// Latency in ns of each sample, in order; what the marks store to.
    slots: Box<[u64]>,
    /// The period of each sample.
    indices: Box<[u32]>,
    taken: usize,
    /// The period that the next sample belongs to.
    index: u32,
    due: Nanos,
    missed: u32,
    early: u32,
}

/// What a recorder holds at the end.
#[derive(Debug)]
pub(super) struct Recorded {
    pub samples: Vec<Sample>,
    /// Samples before their due time, which a sound clock never gives.
    pub early: u32,
}

impl Recorder {
    /// A recorder with all its memory present.
    pub fn new(schedule: Schedule) -> Recorder {
        let n = schedule.periods as usize;
        let mut recorder = Recorder {
            slots: vec![0; n].into_boxed_slice(),
            indices: vec![0; n].into_boxed_slice(),
            taken: 0,
            index: 0,
            due: schedule.start,
            missed: 0,
            early: 0,
            schedule,
        };
        memory::prefault(&mut recorder.slots);
        memory::prefault(&mut recorder.indices);
        recorder
    }

    /// Starts over with another start and the same number of periods: the memory stays where it is.
    pub(crate) fn restart(&mut self, start: Nanos) {
        self.schedule.start = start;
        (self.taken, self.index, self.missed, self.early) = (0, 0, 0, 0);
        self.due = start;
    }

    pub fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// Marks that measuring begins, with what the clock shows: from then on the lab knows how it goes.
    pub fn begin(&mut self) {
        let now = clock::monotonic();
        mark::<{ MarkKind::Begin as u8 }>(&mut self.slots[0], now.0);
    }

    /// Marks that measuring is over; slot 0 keeps its sample.
    pub fn end(&mut self) {
        let first = self.slots[0];
        mark::<{ MarkKind::End as u8 }>(&mut self.slots[0], first);
    }

    /// When the next sample is due; `None` at the end.
    #[inline(always)]
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        (self.index < self.schedule.periods).then_some(self.due)
    }

    /// Takes the sample of the current period at `now`; the mark comes first, the book-keeping after it.
    #[inline(always)]
    pub fn take(&mut self, now: Nanos) {
        if let Some(slot) = self.slots.get_mut(self.taken) {
            mark::<{ MarkKind::Sample as u8 }>(slot, now.saturating_sub(self.due).0);
            self.indices[self.taken] = self.index;
            self.taken += 1;
            self.early += u32::from(now < self.due);
        }
    }

    /// How many further periods became due up to `now`.
    #[inline(always)]
    pub fn overrun(&self, now: Nanos) -> u64 {
        self.schedule.overrun(self.index, now)
    }

    /// Goes on to the next period, over `overrun` periods that were missed.
    #[inline(always)]
    pub fn advance(&mut self, overrun: u64) {
        let next = self.schedule.next(self.index, overrun);
        self.missed += next - self.index - 1;
        self.index = next;
        self.due = self.schedule.due(next);
    }

    /// The samples, if the books balance: expected = taken + missed, and no period was called missed that was
    /// not yet due when the sample before it was taken.
    pub fn finish(self) -> Result<Recorded, String> {
        let Schedule { interval, periods, .. } = self.schedule;
        if self.taken as u64 + u64::from(self.missed) != u64::from(periods) {
            return Err(format!(
                "{} samples and {} missed periods are not {periods} periods",
                self.taken, self.missed
            ));
        }
        let samples: Vec<Sample> = std::iter::zip(&self.indices, &self.slots)
            .take(self.taken)
            .map(|(&index, &latency)| Sample {
                index,
                latency: Nanos(latency),
            })
            .collect();
        let following = samples.iter().skip(1).map(|s| s.index).chain([periods]);
        for (sample, next) in std::iter::zip(&samples, following) {
            let overrun = u64::from(next - sample.index - 1);
            if sample.latency.0 < overrun * interval.0 {
                return Err(format!(
                    "{overrun} periods of {interval} were counted as missed after period {}, which was only {} late",
                    sample.index, sample.latency
                ));
            }
        }
        Ok(Recorded {
            samples,
            early: self.early,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder() -> Recorder {
        Recorder::new(Schedule {
            start: Nanos(1_000),
            interval: Nanos(100),
            periods: 5,
        })
    }

    #[test]
    fn samples_and_missed_periods_are_all_periods() {
        let mut r = recorder();
        r.begin();
        let mut late = [5, 230, 7].into_iter();
        while let Some(due) = r.next_due() {
            let now = due + Nanos(late.next().expect("three samples are taken"));
            r.take(now);
            r.advance(r.overrun(now));
        }
        r.end();
        assert_eq!(r.missed, 2);
        let samples = r.finish().unwrap().samples;
        let got: Vec<(u32, u64)> = samples.iter().map(|s| (s.index, s.latency.0)).collect();
        assert_eq!(got, [(0, 5), (1, 230), (4, 7)]);
    }

    #[test]
    fn books_that_do_not_balance_are_refused() {
        let mut r = recorder();
        r.take(Nanos(1_001));
        r.advance(0);
        assert!(
            r.finish()
                .unwrap_err()
                .contains("1 samples and 0 missed periods are not 5")
        );
    }

    #[test]
    fn a_missed_period_that_was_not_due_is_refused() {
        let mut r = recorder();
        r.take(Nanos(1_150));
        r.advance(4); // but only one period more was due
        assert!(r.finish().unwrap_err().contains("only 150 ns late"));
    }

    #[test]
    fn a_sample_before_its_due_time_is_counted_as_such() {
        let mut r = recorder();
        r.take(Nanos(999));
        r.advance(0);
        while r.next_due().is_some() {
            r.take(Nanos(5_000));
            r.advance(r.overrun(Nanos(5_000)));
        }
        assert_eq!(r.finish().unwrap().early, 1);
    }
}
