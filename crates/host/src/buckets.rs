//! Buckets of latencies as Prometheus has them: some fixed bounds, and the exponential buckets of its native
//! histograms.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Upper bounds of the fixed buckets, in ns.
pub const BOUNDS: [u64; 22] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// Eight exponential buckets to a power of two: `2^3`.
pub const SCHEMA: i32 = 3;

/// Counted latencies, in bounded memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buckets {
    /// All latencies.
    pub count: u64,
    /// Their sum in ns.
    pub sum_ns: u64,
    /// How many are at most each bound of [`BOUNDS`] and above the one before; latencies above all bounds are in
    /// `count` alone.
    pub fixed: [u64; BOUNDS.len()],
    /// By number n of the exponential bucket, which holds latencies in seconds above `2^((n-1)/8)` up to `2^(n/8)`.
    pub exponential: BTreeMap<i32, u64>,
    /// Latencies of 0.
    pub zero: u64,
}

impl Buckets {
    /// Counts a latency.
    pub fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        if let Some(bucket) = self.fixed.get_mut(BOUNDS.partition_point(|bound| *bound < ns)) {
            *bucket += 1;
        }
        match exponential(ns) {
            Some(bucket) => *self.exponential.entry(bucket).or_default() += 1,
            None => self.zero += 1,
        }
    }
}

/// The exponential bucket of a latency; none for 0.
fn exponential(ns: u64) -> Option<i32> {
    let per_octave = f64::from(1 << SCHEMA);
    (ns > 0).then(|| ((ns as f64 / 1e9).log2() * per_octave).ceil() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_latency_is_in_the_bucket_whose_bounds_hold_it() {
        assert_eq!(exponential(0), None);
        // Powers of two of a second are bounds of buckets.
        assert_eq!(
            [1_000_000_000, 500_000_000, 500_000_001].map(exponential),
            [Some(0), Some(-8), Some(-7)]
        );
        for ns in [1, 999, 1_000, 123_456, 7_000_000_000, u64::MAX] {
            let bucket = exponential(ns).unwrap();
            let bound = |n: i32| 2_f64.powf(f64::from(n) / 8.0);
            let seconds = ns as f64 / 1e9;
            assert!(
                seconds > bound(bucket - 1) && seconds <= bound(bucket) * (1.0 + 1e-12),
                "{ns}"
            );
        }
    }

    #[test]
    fn nothing_falls_out() {
        let mut buckets = Buckets::default();
        for ns in [0, 1_000, 1_001, 10_000_000_000, 10_000_000_001] {
            buckets.add(ns);
        }
        assert_eq!(buckets.fixed[..2], [2, 1]);
        assert_eq!(buckets.fixed.iter().sum::<u64>(), buckets.count - 1);
        assert_eq!(buckets.exponential.values().sum::<u64>() + buckets.zero, buckets.count);
        assert_eq!(buckets.sum_ns, 20_000_002_002);
    }
}
