//! One histogram: counts of values by bucket, and the rules that say which bucket holds a value.
//!
//! (Records keep every sample, or an `hdrhistogram` at three digits. These are for people and for other programs, which want
//! wide or round buckets.)

use std::collections::BTreeMap;
use std::marker::PhantomData;

/// The rule that tells a value's bucket. The buckets of a rule follow each other without gaps, from bucket 0, which
/// holds 0.
pub trait BucketRule {
    /// The bucket of a value.
    fn bucket(value: u64) -> u64;
    /// The smallest value that it holds.
    fn lower_edge(bucket: u64) -> u64;
}

/// Buckets of a thousand values each: whole microseconds of nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Thousands;

impl BucketRule for Thousands {
    fn bucket(value: u64) -> u64 {
        value / 1_000
    }

    fn lower_edge(bucket: u64) -> u64 {
        bucket.saturating_mul(1_000)
    }
}

/// A bucket from each power of two to below the next; 0 and 1 are together.
#[derive(Clone, Copy, Debug, Default)]
pub struct PowersOfTwo;

impl BucketRule for PowersOfTwo {
    fn bucket(value: u64) -> u64 {
        value.max(1).ilog2().into()
    }

    fn lower_edge(bucket: u64) -> u64 {
        match bucket {
            0 => 0,
            64.. => u64::MAX,
            _ => 1 << bucket,
        }
    }
}

/// Four to a power of two: 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
#[derive(Clone, Copy, Debug, Default)]
pub struct FourAnOctave;

impl BucketRule for FourAnOctave {
    fn bucket(value: u64) -> u64 {
        match value {
            0..4 => value,
            _ => {
                let octave = value.ilog2();
                let within = value >> (octave - 2) & 3;
                u64::from((octave - 1) * 4) + within
            }
        }
    }

    fn lower_edge(bucket: u64) -> u64 {
        let (octave, within) = (bucket / 4 + 1, bucket % 4);
        match octave {
            0..2 => bucket,
            2..64 => (4 + within) << (octave - 2),
            _ => u64::MAX,
        }
    }
}

/// Six to a decade: from 0, 10, 15, 20, 30, 50, 70, 100, ...
#[derive(Clone, Copy, Debug, Default)]
pub struct SixADecade;

impl SixADecade {
    /// The bucket that begins at 10^19, the last power of ten in a u64.
    const LAST: u64 = 109;
}

impl BucketRule for SixADecade {
    fn bucket(value: u64) -> u64 {
        (0..=Self::LAST)
            .rev()
            .find(|n| Self::lower_edge(*n) <= value)
            .unwrap_or(0)
    }

    fn lower_edge(bucket: u64) -> u64 {
        match bucket.checked_sub(1) {
            None => 0,
            Some(n) => {
                [10_u64, 15, 20, 30, 50, 70][n as usize % 6].saturating_mul(10_u64.saturating_pow((n / 6) as u32))
            }
        }
    }
}

/// Values counted by a rule's buckets. Nothing falls out: every value has a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketCounts<R> {
    counts: BTreeMap<u64, u64>,
    rule: PhantomData<R>,
}

impl<R> Default for BucketCounts<R> {
    fn default() -> Self {
        BucketCounts {
            counts: BTreeMap::new(),
            rule: PhantomData,
        }
    }
}

/// A bucket and how many values it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedBucket {
    /// The smallest value that belongs here.
    pub from: u64,
    /// The smallest that does not any more.
    pub below: u64,
    /// The number of values.
    pub count: u64,
}

impl<R: BucketRule> BucketCounts<R> {
    /// Takes a value in, so many times.
    pub fn add(&mut self, value: u64, times: u64) {
        let count = self.counts.entry(R::bucket(value)).or_default();
        *count = count.saturating_add(times);
    }

    /// The number of all values.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The count of the fullest bucket; 0 without a value.
    pub fn most(&self) -> u64 {
        self.counts.values().copied().max().unwrap_or(0)
    }

    /// The count of the bucket that holds a value.
    pub fn count_at(&self, value: u64) -> u64 {
        self.counts.get(&R::bucket(value)).copied().unwrap_or(0)
    }

    /// The buckets that hold something, ascending.
    pub fn filled(&self) -> impl Iterator<Item = CountedBucket> {
        self.counts.iter().map(|(bucket, count)| Self::counted(*bucket, *count))
    }

    /// The same with the empty ones between them: a gap is part of the picture.
    pub fn all(&self) -> impl Iterator<Item = CountedBucket> {
        let ends = self.counts.first_key_value().zip(self.counts.last_key_value());
        let range = ends.map_or(0..0, |((first, _), (last, _))| *first..last + 1);
        range.map(|bucket| Self::counted(bucket, self.counts.get(&bucket).copied().unwrap_or(0)))
    }

    fn counted(bucket: u64, count: u64) -> CountedBucket {
        CountedBucket {
            from: R::lower_edge(bucket),
            below: R::lower_edge(bucket.saturating_add(1)),
            count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn six_steps_a_decade() {
        let edges = [0, 1, 2, 3, 4, 5, 6, 7].map(SixADecade::lower_edge);
        assert_eq!(edges, [0, 10, 15, 20, 30, 50, 70, 100]);
        assert_eq!(SixADecade::lower_edge(SixADecade::LAST), 10_u64.pow(19));
    }

    #[test]
    fn a_gap_is_a_bucket_too() {
        let mut counts = BucketCounts::<PowersOfTwo>::default();
        for (value, times) in [(4, 10), (7, 1), (16, 3)] {
            counts.add(value, times);
        }
        let all: Vec<_> = counts.all().map(|b| (b.from, b.below, b.count)).collect();
        assert_eq!(all, [(4, 8, 11), (8, 16, 0), (16, 32, 3)]);
        assert_eq!(counts.filled().count(), 2);
        assert_eq!((counts.total(), counts.most(), counts.count_at(5)), (14, 11, 11));
        assert_eq!(BucketCounts::<PowersOfTwo>::default().all().count(), 0);
    }

    fn holds<R: BucketRule>(value: u64) -> bool {
        let bucket = R::bucket(value);
        let last = R::lower_edge(bucket + 1) <= R::lower_edge(bucket);
        R::lower_edge(bucket) <= value && (last || value < R::lower_edge(bucket + 1) || value == u64::MAX)
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket(value: u64) {
            prop_assert!(holds::<SixADecade>(value) || SixADecade::bucket(value) == SixADecade::LAST);
            prop_assert!(holds::<PowersOfTwo>(value));
            prop_assert!(holds::<Thousands>(value));
            prop_assert!(holds::<FourAnOctave>(value));
        }
    }
}
