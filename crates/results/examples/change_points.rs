//! How often `worstcase history` shows a change where there is none, and how often it finds one: measured on drawn series.
//!
//! A value is exp(0.1 x), x normal; one in twenty is multiplied by a Pareto number of shape 1.5 (heavy tail, outliers). With
//! autocorrelation r, x is r times the one before plus chance.
//!
//!     cargo run --release -p worstcase-results --example change_points

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

use worstcase_contract::prng::SplitMix64;
use worstcase_results::stats::change_points::{Together, candidate_of};
use worstcase_results::stats::many::holm;

const DRAWS: u32 = 400;
const ORDERS: u32 = 999;
const LEVEL: f64 = 0.05;

struct Source(SplitMix64);

impl Source {
    /// Above 0, below 1.
    fn share(&mut self) -> f64 {
        (self.0.below(1 << 52) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.share().ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos()
    }

    /// A series of so many values; from each place on it is so many times as high.
    fn series(&mut self, count: usize, r: f64, steps: &[(usize, f64)]) -> Vec<u64> {
        let mut x = self.normal();
        let mut value = |at: usize| {
            x = r * x + (1.0 - r * r).sqrt() * self.normal();
            let outlier = if self.share() < 0.05 {
                self.share().powf(-1.0 / 1.5)
            } else {
                1.0
            };
            let level: f64 = steps
                .iter()
                .filter(|(from, _)| at >= *from)
                .map(|(_, factor)| factor)
                .product();
            (40_000.0 * (0.1 * x).exp() * outlier * level) as u64
        };
        (0..count).map(&mut value).collect()
    }
}

/// Changes that are shown in series that are tested together.
fn shown(all: &[Vec<u64>]) -> Vec<Vec<usize>> {
    let first: Vec<_> = all.iter().filter_map(|values| candidate_of(values, ORDERS)).collect();
    let corrected = holm(&first.iter().map(|c| c.p).collect::<Vec<f64>>());
    let together = Together {
        tests: all.len(),
        level: LEVEL,
        orders: ORDERS,
    };
    let asked = all.iter().zip(first).zip(corrected);
    let shown = asked.map(|((values, first), p)| together.changes(values, first, p));
    shown
        .map(|changes| changes.into_iter().map(|c| c.at).collect())
        .collect()
}

/// The share of draws of which `is` holds, in percent.
fn share(mut is: impl FnMut(&mut Source) -> bool) -> f64 {
    let mut source = Source(SplitMix64::new(2026));
    let count = (0..DRAWS).filter(|_| is(&mut source)).count();
    100.0 * count as f64 / f64::from(DRAWS)
}

fn main() {
    println!("{DRAWS} draws of each, {ORDERS} random orders, in percent");
    println!("any change shown where there is none:");
    for r in [0.0, 0.2, 0.4, 0.6] {
        for count in [10, 30, 100] {
            let any = share(|source| shown(&[source.series(count, r, &[])]).iter().any(|c| !c.is_empty()));
            println!("  autocorrelation {r}, {count} values: {any:.1}");
        }
    }
    let several = share(|source| {
        let all: Vec<Vec<u64>> = (0..10).map(|_| source.series(30, 0.0, &[])).collect();
        shown(&all).iter().any(|c| !c.is_empty())
    });
    println!("  10 series of 30 values together: {several:.1}");
    println!("one change: found within 2 values of its place / more than one shown:");
    for count in [10, 30, 100] {
        for (place, from) in [("middle", count / 2), ("last fifth", count - count / 5)] {
            for factor in [1.1, 1.2, 1.5] {
                let draw = |source: &mut Source| shown(&[source.series(count, 0.0, &[(from, factor)])]).remove(0);
                let found = share(|source| draw(source).iter().any(|at| at.abs_diff(from) <= 2));
                let more = share(|source| draw(source).len() > 1);
                println!("  {count} values, {place}, {factor} times: {found:.1} / {more:.1}");
            }
        }
    }
    let back = [(40, 1.5), (60, 1.0 / 1.5)];
    let both = share(|source| shown(&[source.series(100, 0.0, &back)])[0].len() == 2);
    println!("up by 1.5 for 20 of 100 values and back, both found: {both:.1}");
}
