//! Thinning while samples stream by, in bounded memory, without losing what matters.
//!
//! As long as all samples fit, all are kept. Beyond that, of each column of time the largest and the smallest sample are always kept.
//! The rest is shared by two choices: one among all samples, which keeps crowded places crowded, and one among the places of a grid,
//! of each the first sample that fell there, which keeps the lonely ones. Both choices are by a fixed order: no clock, no
//! random number, the same samples give the same dots.

use std::collections::{BTreeSet, BinaryHeap};
use worstcase_contract::prng::SplitMix64;

/// A sample: when, in ns since the first was due, and its value in ns.
pub(crate) type Dot = (u64, i64);

/// Places of a column of the grid.
const ROWS: usize = 120;

/// The facts about samples that are known before they are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleFrame {
    /// All of them are within so many ns, about.
    pub length: u64,
    /// Smallest value.
    pub low: i64,
    /// Largest value.
    pub high: i64,
    /// Places are spread over the logarithm of the value.
    pub(crate) log: bool,
    /// Dots wanted, at most.
    pub(crate) budget: usize,
}

/// Takes samples, gives dots.
pub(crate) struct Thinner {
    frame: SampleFrame,
    taken: u64,
    all: Vec<Dot>,
    grid: Option<DotGrid>,
}

struct DotGrid {
    places: Vec<Option<Dot>>,
    columns: Vec<Option<(Dot, Dot)>>,
    /// The samples that come first in the fixed order.
    crowd: BinaryHeap<(u64, Dot)>,
    taken: u64,
}

/// A place in a fixed order without a pattern.
fn order(number: u64) -> u64 {
    SplitMix64::new(number).next_u64()
}

impl Thinner {
    /// A thinner for a panel.
    pub fn new(frame: SampleFrame) -> Thinner {
        Thinner {
            frame,
            taken: 0,
            all: Vec::new(),
            grid: None,
        }
    }

    /// Takes a sample.
    pub fn add(&mut self, dot: Dot) {
        self.taken += 1;
        if let Some(grid) = &mut self.grid {
            return grid.add(&self.frame, dot);
        }
        self.all.push(dot);
        if self.all.len() > self.frame.budget {
            let mut grid = DotGrid::new(&self.frame);
            for dot in std::mem::take(&mut self.all) {
                grid.add(&self.frame, dot);
            }
            self.grid = Some(grid);
        }
    }

    /// The number of samples taken, and the dots in order of time.
    pub fn finish(self) -> (u64, Vec<Dot>) {
        let mut dots = match self.grid {
            Some(grid) => grid.choose(self.frame.budget),
            None => self.all,
        };
        dots.sort_unstable();
        (self.taken, dots)
    }
}

impl SampleFrame {
    /// An eighth of the dots for the largest of each column, an eighth for the smallest.
    fn columns(&self) -> usize {
        (self.budget / 8).clamp(1, 500)
    }

    /// Three eighths for all samples; as many remain for the places.
    fn crowd(&self) -> usize {
        self.budget * 3 / 8
    }

    fn column(&self, time: u64) -> usize {
        let columns = self.columns();
        let column = u128::from(time) * columns as u128 / u128::from(self.length.max(1));
        usize::try_from(column).unwrap_or(columns).min(columns - 1)
    }

    fn row(&self, value: i64) -> usize {
        let scale = |v: i64| match self.log {
            true => (v.max(1) as f64).ln(),
            false => v as f64,
        };
        let (low, high) = (scale(self.low), scale(self.high));
        let share = if high > low {
            (scale(value) - low) / (high - low)
        } else {
            0.0
        };
        ((share * ROWS as f64) as usize).min(ROWS - 1)
    }
}

impl DotGrid {
    fn new(frame: &SampleFrame) -> DotGrid {
        DotGrid {
            places: vec![None; frame.columns() * ROWS],
            columns: vec![None; frame.columns()],
            crowd: BinaryHeap::new(),
            taken: 0,
        }
    }

    fn add(&mut self, frame: &SampleFrame, dot: Dot) {
        let column = frame.column(dot.0);
        let place = &mut self.places[column * ROWS + frame.row(dot.1)];
        place.get_or_insert(dot);
        self.taken += 1;
        let rank = (order(self.taken), dot);
        if self.crowd.len() < frame.crowd() {
            self.crowd.push(rank);
        } else if let Some(mut last) = self.crowd.peek_mut().filter(|last| rank < **last) {
            *last = rank;
        }
        let (least, most) = self.columns[column].get_or_insert((dot, dot));
        if dot.1 < least.1 {
            *least = dot;
        }
        if dot.1 > most.1 {
            *most = dot;
        }
    }

