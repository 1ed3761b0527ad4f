//! What explains a series whose level changed: steps, a slow drift, or values that only follow the one before.
//!
//! Rank tests show that a level changed, if values do not depend on each other; a drift gives them as strong a cut as a step.
//! So steps and slow curves (a line, a parabola, waves) are fitted to the values' logarithms, with errors of Student's
//! distribution, which outliers do not pull (K. L. Lange, R. J. A. Little, J. M. G. Taylor, Journal of the American Statistical
//! Association 84, 1989), and compared by the Bayesian criterion (G. Schwarz, Annals of Statistics 6, 1978), in which a step
//! counts as three parameters (N. R. Zhang, D. O. Siegmund, Biometrics 63, 2007).
//!
//! Autocorrelation is that of what the explanation leaves; in the series itself a step would pass for it.

use super::change_points::{Candidate, Together, chance, relocated};
use super::many::holm;
use std::f64::consts::TAU;

/// Degrees of freedom of the errors.
const FREEDOM: f64 = 4.0;
/// A fit is made better so many times.
const ROUNDS: usize = 30;
/// The least scale of errors: values that a level fits exactly have none.
const LEAST_SCALE: f64 = 1e-6;
/// A residual of more than so many scales is an outlier.
const OUTLIER: f64 = 3.0;
/// Parameters that a step counts as: its height, and its place for two.
const STEP: f64 = 3.0;
/// A step is sought at so many places before and behind the one that ranks give.
const NEAR: usize = 3;
/// Waves over the series. (Half a wave is nearly a step.)
const PERIODS: [f64; 4] = [1.0, 1.5, 2.0, 2.5];
/// Autocorrelation above which nothing is distinguished.
const MOST: f64 = 0.95;

/// The better explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelCourse {
    /// Steps, their places paid for, explain more than any slow curve does.
    Steps,
    /// A slow curve explains more, even if the steps' places cost nothing.
    Drift,
    /// It cannot be told.
    Either,
}

/// The last long rise or fall of the slow curve that fits best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowCurve {
    /// The value at which it begins.
    pub from: usize,
    /// The value at which it ends.
    pub to: usize,
    /// The curve's level there, before and since.
    pub levels: (u64, u64),
}

/// The explanation of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedSeries {
    /// What explains it.
    pub course: LevelCourse,
    /// The first value behind each step: of those that were shown the ones that pay.
    pub cuts: Vec<usize>,
    /// What a drift would be.
    pub curve: SlowCurve,
    /// Autocorrelation at lag 1 of what the steps leave (of a drift the curve), or of what the better explanation leaves if that
    /// is more.
    pub autocorrelation: f64,
    /// Probability of steps as strong in values of one level that follow each other so; 1 if not even the better
    /// explanation leaves random values.
    pub p: f64,
}

/// Explains those of the series whose level changed, each with its probability by chance at the autocorrelation measured,
/// corrected for all of them. Above the level it is not shown after all.
pub fn explain_together(together: Together, series: &[(&[u64], Candidate)]) -> Vec<Option<(ExplainedSeries, f64)>> {
    let corrected = holm(&series.iter().map(|(_, first)| first.p).collect::<Vec<f64>>());
    let asked = series.iter().zip(corrected);
    let explained = asked.map(|((values, first), corrected)| {
        let cuts = together.cuts(values, *first, corrected);
        (!cuts.is_empty()).then(|| explain(values, cuts, together.orders))
    });
    let explained: Vec<Option<ExplainedSeries>> = explained.collect();
    let p = |((_, first), explained): (&(&[u64], Candidate), &Option<ExplainedSeries>)| {
        explained.as_ref().map_or(first.p, |explained| explained.p.max(first.p))
    };
    let corrected = holm(&series.iter().zip(&explained).map(p).collect::<Vec<f64>>());
    let with_p = explained.into_iter().zip(corrected);
    with_p.map(|(explained, p)| Some((explained?, p))).collect()
}

