//! The largest samples of a stream, each with its neighbours, in bounded memory.

use std::collections::{BTreeMap, VecDeque};
use worstcase_results::record::SampleSelection;

/// A period's number, and how late its sample was.
pub(crate) type LatePeriod = (u32, u64);

/// Keeps the largest samples of a stream.
#[derive(Debug)]
pub(crate) struct WorstPeriods {
    selection: SampleSelection,
    /// The last samples, the oldest first.
    before: VecDeque<LatePeriod>,
    kept: Vec<KeptPeriods>,
    /// The smallest kept latency, once enough samples are kept.
    least: Option<u64>,
    /// How many samples are still wanted as neighbours of the last kept one.
    after: u32,
}

#[derive(Debug)]
struct KeptPeriods {
    latency: u64,
    /// The sample with its neighbours.
    rows: Vec<LatePeriod>,
    /// How many samples after it are still wanted.
    after: u32,
}

impl WorstPeriods {
    /// Keeps what `selection` asks for.
    pub fn new(selection: SampleSelection) -> WorstPeriods {
        WorstPeriods {
            selection,
            before: VecDeque::with_capacity(selection.around as usize + 1),
            kept: Vec::with_capacity(selection.largest as usize + 1),
            least: None,
            after: 0,
        }
    }

    /// Takes the next sample. Among equals the first is kept.
    pub fn add(&mut self, row: LatePeriod) {
        if self.after > 0 {
            self.after -= 1;
            for kept in self.kept.iter_mut().filter(|k| k.after > 0) {
                kept.after -= 1;
                kept.rows.push(row);
            }
        }
        if self.least.is_none_or(|least| row.1 > least) {
            self.keep(row);
        }
        self.before.push_back(row);
        if self.before.len() > self.selection.around as usize {
            self.before.pop_front();
        }
    }

    fn keep(&mut self, row: LatePeriod) {
        let around = self.selection.around;
        self.kept.push(KeptPeriods {
            latency: row.1,
            rows: self.before.iter().copied().chain([row]).collect(),
            after: around,
        });
        self.after = around;
        if self.kept.len() > self.selection.largest as usize {
            // Among equals the last is dropped.
            let least = (0..self.kept.len()).rev().min_by_key(|at| self.kept[*at].latency);
            self.kept.remove(least.expect("there are some"));
        }
        if self.kept.len() == self.selection.largest as usize {
            self.least = self.kept.iter().map(|k| k.latency).min();
        }
    }

    /// All kept samples with their neighbours, in order.
    pub fn rows(&self) -> Vec<LatePeriod> {
        let rows: BTreeMap<u32, u64> = self.kept.iter().flat_map(|k| &k.rows).copied().collect();
        rows.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept(largest: u32, around: u32, latencies: &[u64]) -> Vec<LatePeriod> {
        let mut worst = WorstPeriods::new(SampleSelection { largest, around });
        let rows = latencies.iter().enumerate().map(|(i, l)| (i as u32, *l));
        rows.for_each(|row| worst.add(row));
        worst.rows()
    }

    #[test]
    fn neighbours_stay_with_their_sample_and_go_with_it() {
        let latencies = [1, 50, 2, 3, 4, 90, 5, 6, 7, 80];
        assert_eq!(kept(1, 1, &latencies), [(4, 4), (5, 90), (6, 5)]);
        let two = [(4, 4), (5, 90), (6, 5), (8, 7), (9, 80)];
        assert_eq!(kept(2, 1, &latencies), two);
        assert_eq!(kept(2, 0, &[7, 7, 7]), [(0, 7), (1, 7)]);
    }

    proptest! {
        #[test]
        fn the_largest_are_there_with_their_neighbours(latencies in prop::collection::vec(0_u64..50, 1..200), largest in 1_u32..8, around in 0_u32..4) {
            let mut order: Vec<usize> = (0..latencies.len()).collect();
            order.sort_by_key(|i| (std::cmp::Reverse(latencies[*i]), *i));
            let mut wanted = std::collections::BTreeSet::new();
            for i in &order[..order.len().min(largest as usize)] {
                wanted.extend(i.saturating_sub(around as usize)..(i + around as usize + 1).min(latencies.len()));
            }
            let expected: Vec<LatePeriod> = wanted.into_iter().map(|i| (i as u32, latencies[i])).collect();
            prop_assert_eq!(kept(largest, around, &latencies), expected);
        }
    }
}
