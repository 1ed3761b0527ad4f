//! The threshold above which the tail begins.
//!
//! Up to [`STEPS`] thresholds: above the lowest are `n^(2/3) / ln ln n` of n samples (Loretan, Phillips, Journal of Empirical
//! Finance 1, 1994; at most [`MOST`]), above the highest [`LEAST`], between them even steps of the logarithm of that number.
//! More samples, such as a tenth of all, include some that are not in the tail yet: a bend too slight for any test, but which
//! misleads an estimate far ahead. At each threshold the events above it are fitted and the fit is tested. From the lowest
//! on, thresholds are refused by the rule ForwardStop at [`LEVEL`], which corrects for several tests (Bader, Yan, Zhang,
//! Annals of Applied Statistics 12, 2018; the rule by G'Sell and others, JRSS B 78, 2016): all up to the last one at which
//! the mean of `-ln(1 - p)` so far is at most the level. The next one is taken.
//!
//! The fit must bear the largest sample too: a sample far from the rest hardly moves a test of all, but shows a path of
//! another kind, so the search goes on upwards until the sample is part of the tail.

use super::Refusal;
use super::anderson_darling::{probability, statistic};
use super::gpd::{Excesses, Gpd};
use super::peaks::{Events, MOST, Peaks};

/// Fewest samples.
pub(crate) const SAMPLES: u64 = 10_000;
/// Fewest events that are fitted.
pub(crate) const LEAST: usize = 50;
/// Thresholds that are tried.
pub(crate) const STEPS: usize = 16;
/// The share of refused thresholds that may be refused wrongly.
pub(crate) const LEVEL: f64 = 0.1;
/// A largest sample less likely than this does not belong to the fit.
const LARGEST_LEVEL: f64 = 0.01;
/// Below this shape a fit ends at the largest sample or near it, and cannot be asked about it.
const BOUNDED: f64 = -0.5;

/// A threshold, and the fit of the events above it.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) threshold: u64,
    pub(crate) events: Events,
    pub(crate) excesses: Excesses,
    pub(crate) gpd: Gpd,
    /// The Anderson-Darling statistic, and the probability of one as large.
    pub(crate) statistic: f64,
    pub(crate) p: f64,
    /// Probability of a largest sample as large as was seen; `None` where the fit cannot be asked.
    pub(crate) largest_p: Option<f64>,
}

/// The lowest threshold above which the samples are a tail, and behind it the others that could have been taken.
pub(crate) fn choose(peaks: &Peaks) -> Result<Vec<Fitted>, Refusal> {
    if peaks.count() < SAMPLES {
        return Err(Refusal::TooFewSamples { samples: peaks.count() });
    }
    let largest = peaks.descending();
    let mut tried: Vec<Fitted> = Vec::new();
    let mut most_events = 0;
    for above in numbers(peaks.count()) {
        let threshold = largest[above].0;
        if tried.last().is_some_and(|t| t.threshold == threshold) {
            continue;
        }
        let events = Events::above(threshold, &largest, peaks.count());
        most_events = most_events.max(events.peaks.len());
        if events.peaks.len() >= LEAST {
            tried.extend(Fitted::new(threshold, events));
        }
    }
    if tried.is_empty() {
        return Err(Refusal::TooFewEvents { events: most_events });
    }
    let refused = forward_stop(tried.iter().map(|t| t.p));
    let best_p = tried.iter().map(|t| t.p).fold(0.0, f64::max);
    let mut left = tried.into_iter().skip(refused).peekable();
    let thresholds = refused + left.len();
    let Some(first) = left.peek().map(|t| t.largest_p) else {
        return Err(Refusal::NoFit { thresholds, best_p });
    };
    // The first threshold left has at least this probability, by the rule; a threshold further up must have it,
    // too.
    let good = -(-LEVEL).exp_m1();
    let fits: Vec<Fitted> = left
        .filter(|t| t.p > good && t.largest_p.is_none_or(|p| p >= LARGEST_LEVEL))
        .collect();
    match fits.is_empty() {
        true => Err(Refusal::Largest {
            p: first.unwrap_or(0.0),
        }),
        false => Ok(fits),
    }
}

