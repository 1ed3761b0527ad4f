//! The largest samples of a cell, and which of them belong to one event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use worstcase_contract::Nanos;

/// Most samples that are used above any threshold.
pub(crate) const MOST: usize = 10_000;

/// The largest samples with their places, gathered in one pass and in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct Peaks {
    /// Latency and place among the samples taken: missed periods are no gap, they belong to the late sample before them.
    kept: BinaryHeap<Reverse<(u64, u64)>>,
    count: u64,
}

/// The samples above a threshold, taken together where they are of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Events {
    /// Samples above the threshold.
    pub(crate) above: usize,
    /// The largest sample of each event, in order of time.
    pub(crate) peaks: Vec<u64>,
    /// Samples that are further apart than this many are of different events.
    pub(crate) run: u64,
}

impl Peaks {
    /// Takes the next sample in.
    pub fn add(&mut self, latency: Nanos) {
        self.kept.push(Reverse((latency.0, self.count)));
        self.count += 1;
        // One sample more than can be above: the threshold itself.
        if self.kept.len() > MOST + 1 {
            self.kept.pop();
        }
    }

    /// Samples seen.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest samples with their places, the largest first.
    pub(super) fn descending(&self) -> Vec<(u64, u64)> {
        let mut all: Vec<(u64, u64)> = self.kept.iter().map(|Reverse(sample)| *sample).collect();
        all.sort_unstable_by_key(|sample| Reverse(*sample));
        all
    }
}

impl Events {
    /// The events of the samples above a threshold among `count` samples; `largest` holds all of them, the largest
    /// first.
    pub(crate) fn above(threshold: u64, largest: &[(u64, u64)], count: u64) -> Events {
        let mut above: Vec<(u64, u64)> = largest.iter().copied().take_while(|s| s.0 > threshold).collect();
        above.sort_unstable_by_key(|(_, place)| *place);
        let mut gaps: Vec<u64> = above.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
        if let (Some(first), Some(last)) = (above.first(), above.last()) {
            // The gap from the last event around to the first. Without it one burst in a quiet series would seem
            // perfectly even.
            gaps.push(count - last.1 + first.1);
        }
        let run = run(&gaps);
        let mut peaks: Vec<u64> = Vec::new();
        for (i, (latency, _)) in above.iter().enumerate() {
            match peaks.last_mut() {
                Some(peak) if gaps[i - 1] <= run => *peak = (*peak).max(*latency),
                _ => peaks.push(*latency),
            }
        }
        Events {
            above: above.len(),
            peaks,
            run,
        }
    }
}

/// The largest gap within an event, by the intervals estimator of the extremal index: the share of samples above the
/// threshold that begin an event, from how uneven the gaps are (Ferro, Segers 2003). 0 if each is an event of its own.
fn run(gaps: &[u64]) -> u64 {
    let sum = |of: fn(f64) -> f64| gaps.iter().map(|gap| of(*gap as f64)).sum::<f64>();
    let top = sum(|gap| gap - 1.0);
    let index = 2.0 * top * top / (gaps.len() as f64 * sum(|gap| (gap - 1.0) * (gap - 2.0)));
    // The standard error of the index for samples without memory is 1/sqrt(n), by the delta method. Gaps of one sample
    // are common at low thresholds: they are not merged unless the index is below 1 by two standard errors.
    if index >= 1.0 - 2.0 / (gaps.len() as f64).sqrt() {
        return 0;
    }
    let mut sorted = gaps.to_vec();
    sorted.sort_unstable_by_key(|gap| Reverse(*gap));
    let between = (index * gaps.len() as f64) as usize;
    sorted.get(between).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{random, unit};
    use super::*;

    fn events(samples: &[u64], threshold: u64) -> Events {
        let mut peaks = Peaks::default();
        samples.iter().for_each(|s| peaks.add(Nanos(*s)));
        Events::above(threshold, &peaks.descending(), peaks.count())
    }

    #[test]
    fn bursts_are_one_event_each() {
        // Forty bursts of five samples, far apart.
        let mut samples = vec![1; 40_000];
        for burst in 0..40 {
            for i in 0..5 {
                samples[burst * 1_000 + burst * burst % 300 + i] = 100 + (burst as u64 * 5 + i as u64) % 37;
            }
        }
        let events = events(&samples, 50);
        assert_eq!((events.above, events.peaks.len(), events.run), (200, 40, 1));
        let first = samples[..5].iter().copied().max().unwrap();
        assert_eq!(events.peaks[0], first);
    }

    #[test]
    fn one_burst_in_a_quiet_series_is_one_event() {
        let mut samples = vec![1; 40_000];
        for i in 0..300 {
            samples[9_000 + 2 * i + i % 3] = 100 + (i as u64 * 7919) % 600;
        }
        for threshold in [50, 300, 500] {
            assert_eq!(events(&samples, threshold).peaks.len(), 1);
        }
    }

    #[test]
    fn samples_without_memory_stay_apart() {
        let mut random = random(3);
        let apart = (0..20).filter(|_| {
            let samples: Vec<u64> = (0..5_000).map(|_| (1_000.0 * unit(&mut random)) as u64).collect();
            let events = events(&samples, 900);
            events.peaks.len() == events.above
        });
        // One side of two standard errors: 2.3 % lie beyond.
        assert!(apart.count() >= 18);
    }

    #[test]
    fn only_the_largest_are_kept() {
        let mut peaks = Peaks::default();
        (0..3 * MOST as u64).for_each(|s| peaks.add(Nanos(s)));
        let all = peaks.descending();
        assert_eq!((peaks.count(), all.len()), (3 * MOST as u64, MOST + 1));
        assert_eq!((all[0].0, all[MOST].0), (3 * MOST as u64 - 1, 2 * MOST as u64 - 1));
    }

    #[test]
    fn few_samples_are_no_trouble() {
        assert!(events(&[], 0).peaks.is_empty());
        assert_eq!(events(&[7], 0).peaks, [7]);
        assert!(events(&[7], 7).peaks.is_empty());
        assert_eq!(events(&[5, 7, 6], 0).peaks, [7]);
    }
}
