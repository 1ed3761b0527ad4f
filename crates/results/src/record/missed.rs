//! The latencies of periods that were missed.
//!
//! A probe that is late by more than its period takes no samples of the periods that pass meanwhile. A task that is due in
//! each of them would have been late too: in the first by one period less than the sample before, in the next by two less.
//! Percentiles of the samples alone leave these out, the more of them the later the probe was (Gil Tene's "coordinated
//! omission").

use worstcase_contract::Nanos;

/// Gives the latencies of missed periods, from the samples in the order of their periods.
#[derive(Clone, Copy, Debug)]
pub struct MissedPeriods {
    pub(super) period: Nanos,
    /// The sample before.
    pub(super) last: Option<(u32, Nanos)>,
}

impl MissedPeriods {
    /// For periods of this length.
    pub fn new(period: Nanos) -> MissedPeriods {
        MissedPeriods { period, last: None }
    }

    /// Takes the sample of period `index`; calls `each` with the latency of every period that was missed between the sample
    /// before it and this one.
    pub fn add(&mut self, index: u32, latency: Nanos, each: impl FnMut(Nanos)) {
        self.until(index, each);
        self.last = Some((index, latency));
    }

    /// Calls `each` with the latency of every period that was missed since the last sample, up to the period `index`.
    pub fn until(&self, index: u32, mut each: impl FnMut(Nanos)) {
        let Some((last, latency)) = self.last else {
            return;
        };
        // Periods whose sample was lost leave a gap too: a latency explains only as many missed periods as fit into it.
        let fit = latency.0.checked_div(self.period.0).unwrap_or(0);
        let missed = u64::from(index.saturating_sub(last + 1)).min(fit);
        (1..=missed).for_each(|n| each(Nanos(latency.0 - n * self.period.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD: Nanos = Nanos(1_000_000);

    fn missed(samples: &[(u32, u64)], expected: u32) -> Vec<u64> {
        let (mut periods, mut latencies) = (MissedPeriods::new(PERIOD), Vec::new());
        for (index, latency) in samples {
            periods.add(*index, Nanos(*latency), |n| latencies.push(n.0));
        }
        periods.until(expected, |n| latencies.push(n.0));
        latencies
    }

    #[test]
    fn each_missed_period_is_late_by_one_period_less() {
        assert_eq!(
            missed(&[(0, 50_000), (1, 4_200_000), (6, 7)], 7),
            [3_200_000, 2_200_000, 1_200_000, 200_000]
        );
        // The last sample's own.
        assert_eq!(missed(&[(0, 2_500_000)], 3), [1_500_000, 500_000]);
    }

    #[test]
    fn lost_samples_and_what_came_before_the_first_explain_nothing() {
        assert!(missed(&[(5, 100), (9, 100)], 20).is_empty());
        assert_eq!(missed(&[(0, 1_000_001), (9, 0)], 10), [1]);
    }

    proptest! {
        /// Above every limit lie min(k + 1, ceil((L - t) / P)) periods of a sample L with k missed ones.
        #[test]
        fn as_many_are_above_a_limit_as_the_formula_says(latency in 0_u64..20_000_000, gap in 0_u32..30, limit in 0_u64..20_000_000) {
            let k = u64::from(gap).min(latency / PERIOD.0);
            let all = missed(&[(0, latency)], gap + 1).into_iter().chain([latency]);
            let above = all.filter(|l| *l > limit).count() as u64;
            let formula = (k + 1).min(latency.saturating_sub(limit).div_ceil(PERIOD.0));
            prop_assert_eq!(above, formula);
        }
    }
}
