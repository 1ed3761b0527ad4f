//! Which period is due when, and which one comes next: pure functions, no clock.

use worstcase_logs::Nanos;
use worstcase_logs::prng::SplitMix64;

/// The longest tick in use (HZ=100). Starting on a multiple of it makes the phase against the tick the seed's choice.
const LONGEST_TICK: u64 = 10_000_000;

/// The phase of the first due time within the longest tick, from the seed.
pub fn phase(seed: u64) -> Nanos {
    Nanos(SplitMix64::new(seed).below(LONGEST_TICK))
}

/// The first due time if nothing may be due before `earliest`: at the next multiple of the longest tick, plus the phase that
/// the seed chose.
pub fn start(earliest: Nanos, seed: u64) -> Nanos {
    Nanos(earliest.0.next_multiple_of(LONGEST_TICK)) + phase(seed)
}

/// The due times of one probe: `start + index * interval` for `index < periods`.
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

    /// The period that follows `index` when `overrun` further ones became due before `index` was dealt with;
    /// at most `periods`, which means that the cell is over.
    #[inline(always)]
    pub fn next(&self, index: u32, overrun: u64) -> u32 {
        (u64::from(index) + 1)
            .saturating_add(overrun)
            .min(u64::from(self.periods)) as u32
    }

    /// How many periods after `index` became due up to and including `now`; not limited to this schedule's end.
    #[inline(always)]
    pub fn overrun(&self, index: u32, now: Nanos) -> u64 {
        now.0.saturating_sub(self.due(index).0) / self.interval.0
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
    fn in_time_the_next_period_is_the_next_one() {
        assert_eq!(S.overrun(0, Nanos(1_000)), 0);
        assert_eq!(S.overrun(0, Nanos(1_099)), 0);
        assert_eq!(S.overrun(0, Nanos(999)), 0);
        assert_eq!(S.next(0, 0), 1);
    }

    #[test]
    fn a_period_that_becomes_due_meanwhile_is_passed_over() {
        assert_eq!(S.overrun(0, Nanos(1_100)), 1);
        assert_eq!(S.overrun(2, Nanos(1_550)), 3);
        assert_eq!(S.next(2, 3), 6);
    }

    #[test]
    fn nothing_is_due_beyond_the_end() {
        assert_eq!(S.next(9, 0), 10);
        assert_eq!(S.next(2, 50), 10);
        assert_eq!(S.next(2, u64::MAX), 10);
    }

    /// Whatever the lateness of each sample, counting due times one by one gives the same periods.
    #[test]
    fn the_next_period_is_the_first_one_due_after_now() {
        let mut random = SplitMix64::new(7);
        for _ in 0..2_000 {
            let s = Schedule {
                start: Nanos(random.below(1 << 40)),
                interval: Nanos(1 + random.below(1_000)),
                periods: 1 + random.below(50) as u32,
            };
            let (mut index, mut taken, mut missed) = (0, 0, 0);
            while index < s.periods {
                let now = s.due(index) + Nanos(random.below(4 * s.interval.0));
                let first_after_now = (index + 1..s.periods).find(|i| s.due(*i) > now).unwrap_or(s.periods);
                let next = s.next(index, s.overrun(index, now));
                assert_eq!(next, first_after_now);
                taken += 1;
                missed += next - index - 1;
                index = next;
            }
            assert_eq!(taken + missed, s.periods);
        }
    }

    #[test]
    fn a_schedule_starts_after_now_at_the_phase_of_its_seed() {
        for earliest in [1, 9_999_999, 10_000_000, 123_456_789_012] {
            let start = start(Nanos(earliest), 3);
            assert!(start.0 >= earliest && start.0 < earliest + 20_000_000);
            assert_eq!(start.0 % 10_000_000, phase(3).0);
        }
    }
}
