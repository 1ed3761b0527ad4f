//! How often `worstcase history` shows a change where there is none, and how often it finds one: measured on drawn series.
//!
//! A value is exp(0.1 x), x normal; one in twenty is multiplied by a Pareto number of shape 1.5 (heavy tail, outliers). With
//! autocorrelation r, x is r times the one before plus chance.
//!
//! `r` is autocorrelation. A line rises so many times, a wave or two are so many spreads high. A step is in the middle or late,
//! before the last fifth. Ten series of 30 values without a step are tested together; a second step is shown beside one of 1.5 in
//! the middle of 30 values; a pulse of 20 of 100 values, 1.5 times as high, has two ends.
//!
//!     cargo run --release -p worstcase-results --example change_points

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

use std::f64::consts::TAU;
use worstcase_contract::prng::SplitMix64;
use worstcase_results::stats::change_points::{Together, candidate_of};
use worstcase_results::stats::change_shape::{LevelCourse, explain_together};

const DRAWS: u32 = 400;
const ORDERS: u32 = 999;
const LEVEL: f64 = 0.05;
/// Values within which a change is found in its place.
const NEAR: usize = 2;

struct Source(SplitMix64);

impl Source {
    /// Above 0, below 1.
    fn share(&mut self) -> f64 {
        (self.0.below(1 << 52) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.share().ln()).sqrt() * (TAU * self.share()).cos()
    }

    /// A series of so many values; `level` is that of a share of the series.
    fn series(&mut self, count: usize, r: f64, level: impl Fn(f64) -> f64) -> Vec<u64> {
        let mut x = self.normal();
        let mut value = |at: usize| {
            x = r * x + (1.0 - r * r).sqrt() * self.normal();
            let outlier = if self.share() < 0.05 {
                self.share().powf(-1.0 / 1.5)
            } else {
                1.0
            };
            (40_000.0 * (0.1 * x).exp() * outlier * level(at as f64 / count as f64)) as u64
        };
        (0..count).map(&mut value).collect()
    }
}

/// What is shown of a series.
#[derive(Default)]
struct Shown {
    /// The cuts that rank tests alone show.
    ranks: Vec<usize>,
    /// The cuts with a date.
    dated: Vec<usize>,
    /// Whether it is a drift, or may be one.
    is_undated: bool,
}

/// What is shown of series that are tested together.
fn shown(all: &[Vec<u64>]) -> Vec<Shown> {
    let candidate = |values: &[u64]| candidate_of(values, ORDERS).expect("there are values");
    let series: Vec<_> = all
        .iter()
        .map(|values| (values.as_slice(), candidate(values)))
        .collect();
    let together = Together {
        tests: all.len(),
        level: LEVEL,
        orders: ORDERS,
    };
    let explained = explain_together(together, &series);
    let asked = series.iter().zip(explained);
    let one = asked.map(|((values, first), explained)| {
        let Some((explained, p)) = explained else {
            return Shown::default();
        };
        let is_steps = explained.course == LevelCourse::Steps;
        Shown {
            ranks: together.cuts(values, *first, LEVEL),
            dated: if p <= LEVEL && is_steps {
                explained.cuts
            } else {
                Vec::new()
            },
            is_undated: p <= LEVEL && !is_steps,
        }
    });
    one.collect()
}

/// The share of draws of which each of these holds, in percent.
fn shares<const N: usize>(mut hold: impl FnMut(&mut Source) -> [bool; N]) -> [f64; N] {
    let mut source = Source(SplitMix64::new(2028));
    let mut counts = [0_u32; N];
    for _ in 0..DRAWS {
        for (count, holds) in counts.iter_mut().zip(hold(&mut source)) {
            *count += u32::from(holds);
        }
    }
    counts.map(|count| 100.0 * f64::from(count) / f64::from(DRAWS))
}

/// Three cells of three figures each.
fn row(name: &str, cells: [[f64; 3]; 3]) {
    let cell = |[ranks, dated, undated]: [f64; 3]| format!("{:>17}", format!("{ranks:.1}/{dated:.1}/{undated:.1}"));
    println!("{name:<22}{}", cells.map(cell).concat());
}

/// Series of these numbers of values without a step.
fn no_step(name: &str, r: f64, level: impl Fn(f64) -> f64) {
    let of = |count: usize| {
        shares(|source| {
            let shown = shown(&[source.series(count, r, &level)]).remove(0);
            [!shown.ranks.is_empty(), !shown.dated.is_empty(), shown.is_undated]
        })
    };
    row(name, [10, 30, 100].map(of));
}

/// One step of so many times, from this value on.
fn one_step(count: usize, from: usize, times: f64) -> [f64; 3] {
    shares(|source| {
        let step = |t: f64| {
            if t * count as f64 > from as f64 - 0.5 {
                times
            } else {
                1.0
            }
        };
        let shown = shown(&[source.series(count, 0.0, step)]).remove(0);
        let near = |cuts: &[usize]| cuts.iter().any(|at| at.abs_diff(from) <= NEAR);
        [near(&shown.ranks), near(&shown.dated), shown.is_undated]
    })
}

fn main() {
    println!("values                              10               30              100");
    for r in [0.0, 0.2, 0.4, 0.6] {
        no_step(&format!("r={r}"), r, |_| 1.0);
    }
    for times in [1.1, 1.2, 1.5] {
        no_step(&format!("line {times}"), 0.0, |t| 1.0 + (times - 1.0) * t);
    }
    for (periods, name) in [(1.0, "wave"), (2.0, "waves")] {
        for spreads in [1.0, 3.0] {
            no_step(&format!("{name} {spreads}"), 0.0, |t| {
                1.0 + 0.1 * spreads * (TAU * periods * t).sin()
            });
        }
    }
    println!();
    println!("step                               1.1              1.2              1.5");
    for count in [10, 30, 100] {
        for (place, from) in [("middle", count / 2), ("late", count - count / 5)] {
            let figures = [1.1, 1.2, 1.5].map(|times| one_step(count, from, times));
            row(&format!("{count} {place}"), figures);
        }
    }
    println!();
    let print = |name: &str, [ranks, dated]: [f64; 2]| println!("{name:<22}{:>17}", format!("{ranks:.1}/{dated:.1}"));
    let ten = shares(|source| {
        let all: Vec<Vec<u64>> = (0..10).map(|_| source.series(30, 0.0, |_| 1.0)).collect();
        let shown = shown(&all);
        [
            shown.iter().any(|s| !s.ranks.is_empty()),
            shown.iter().any(|s| !s.dated.is_empty()),
        ]
    });
    print("10 series", ten);
    let second = shares(|source| {
        let shown = shown(&[source.series(30, 0.0, |t| if t > 0.49 { 1.5 } else { 1.0 })]).remove(0);
        [shown.ranks.len() > 1, shown.dated.len() > 1]
    });
    print("second step", second);
    let both = shares(|source| {
        let pulse = |t: f64| if (0.395..0.595).contains(&t) { 1.5 } else { 1.0 };
        let shown = shown(&[source.series(100, 0.0, pulse)]).remove(0);
        [shown.ranks.len() == 2, shown.dated.len() == 2]
    });
    print("both ends", both);
}
