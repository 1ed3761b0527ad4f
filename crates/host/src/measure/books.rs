//! Accounts for the periods of one measuring thread. Only the thread can tell a missed period from a lost sample: in its
//! output both are steps of more than one period.

use worstcase_contract::record::Periods;

/// The account of a thread's periods, fed in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeriodBooks {
    periods: Periods,
    /// Periods missed since the last kept sample.
    missed_since: u64,
}

impl PeriodBooks {
    /// The next period has a sample.
    #[inline(always)]
    pub fn taken(&mut self) {
        if self.periods.taken == 0 {
            self.periods.missed_at_ends = self.missed_since;
        }
        self.missed_since = 0;
        self.periods.taken += 1;
    }

    /// The next `count` periods had samples which could not be kept.
    #[inline(always)]
    pub fn lost(&mut self, count: u64) {
        self.periods.lost += count;
    }

    /// The next `count` periods passed while the probe was late.
    #[inline(always)]
    pub fn missed(&mut self, count: u64) {
        self.gap(count, 0);
    }

    /// The next `missed + lost` periods, in an unknown order.
    pub fn gap(&mut self, missed: u64, lost: u64) {
        self.lost(lost);
        self.periods.missed += missed;
        self.missed_since += missed;
        // However the lost ones are spread, at least this many missed periods follow each other.
        let run = missed.div_ceil(lost + 1);
        self.periods.longest_missed_run = self.periods.longest_missed_run.max(run);
    }

    /// Number of periods so far.
    pub(crate) fn so_far(&self) -> u64 {
        self.periods.taken + self.periods.missed + self.periods.lost
    }

    /// The account.
    pub fn close(self) -> Periods {
        Periods {
            expected: self.so_far(),
            missed_at_ends: self.periods.missed_at_ends + self.missed_since,
            ..self.periods
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_sample_is_no_missed_period() {
        let mut books = PeriodBooks::default();
        books.taken();
        books.missed(2);
        books.lost(50);
        books.missed(1);
        books.taken();
        let expected = Periods {
            expected: 55,
            taken: 2,
            missed: 3,
            lost: 50,
            longest_missed_run: 2,
            missed_at_ends: 0,
        };
        assert_eq!(books.close(), expected);
    }

    #[test]
    fn only_missed_periods_are_unbounded_at_the_ends() {
        let mut books = PeriodBooks::default();
        books.lost(1);
        books.missed(3);
        books.taken();
        books.missed(1);
        books.taken();
        books.lost(7);
        books.missed(4);
        let closed = books.close();
        assert_eq!((closed.missed, closed.lost, closed.missed_at_ends), (8, 8, 7));
        let mut nothing = PeriodBooks::default();
        nothing.missed(9);
        assert_eq!(nothing.close().missed_at_ends, 9);
    }

    #[test]
    fn where_lost_and_missed_are_mixed_only_a_run_that_is_certain_counts() {
        let run = |missed, lost| {
            let mut books = PeriodBooks::default();
            books.gap(missed, lost);
            books.close().longest_missed_run
        };
        assert_eq!([run(5, 0), run(5, 1), run(5, 4), run(5, 5), run(0, 5)], [5, 3, 1, 1, 0]);
    }
}
