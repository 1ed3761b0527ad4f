//! How long messages took: a log-linear histogram, as HdrHistogram counts, of three digits.
//!
//! Values below 1024 have a bucket each; every octave above has 512 buckets, of which the middle is told, so that it is
//! off by 1/1024 of the value at most. The largest value is kept as it is.
//!
//! A receiver counts in a seat of its own in shared memory, touched beforehand; the parent adds them up afterwards.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

const LINEAR: usize = 1024;
const PER_OCTAVE: usize = LINEAR / 2;
const BUCKETS: usize = LINEAR + 54 * PER_OCTAVE;
/// A page of counters; the buckets fill whole ones.
const PAGE: usize = 1024;
/// Counters of a seat: the buckets, and a page whose first two hold the largest value.
const SEAT: usize = BUCKETS + PAGE;
/// Bytes of a seat.
pub(super) const SEAT_BYTES: usize = SEAT * size_of::<AtomicU32>();

fn octave(value: u64) -> u32 {
    (64 - value.leading_zeros()).saturating_sub(LINEAR.ilog2())
}

fn bucket(value: u64) -> usize {
    let octave = octave(value);
    (value >> octave) as usize + octave as usize * PER_OCTAVE
}

fn middle(bucket: usize) -> u64 {
    let octave = (bucket / PER_OCTAVE).saturating_sub(1);
    let width = 1u64 << octave;
    (((bucket - octave * PER_OCTAVE) as u64) << octave) + width / 2
}

/// Where one receiver counts.
pub(super) struct Seat<'a> {
    counters: &'a [AtomicU32],
    largest: u64,
}

impl Seat<'_> {
    /// The `index`-th seat of a mapping, with every page of it present for the calling process.
    pub(super) fn take(all: &[AtomicU32], index: usize) -> Seat<'_> {
        let counters = &all[index * SEAT..(index + 1) * SEAT];
        for page in counters.chunks(PAGE) {
            page[0].fetch_add(0, Relaxed);
        }
        Seat { counters, largest: 0 }
    }

    /// Counts one message. Nobody else writes here, so that it takes no locked instruction.
    #[inline]
    pub(super) fn count(&mut self, value: u64) {
        let counter = &self.counters[bucket(value)];
        counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
        self.largest = self.largest.max(value);
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.counters[BUCKETS].store(self.largest as u32, Relaxed);
        self.counters[BUCKETS + 1].store((self.largest >> 32) as u32, Relaxed);
    }
}

/// All receivers of all runs.
#[derive(Debug)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    largest: u64,
}

impl Histogram {
    pub(super) fn new() -> Histogram {
        Histogram {
            counts: vec![0; BUCKETS],
            largest: 0,
        }
    }

    /// Adds every seat of a mapping whose users have ended.
    pub(super) fn add(&mut self, seats: &[AtomicU32]) {
        for seat in seats.chunks_exact(SEAT) {
            let half = |at: usize| u64::from(seat[at].load(Relaxed));
            self.largest = self.largest.max(half(BUCKETS + 1) << 32 | half(BUCKETS));
            for (sum, count) in self.counts.iter_mut().zip(seat) {
                *sum += u64::from(count.load(Relaxed));
            }
        }
    }

    /// How many were counted.
    pub(super) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Values and how often, in ascending order; the last value is the largest itself.
    pub(super) fn into_list(self) -> Vec<(u64, u64)> {
        let last = bucket(self.largest);
        let mut list = Vec::new();
        for (bucket, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let value = middle(bucket);
            if bucket < last {
                list.push((value, count));
            } else if value < self.largest && count > 1 {
                list.extend([(value, count - 1), (self.largest, 1)]);
            } else {
                list.push((self.largest, count));
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_logs::prng::SplitMix64;

    fn seats(number: usize) -> Vec<AtomicU32> {
        (0..number * SEAT).map(|_| AtomicU32::new(0)).collect()
    }

    fn counted(values: &[u64]) -> Histogram {
        let all = seats(1);
        let mut seat = Seat::take(&all, 0);
        values.iter().for_each(|value| seat.count(*value));
        drop(seat);
        let mut histogram = Histogram::new();
        histogram.add(&all);
        histogram
    }

    /// Around every power of two, and all over.
    fn many_values() -> Vec<u64> {
        let around = (0..64).flat_map(|bit| {
            let power = 1u64 << bit;
            [power - 1, power, power + 1, power + power / 2]
        });
        let mut random = SplitMix64::new(1);
        let anywhere = (0..10_000u32).map(move |i| random.below(u64::MAX) >> (i % 64));
        around.chain(anywhere).chain([u64::MAX]).collect()
    }

    #[test]
    fn a_value_is_told_to_three_digits() {
        for value in many_values() {
            let told = middle(bucket(value));
            assert!(told.abs_diff(value) <= value / 1024, "{value} became {told}");
            assert_eq!(bucket(told), bucket(value), "{value}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn buckets_ascend() {
        assert!((0..BUCKETS).map(middle).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn nothing_is_lost_and_the_largest_is_exact() {
        let mut values = many_values();
        values.retain(|value| *value < 123_456_789_012);
        values.extend([123_456_789_012; 3]);
        let histogram = counted(&values);
        assert_eq!(histogram.total(), values.len() as u64);
        let list = histogram.into_list();
        assert!(list.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(list.iter().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
        assert_eq!(list.last().map(|(value, _)| *value), Some(123_456_789_012));
    }

    #[test]
    fn the_largest_does_not_drag_its_neighbours_along() {
        // One bucket of 1 048 576 ns and more, 2048 wide.
        assert_eq!(
            counted(&[1_048_577, 1_050_000]).into_list(),
            [(1_049_600, 1), (1_050_000, 1)]
        );
        assert_eq!(counted(&[1_048_577, 1_048_579]).into_list(), [(1_048_579, 2)]);
        assert_eq!(counted(&[0, 0]).into_list(), [(0, 2)]);
        assert_eq!(counted(&[]).into_list(), []);
    }

    #[test]
    fn seats_add_up() {
        let all = seats(3);
        for (index, value) in [(0, 5), (1, 5), (2, 7_000_000_001)] {
            Seat::take(&all, index).count(value);
        }
        let mut histogram = Histogram::new();
        histogram.add(&all);
        histogram.add(&all);
        assert_eq!(histogram.into_list(), [(5, 4), (7_000_000_001, 2)]);
    }
}
