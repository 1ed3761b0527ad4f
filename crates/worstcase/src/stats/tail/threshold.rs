//! Above which threshold the tail begins.
//!
//! Up to [`STEPS`] thresholds, from a tenth of the samples (at most [`MOST`]) above the lowest to [`LEAST`] above the
//! highest, in even steps of the logarithm of that number. At each the events above it are fitted and the fit is tested.
//! From the lowest on, thresholds are refused by the rule ForwardStop at [`LEVEL`], which corrects for asking several
//! times (Bader, Yan, Zhang, Annals of Applied Statistics 12, 2018; the rule by G'Sell and others, JRSS B 78, 2016): all up
//! to the last one at which the mean of `-ln(1 - p)` so far is at most the level. The next one is taken.
//!
//! The fit must bear the largest sample too: one far from the rest hardly moves a test of all, but tells of a path of
//! another kind, so that the search goes on upwards until it is part of the tail.

use super::Refusal;
use super::anderson_darling::{probability, statistic};
use super::gpd::{Excesses, Gpd};
use super::peaks::{Events, MOST, Peaks};

/// Fewest events that are fitted.
pub const LEAST: usize = 50;
/// One sample in this many is above the lowest threshold.
pub const ONE_IN: u64 = 10;
/// Thresholds that are tried.
pub const STEPS: usize = 16;
/// Of all thresholds refused, as many may be refused wrongly.
pub const LEVEL: f64 = 0.1;
/// A largest sample less likely than this does not belong to the fit.
pub const LARGEST_LEVEL: f64 = 0.01;
/// Below this shape a fit ends at the largest sample or near it, and cannot be asked about it.
const BOUNDED: f64 = -0.5;

/// A threshold and what is above it.
#[derive(Clone, Debug)]
pub struct Fitted {
    pub threshold: u64,
    pub events: Events,
    pub excesses: Excesses,
    pub gpd: Gpd,
    /// The Anderson-Darling statistic, and the probability of one as large.
    pub statistic: f64,
    pub p: f64,
    /// Probability of a largest sample as large as was seen; `None` where the fit cannot be asked.
    pub largest_p: Option<f64>,
}

/// The lowest threshold above which the samples are a tail.
pub fn choose(peaks: &Peaks) -> Result<Fitted, Refusal> {
    let least = LEAST as u64 * ONE_IN;
    if peaks.count() < least {
        return Err(Refusal::TooFewSamples {
            samples: peaks.count(),
            least,
        });
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
    left.find(|t| t.largest_p.is_none_or(|p| p >= LARGEST_LEVEL))
        .ok_or(Refusal::Largest {
            p: first.unwrap_or(0.0),
        })
}

impl Fitted {
    fn new(threshold: u64, events: Events) -> Option<Fitted> {
        let excesses = Excesses::new(events.peaks.iter().map(|peak| (peak - threshold) as f64))?;
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

/// How many samples shall be above each threshold, descending.
fn numbers(samples: u64) -> impl Iterator<Item = usize> {
    let most = (samples / ONE_IN).min(MOST as u64) as f64;
    let ratio = LEAST as f64 / most;
    (0..STEPS).map(move |i| (most * ratio.powf(i as f64 / (STEPS - 1) as f64)).round() as usize)
}

/// How many of these, in their order, the rule refuses.
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

    #[test]
    fn thresholds_from_a_tenth_of_the_samples_to_fifty() {
        let of = |samples| numbers(samples).collect::<Vec<_>>();
        assert_eq!((of(5_000)[0], of(5_000)[15]), (500, 50));
        assert_eq!((of(10_000_000)[0], of(10_000_000)[15]), (10_000, 50));
        assert_eq!(of(500), [50; 16]);
    }

    #[test]
    fn forward_stop_by_hand() {
        // -ln(1 - p): 0.0010, 0.0513, 0.2231, 0.6931; means: 0.0010, 0.0262, 0.0918, 0.2421.
        assert_eq!(forward_stop([0.001, 0.05, 0.2, 0.5].into_iter()), 3);
        // A good one early does not stop it where those after it are bad enough.
        assert_eq!(forward_stop([0.2, 0.001, 0.001].into_iter()), 3);
        assert_eq!(forward_stop([0.3, 0.3].into_iter()), 0);
    }
}
