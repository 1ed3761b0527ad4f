//! When a wait was over: whether that is regular, and its period.

use std::collections::VecDeque;
use worstcase_contract::Nanos;

/// Releases of a class that are looked at.
const LOOKED_AT: usize = 256;
/// Fewer waits are no cycle.
pub(super) const LEAST: usize = 8;
/// So many of the releases of a regular wait lie on multiples of its period.
const ON_GRID: f64 = 0.7;
/// So many of the distances are multiples of a period that is shorter than the usual one of them.
const ALMOST_ALL: f64 = 0.95;
/// A multiple is off by less than this part of such a period.
const NEAR: f64 = 0.1;
/// Fewer distances that differ from the usual one say nothing.
const LEAST_FAR: usize = 4;
/// Of a shorter period than this part of the usual distance too little is seen.
const MOST_MISSED: u64 = 16;
/// Who is late may sleep for no time, at an instant of its own: a release lies on the grid by one of so many before it.
const AFTER_SLEEPS: usize = 3;
/// A release lies on the grid if it is off by less than this part of the period.
pub(super) const OFF: f64 = 0.02;
/// A release is an exact multiple of the period after another if it is off by less than this part of the period.
const EXACT: f64 = 1e-4;

/// The latest releases of a wait, in order.
#[derive(Debug, Default)]
pub(super) struct Releases {
    latest: VecDeque<Nanos>,
    /// All that there were.
    pub count: u64,
    /// It sleeps for a time.
    pub is_relative: bool,
    /// The clock that it sleeps by, as clock_nanosleep names it.
    pub clock: Option<u64>,
}

impl Releases {
    /// Adds one that is later than all others.
    pub fn add(&mut self, release: Nanos) {
        if self.latest.len() == LOOKED_AT {
            self.latest.pop_front();
        }
        self.latest.push_back(release);
        self.count += 1;
    }

    /// The last one.
    pub fn last(&self) -> Option<Nanos> {
        self.latest.back().copied()
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.latest.len()
    }

    /// The median distance of two, if most releases lie on multiples of it.
    pub fn period(&self) -> Option<Nanos> {
        if self.latest.len() < LEAST {
            return None;
        }
        let releases: Vec<u64> = self.latest.iter().map(|release| release.0).collect();
        let mut steps: Vec<u64> = releases
            .windows(2)
            .map(|pair| pair[1].saturating_sub(pair[0]))
            .collect();
        let (_, median, _) = steps.select_nth_unstable(releases.len() / 2 - 1);
        let median = *median;
        if median == 0 {
            return None;
        }
        let is_whole = |from: &u64, to: u64| {
            let periods = to.saturating_sub(*from) as f64 / median as f64;
            periods.round() >= 1.0 && (periods - periods.round()).abs() < OFF
        };
        let before = if self.clock.is_some() { AFTER_SLEEPS } else { 1 };
        let is_on_grid = |nth: &usize| {
            let earlier = &releases[nth.saturating_sub(before)..*nth];
            earlier.iter().any(|from| is_whole(from, releases[*nth]))
        };
        let on_grid = (1..releases.len()).filter(is_on_grid).count();
        let least = if self.is_relative { 0.5 } else { ON_GRID };
        let usual = (on_grid as f64 >= least * steps.len() as f64).then_some(median);
        self.finer(&steps, median).or(usual).map(Nanos)
    }

    /// Whether most distances are exact multiples of this period.
    pub fn is_exact(&self, period: Nanos) -> bool {
        let pairs = self.latest.iter().zip(self.latest.iter().skip(1));
        let is_exact = |(a, b): &(&Nanos, &Nanos)| {
            let periods = b.0.saturating_sub(a.0) as f64 / period.0.max(1) as f64;
            (periods - periods.round()).abs() < EXACT
        };
        2 * pairs.filter(is_exact).count() >= self.latest.len()
    }

    /// A loop that always misses periods, now four of them and now five: its period is what the distances differ by, if each
    /// distance is a multiple of that.
    fn finer(&self, steps: &[u64], median: u64) -> Option<u64> {
        if self.is_relative || self.clock.is_none() {
            return None;
        }
        let far = steps.iter().map(|step| step.abs_diff(median));
        let mut far: Vec<u64> = far.filter(|far| *far as f64 > OFF * median as f64).collect();
        if far.len() < LEAST_FAR {
            return None;
        }
        far.sort_unstable();
        let period = far[far.len() / 4];
        let is_multiple = |step: &&u64| {
            let periods = **step as f64 / period as f64;
            (periods - periods.round()).abs() < NEAR
        };
        let multiples = steps.iter().filter(is_multiple).count();
        let is_period = period < median && period * MOST_MISSED >= median;
        (is_period && multiples as f64 >= ALMOST_ALL * steps.len() as f64).then_some(period)
    }
}
