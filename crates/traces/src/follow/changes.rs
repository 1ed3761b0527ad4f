//! A loop that gets another period while it is followed.

use std::collections::VecDeque;
use worstcase_contract::Nanos;

/// A loop got another period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodChange {
    /// A release, from which on it holds.
    pub at: Nanos,
    /// Its period before.
    pub from: Nanos,
    /// Its period since.
    pub to: Nanos,
}

/// So many distances of two releases tell a change.
const STEPS: usize = 16;
/// So many of them may be others, because the loop was late.
const OTHERS: usize = 2;
/// What differs by less than this part is the same.
const SAME: f64 = 0.02;
/// The same of a loop that sleeps for a time: its work is a part of the distance.
const SAME_RELATIVE: f64 = 0.25;

/// The latest releases of a loop.
#[derive(Debug, Default)]
pub(super) struct LatestReleases {
    /// With whether the thread waited already when the next one was due.
    releases: VecDeque<(Nanos, bool)>,
}

impl LatestReleases {
    /// Adds one, of a wait that began at `entered`, of a loop with this period.
    pub fn add(&mut self, release: Nanos, entered: Nanos, period: Nanos) {
        let last = self.releases.back().map(|(last, _)| *last);
        if last.is_some_and(|last| release <= last) {
            return;
        }
        let was_waiting = last.is_some_and(|last| entered < last + period);
        if self.releases.len() > STEPS {
            self.releases.pop_front();
        }
        self.releases.push_back((release, was_waiting));
    }

    /// The change to another period than this one, if they tell one. A thread that was late may have missed periods, so a longer
    /// one is believed only of who waited in time.
    pub fn change(&self, period: Nanos, is_relative: bool) -> Option<PeriodChange> {
        if self.releases.len() <= STEPS {
            return None;
        }
        let steps = || {
            let pairs = self.releases.iter().zip(self.releases.iter().skip(1));
            pairs.map(|((from, _), (to, was_waiting))| (*from, to.0 - from.0, *was_waiting))
        };
        let mut lengths: Vec<u64> = steps().map(|(_, length, _)| length).collect();
        let (_, median, _) = lengths.select_nth_unstable(STEPS / 2);
        let to = *median;
        let is_same = |length: u64, other: u64, part: f64| length.abs_diff(other) as f64 <= part * other as f64;
        if is_same(to, period.0, if is_relative { SAME_RELATIVE } else { SAME }) {
            return None;
        }
        let is_of_it = |(_, length, was_waiting): &(Nanos, u64, bool)| {
            is_same(*length, to, SAME) && (to < period.0 || *was_waiting)
        };
        let of_it: Vec<_> = steps().filter(is_of_it).collect();
        let (at, ..) = *of_it.first().filter(|_| of_it.len() + OTHERS >= STEPS)?;
        Some(PeriodChange {
            at,
            from: period,
            to: Nanos(to),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(steps: &[u64], was_waiting: bool, is_relative: bool) -> Option<PeriodChange> {
        let mut latest = LatestReleases::default();
        let mut at = Nanos(1);
        latest.add(at, at, Nanos(1_000));
        for step in steps {
            let work = if was_waiting { 100 } else { 1_100 };
            latest.add(at + Nanos(*step), at + Nanos(work), Nanos(1_000));
            at = at + Nanos(*step);
        }
        latest.change(Nanos(1_000), is_relative)
    }

    #[test]
    fn as_many_steps_of_another_length_as_are_looked_at_are_a_change() {
        let to = |to| {
            Some(PeriodChange {
                at: Nanos(1),
                from: Nanos(1_000),
                to: Nanos(to),
            })
        };
        assert_eq!(change(&[2_000; STEPS], true, false), to(2_000));
        assert_eq!(change(&[500; STEPS], false, false), to(500));
        assert_eq!(change(&[1_500; STEPS - 1], true, false), None);
        assert_eq!(change(&[1_010; STEPS], true, false), None);
        assert_eq!(change(&[1_200; STEPS], true, true), None);
    }

    #[test]
    fn who_is_late_misses_periods_and_has_no_longer_one() {
        assert_eq!(change(&[2_000; STEPS], false, false), None);
        let irregular: Vec<u64> = (0..STEPS as u64).map(|nth| 1_500 + 100 * nth).collect();
        assert_eq!(change(&irregular, true, false), None);
    }
}