    fn choose(self, budget: usize) -> Vec<Dot> {
        let extremes = self.columns.into_iter().flatten().flat_map(|(a, b)| [a, b]);
        let mut dots: BTreeSet<Dot> = extremes.collect();
        dots.extend(self.crowd.into_iter().map(|(_, dot)| dot));
        let places = self.places.into_iter().enumerate();
        let mut others: Vec<(usize, Dot)> = places.filter_map(|(i, dot)| Some((i, dot?))).collect();
        others.sort_by_cached_key(|(place, _)| order(*place as u64));
        for (_, dot) in others {
            if dots.len() >= budget {
                break;
            }
            dots.insert(dot);
        }
        dots.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(dots: &[Dot], budget: usize, log: bool) -> SampleFrame {
        SampleFrame {
            length: dots.iter().map(|d| d.0).max().unwrap_or(0) + 1,
            low: dots.iter().map(|d| d.1).min().unwrap_or(0),
            high: dots.iter().map(|d| d.1).max().unwrap_or(0),
            log,
            budget,
        }
    }

    fn thin(frame: SampleFrame, dots: &[Dot]) -> (u64, Vec<Dot>) {
        let mut thinner = Thinner::new(frame);
        dots.iter().for_each(|d| thinner.add(*d));
        thinner.finish()
    }

    fn some(count: u64) -> Vec<Dot> {
        let mut random = SplitMix64::new(7);
        (0..count)
            .map(|i| (i * 1_000, 2_000 + random.below(900) as i64))
            .collect()
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let dots = some(400);
        assert_eq!(thin(frame(&dots, 400, false), &dots), (400, dots.clone()));
        let (taken, thinned) = thin(frame(&dots, 399, false), &dots);
        assert!(taken == 400 && thinned.len() <= 399);
    }

    #[test]
    fn one_late_sample_among_many_stays() {
        let mut dots = some(300_000);
        dots[123_456].1 = 9_000_000;
        dots[200_000].1 = 1;
        for log in [false, true] {
            let (taken, thinned) = thin(frame(&dots, 1_000, log), &dots);
            assert_eq!(taken, 300_000);
            assert!(thinned.len() <= 1_000, "{}", thinned.len());
            assert!(thinned.contains(&dots[123_456]) && thinned.contains(&dots[200_000]));
        }
    }

    #[test]
    fn crowded_places_stay_crowded() {
        let lonely = |i: u64| i.is_multiple_of(100);
        let value = |i: u64| {
            if lonely(i) {
                10_000 + (i * 7_919 % 1_000_000) as i64
            } else {
                2_000 + (i % 7) as i64
            }
        };
        let dots: Vec<Dot> = (0..1_000_000).map(|i| (i, value(i))).collect();
        let (_, thinned) = thin(frame(&dots, 4_000, false), &dots);
        let low = thinned.iter().filter(|d| d.1 < 10_000).count();
        assert!((1_900..3_000).contains(&low), "{low} of {}", thinned.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn dots_are_samples_and_the_extremes_are_among_them(
            values in prop::collection::vec(prop_oneof![-50_i64..50, any::<i32>().prop_map(i64::from)], 1..3_000),
            budget in 1_usize..600,
            log: bool,
        ) {
            let dots: Vec<Dot> = values.into_iter().enumerate().map(|(i, v)| (i as u64, v)).collect();
            let frame = frame(&dots, budget, log);
            let (taken, thinned) = thin(frame, &dots);
            prop_assert_eq!(taken, dots.len() as u64);
            prop_assert!(thinned.len() <= budget.max(2));
            prop_assert!(thinned.windows(2).all(|w| w[0] < w[1]));
            prop_assert!(thinned.iter().all(|d| dots.binary_search(d).is_ok()));
            let ends = |dots: &[Dot]| (dots.iter().map(|d| d.1).min(), dots.iter().map(|d| d.1).max());
            prop_assert_eq!(ends(&thinned), ends(&dots));
        }
    }
}