/// Explains values, of which not all are equal, by steps at these cuts or fewer of them, or by a slow curve.
fn explain(values: &[u64], cuts: Vec<usize>, orders: u32) -> ExplainedSeries {
    let x: Vec<f64> = values.iter().map(|v| (*v as f64).ln_1p()).collect();
    let size = (x.len() as f64).ln();
    let (cuts, steps) = best_steps(values, &x, cuts);
    let (curve, by_curve) = best_curve(&x);
    let by_steps = |parameters: f64| steps.misfit + parameters * size * cuts.len() as f64;
    let course = if by_steps(STEP) < by_curve {
        LevelCourse::Steps
    } else if by_curve < by_steps(1.0) {
        LevelCourse::Drift
    } else {
        LevelCourse::Either
    };
    let better = if by_steps(STEP) < by_curve { &steps } else { &curve };
    let error = 1.0 / (x.len() as f64).sqrt();
    let rest = follows(&better.residuals);
    // Steps leave parts of a drift, which pass for autocorrelation.
    let autocorrelation = if course == LevelCourse::Drift { &curve } else { &steps }.autocorrelation();
    ExplainedSeries {
        course,
        curve: last_stretch(&curve.level),
        autocorrelation: autocorrelation.max(rest).clamp(0.0, MOST),
        p: match rest < 2.0 * error {
            true => probability(&steps, cuts.len(), (autocorrelation + error).clamp(0.0, MOST), orders),
            false => 1.0,
        },
        cuts,
    }
}

/// A level fitted to values.
struct LevelFit {
    level: Vec<f64>,
    /// With the constant.
    parameters: usize,
    /// What it leaves, outliers cut.
    residuals: Vec<f64>,
    /// Minus twice the logarithm of the likelihood, but for a constant.
    misfit: f64,
}

impl LevelFit {
    /// The combination of a constant and these columns that has the largest likelihood.
    fn of(x: &[f64], columns: Vec<Vec<f64>>) -> LevelFit {
        let basis = orthonormal(x.len(), columns);
        let count = x.len() as f64;
        let mut pulled = x.to_vec();
        let (mut level, mut left, mut variance) = (Vec::new(), Vec::new(), f64::MAX);
        for _ in 0..ROUNDS {
            level = projection(&pulled, &basis);
            left = x.iter().zip(&level).map(|(x, level)| x - level).collect::<Vec<f64>>();
            let weight = |square: f64, variance: f64| 1.0 / (1.0 + square / (FREEDOM * variance));
            let weighted = |square: f64| (FREEDOM + 1.0) / FREEDOM * weight(square, variance) * square;
            let mean = left.iter().map(|r| weighted(r * r)).sum::<f64>() / count;
            variance = mean.max(LEAST_SCALE * LEAST_SCALE);
            let pull = |(level, r): (&f64, &f64)| level + r * weight(r * r, variance);
            pulled = level.iter().zip(&left).map(pull).collect();
        }
        let tails: f64 = left.iter().map(|r| (r * r / (FREEDOM * variance)).ln_1p()).sum();
        let most = OUTLIER * variance.sqrt();
        LevelFit {
            level,
            parameters: basis.len(),
            residuals: left.into_iter().map(|r| r.clamp(-most, most)).collect(),
            misfit: count * variance.ln() + (FREEDOM + 1.0) * tails,
        }
    }

    /// What is fitted takes autocorrelation from the residuals (M. G. Kendall, Biometrika 41, 1954).
    fn autocorrelation(&self) -> f64 {
        let share = self.parameters as f64 / self.level.len() as f64;
        (follows(&self.residuals) + share) / (1.0 - 3.0 * share).max(0.3)
    }

    fn steps(x: &[f64], cuts: &[usize]) -> LevelFit {
        let column = |cut: &usize| (0..x.len()).map(|at| f64::from(at >= *cut)).collect();
        LevelFit::of(x, cuts.iter().map(column).collect())
    }
}

/// A constant and the columns, each without its part along those before, of length 1.
fn orthonormal(count: usize, columns: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in [vec![1.0; count]].into_iter().chain(columns) {
        let along = projection(&column, &basis);
        let mut rest: Vec<f64> = column.iter().zip(&along).map(|(a, b)| a - b).collect();
        let length = sum_of_squares(&rest).sqrt();
        rest.iter_mut().for_each(|r| *r /= length);
        basis.push(rest);
    }
    basis
}

fn projection(x: &[f64], basis: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; x.len()];
    for column in basis {
        let along: f64 = column.iter().zip(x).map(|(a, b)| a * b).sum();
        sum.iter_mut().zip(column).for_each(|(s, c)| *s += along * c);
    }
    sum
}