impl Fitted {
    fn new(threshold: u64, events: Events) -> Option<Fitted> {
        let excesses = Excesses::new(spread(&events.peaks).map(|peak| peak - threshold as f64))?;
        let gpd = excesses.fit();
        let statistic = statistic(&excesses, &gpd);
        let above_largest = gpd.ln_above(excesses.largest()).exp();
        Some(Fitted {
            p: probability(statistic, gpd.shape),
            largest_p: (gpd.shape >= BOUNDED).then(|| -(excesses.count() as f64 * (-above_largest).ln_1p()).exp_m1()),
            threshold,
            events,
            excesses,
            gpd,
            statistic,
        })
    }
}

/// Spreads equal whole nanoseconds evenly over the nanosecond that ends there.
fn spread(peaks: &[u64]) -> impl Iterator<Item = f64> {
    let mut sorted = peaks.to_vec();
    sorted.sort_unstable();
    let equal: Vec<Vec<f64>> = sorted
        .chunk_by(|a, b| a == b)
        .map(|same| {
            let place = |i: usize| same[0] as f64 - 1.0 + (i as f64 + 0.5) / same.len() as f64;
            (0..same.len()).map(place).collect()
        })
        .collect();
    equal.into_iter().flatten()
}

/// The number of samples that may be above the lowest threshold.
fn most(samples: u64) -> f64 {
    // The rule is for large numbers; `ln ln n` is no number below 3.
    let n = (samples as f64).max(3.0);
    (n.powf(2.0 / 3.0) / n.ln().ln())
        .min(MOST as f64)
        .min(samples as f64 / 2.0)
}

/// The number of samples to be above each threshold, descending.
fn numbers(samples: u64) -> impl Iterator<Item = usize> {
    let most = most(samples);
    let ratio = LEAST as f64 / most;
    (0..STEPS).map(move |i| (most * ratio.powf(i as f64 / (STEPS - 1) as f64)).round() as usize)
}

/// The number of these, from the first on, that the rule refuses.
fn forward_stop(probabilities: impl Iterator<Item = f64>) -> usize {
    let mut sum = 0.0;
    let mut refused = 0;
    for (i, p) in probabilities.enumerate() {
        sum -= (-p).ln_1p();
        if sum <= LEVEL * (i + 1) as f64 {
            refused = i + 1;
        }
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5 000^(2/3) / ln ln 5 000 = 136.5.
    #[test]
    fn thresholds_from_few_of_the_samples_to_fifty() {
        let of = |samples| numbers(samples).collect::<Vec<_>>();
        assert_eq!((of(5_000)[0], of(5_000)[15]), (137, 50));
        assert_eq!(
            (of(60_000)[0], of(10_000_000)[0], of(10_000_000)[15]),
            (639, 10_000, 50)
        );
        assert!(most(900) < LEAST as f64 && most(1_000) > LEAST as f64);
        assert_eq!(most(0), 0.0);
    }

    #[test]
    fn equal_nanoseconds_are_spread() {
        let all: Vec<f64> = spread(&[7, 5, 7]).collect();
        assert_eq!(all, [4.5, 6.25, 6.75]);
    }

    #[test]
    fn forward_stop_by_hand() {
        // -ln(1 - p): 0.0010, 0.0513, 0.2231, 0.6931; means: 0.0010, 0.0262, 0.0918, 0.2421.
        assert_eq!(forward_stop([0.001, 0.05, 0.2, 0.5].into_iter()), 3);
        // A good threshold early does not stop the rule if the later ones are bad enough.
        assert_eq!(forward_stop([0.2, 0.001, 0.001].into_iter()), 3);
        assert_eq!(forward_stop([0.3, 0.3].into_iter()), 0);
    }
}
