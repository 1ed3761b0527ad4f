//! Which period is due when, and which one comes next: pure functions, no clock.

use worstcase_probe::Nanos;

/// The due times of one thread: `start + index * interval` for `index < periods`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The due time of period 0.
    pub start: Nanos,
    /// Distance of two due times.
    pub interval: Nanos,
    /// Number of periods.
    pub periods: u32,
}

impl Schedule {
    /// When period `index` is due.
    #[inline(always)]
    pub fn due(&self, index: u32) -> Nanos {
        Nanos(self.start.0 + u64::from(index) * self.interval.0)
    }

    /// The period after `index`, if `overrun` further ones became due meanwhile; `periods` at the end.
    #[inline(always)]
    pub fn next(&self, index: u32, overrun: u64) -> u32 {
        (u64::from(index) + 1)
            .saturating_add(overrun)
            .min(u64::from(self.periods)) as u32
    }

    /// How many periods after `index` became due up to and including `now`.
    #[inline(always)]
    pub fn overrun(&self, index: u32, now: Nanos) -> u64 {
        now.saturating_sub(self.due(index)).0 / self.interval.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Schedule = Schedule {
        start: Nanos(1_000),
        interval: Nanos(100),
        periods: 10,
    };

    #[test]
    fn periods_that_become_due_meanwhile_are_passed_over() {
        assert_eq!((S.overrun(0, Nanos(1_099)), S.overrun(0, Nanos(1_100))), (0, 1));
        assert_eq!((S.next(2, 3), S.next(9, 0), S.next(2, u64::MAX)), (6, 10, 10));
    }
}