fn sum_of_squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// The steps without those that do not pay, each where it fits best.
fn best_steps(values: &[u64], x: &[f64], mut cuts: Vec<usize>) -> (Vec<usize>, LevelFit) {
    let size = (x.len() as f64).ln();
    let mut fit = LevelFit::steps(x, &cuts);
    while cuts.len() > 1 {
        let without = |nth: usize| {
            let mut others = cuts.clone();
            others.remove(nth);
            let others = relocated(values, others);
            (LevelFit::steps(x, &others), others)
        };
        let all = (0..cuts.len()).map(without);
        match all.min_by(|(a, _), (b, _)| a.misfit.total_cmp(&b.misfit)) {
            Some((fewer, others)) if fewer.misfit < fit.misfit + STEP * size => (fit, cuts) = (fewer, others),
            _ => break,
        }
    }
    for nth in 0..cuts.len() {
        let first = nth.checked_sub(1).map_or(0, |before| cuts[before]) + 1;
        let end = cuts.get(nth + 1).copied().unwrap_or(x.len());
        for at in cuts[nth].saturating_sub(NEAR).max(first)..(cuts[nth] + NEAR + 1).min(end) {
            let mut moved = cuts.clone();
            moved[nth] = at;
            let other = LevelFit::steps(x, &moved);
            if other.misfit < fit.misfit {
                (fit, cuts) = (other, moved);
            }
        }
    }
    (cuts, fit)
}

/// The slow curve that explains most, and its criterion.
fn best_curve(x: &[f64]) -> (LevelFit, f64) {
    let column = |of: &dyn Fn(f64) -> f64| -> Vec<f64> {
        let last = x.len() as f64 - 1.0;
        (0..x.len()).map(|at| of(at as f64 / last)).collect()
    };
    let line = vec![column(&|t| t)];
    let parabola = vec![column(&|t| t), column(&|t| t * t)];
    let wave = |periods: f64| {
        vec![
            column(&|t| (TAU * periods * t).sin()),
            column(&|t| (TAU * periods * t).cos()),
        ]
    };
    let curves = [line, parabola].into_iter().chain(PERIODS.map(wave));
    let fits = curves.map(|columns| {
        let parameters = columns.len() as f64;
        let fit = LevelFit::of(x, columns);
        let criterion = fit.misfit + parameters * (x.len() as f64).ln();
        (fit, criterion)
    });
    fits.min_by(|(_, a), (_, b)| a.total_cmp(b)).expect("there are curves")
}

/// The last stretch between two turns of a curve over at least half of its range.
fn last_stretch(level: &[f64]) -> SlowCurve {
    let last = level.len() - 1;
    let is_turn = |at: &usize| (level[*at] - level[at - 1]) * (level[at + 1] - level[*at]) < 0.0;
    let turns: Vec<usize> = [0].into_iter().chain((1..last).filter(is_turn)).chain([last]).collect();
    let (least, most) = level
        .iter()
        .fold((f64::MAX, f64::MIN), |(l, m), x| (l.min(*x), m.max(*x)));
    let is_long = |ends: &&[usize]| (level[ends[1]] - level[ends[0]]).abs() >= (most - least) / 2.0;
    let (from, to) = turns
        .windows(2)
        .rfind(is_long)
        .map_or((0, last), |ends| (ends[0], ends[1]));
    let value = |at: usize| level[at].exp_m1().round() as u64;
    SlowCurve {
        from,
        to,
        levels: (value(from), value(to)),
    }
}

/// Autocorrelation at lag 1, from -1 to 1.
fn follows(residuals: &[f64]) -> f64 {
    let together: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let all = sum_of_squares(residuals);
    // What is rounded of values that fit exactly is none.
    if all > LEAST_SCALE * LEAST_SCALE {
        together / all
    } else {
        0.0
    }
}

/// Probability of steps as strong by chance. Values that follow each other vary as fewer values would, by (1 - r) / (1 + r)
/// (G. V. Bayley, J. M. Hammersley, Supplement to the Journal of the Royal Statistical Society 8, 1946).
fn probability(steps: &LevelFit, count: usize, autocorrelation: f64, orders: u32) -> f64 {
    let values: Vec<f64> = steps.level.iter().zip(&steps.residuals).map(|(a, b)| a + b).collect();
    let size = values.len() as f64;
    let mean = values.iter().sum::<f64>() / size;
    let centred: Vec<f64> = values.iter().map(|v| v - mean).collect();
    let (all, left) = (sum_of_squares(&centred), sum_of_squares(&steps.residuals));
    // Further steps cost what they cost in the criterion.
    let further = size.powf(-STEP * (count as f64 - 1.0) / size);
    let explained = (all / left.max(all * 1e-12) * further - 1.0).max(0.0);
    let effective = explained * (1.0 - autocorrelation) / (1.0 + autocorrelation);
    let share = effective / (1.0 + effective);
    let [p] = chance(&centred, [share * all / size], orders);
    p
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::change_points::candidate;
    use worstcase_contract::prng::SplitMix64;

    const LEVEL: f64 = 0.05;

    fn explained(values: &[u64]) -> (ExplainedSeries, f64) {
        let together = Together {
            tests: 1,
            level: LEVEL,
            orders: 999,
        };
        let found = explain_together(together, &[(values, candidate(values).unwrap())]);
        found.into_iter().next().flatten().expect("its level changed")
    }

    /// So many values about a level, a tenth of it up or down, each following the one before by `r`; one in 15 is an outlier.
    fn series(count: usize, r: f64, level: impl Fn(f64) -> f64) -> Vec<u64> {
        let mut random = SplitMix64::new(3);
        let mut x = 0.0;
        let mut value = |at: usize| {
            let chance = random.below(4_000) as f64 + random.below(4_000) as f64 + random.below(4_000) as f64 - 6_000.0;
            x = r * x + (1.0 - r * r).sqrt() * chance / 2_000.0;
            let outlier = if at % 15 == 7 { 3.0 } else { 1.0 };
            (40_000.0 * (0.1 * x).exp() * outlier * level(at as f64 / count as f64)) as u64
        };
        (0..count).map(&mut value).collect()
    }

    #[test]
    fn a_step_is_dated_in_its_place() {
        let (found, p) = explained(&series(30, 0.0, |t| if t >= 0.5 { 1.5 } else { 1.0 }));
        assert_eq!(
            (found.course, found.cuts.as_slice()),
            (LevelCourse::Steps, &[15][..]),
            "{p}"
        );
        assert!(p <= LEVEL, "{p}");
        // Ranks may show a third cut, which does not pay.
        let stairs = |t: f64| match t {
            ..0.33 => 40.0,
            ..0.66 => 60.0,
            _ => 80.0,
        };
        let (found, p) = explained(&series(60, 0.0, stairs));
        assert_eq!(found.course, LevelCourse::Steps, "{p}");
        assert!(matches!(found.cuts[..], [20, 40..=41]), "{:?}", found.cuts);
    }

    #[test]
    fn a_drift_is_no_step() {
        let (found, p) = explained(&series(100, 0.0, |t| 1.0 + 0.5 * t));
        assert_eq!(found.course, LevelCourse::Drift);
        assert!(p <= LEVEL, "{p}");
        let SlowCurve { from, to, levels } = found.curve;
        assert_eq!((from, to), (0, 99));
        assert!(
            (38_000..42_500).contains(&levels.0) && (56_000..64_000).contains(&levels.1),
            "{levels:?}"
        );
    }

    #[test]
    fn a_wave_is_no_step() {
        let (found, _) = explained(&series(100, 0.0, |t| 1.0 + 0.3 * (TAU * t).sin()));
        assert_eq!(found.course, LevelCourse::Drift);
        let SlowCurve { from, to, levels } = found.curve;
        assert!(
            (20..30).contains(&from) && (70..80).contains(&to) && levels.1 < levels.0,
            "{:?}",
            found.curve
        );
    }

    #[test]
    fn values_that_follow_each_other_show_nothing() {
        let (found, p) = explained(&series(100, 0.8, |_| 1.0));
        assert!(found.autocorrelation > 0.2, "{found:?}");
        assert!(p > LEVEL, "{p}");
    }

    #[test]
    fn what_values_that_follow_each_other_show_is_less_rare() {
        let values = series(30, 0.0, |t| if t >= 0.5 { 1.2 } else { 1.0 });
        let x: Vec<f64> = values.iter().map(|v| (*v as f64).ln()).collect();
        let p = |autocorrelation: f64| probability(&LevelFit::steps(&x, &[15]), 1, autocorrelation, 999);
        assert!(p(0.0) <= 0.01 && p(0.9) > LEVEL, "{} {}", p(0.0), p(0.9));
    }

    /// The best curve leaves a curve.
    #[test]
    fn what_no_explanation_fits_shows_nothing() {
        let values: Vec<u64> = (0..30).map(|day| 40_000 + 400 * day).collect();
        assert_eq!(explained(&values).1, 1.0);
    }
}
