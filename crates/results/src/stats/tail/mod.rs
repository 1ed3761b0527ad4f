//! Statements of a cell's largest samples about larger ones that were not seen: peaks over threshold.
//!
//! ```text
//! samples -> the largest of them                                        peaks
//! above a threshold -> events: samples close together count once        peaks
//! excesses of the events -> generalized Pareto distribution             gpd
//! does it fit? -> the lowest threshold above which it does              anderson_darling, threshold
//! everything nearly as likely -> intervals                              region
//! ```
//! By the theorem of Pickands, Balkema and de Haan excesses over a high threshold follow such a distribution, whatever the
//! samples do below, **if** the samples above come from one kind of cause that was seen often enough. The samples cannot
//! tell of a cause that was not seen. `docs/statistics.md` has the method and its limits.

mod anderson_darling;
mod gpd;
mod peaks;
mod region;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod threshold;

pub use peaks::Peaks;

use super::poisson;
use gpd::Gpd;
use region::Region;
use serde::Serialize;
use threshold::Fitted;
use worstcase_contract::Nanos;

/// The questions: the latency that one event in such a time exceeds.
const PERIODS: [(&str, Nanos); 3] = [
    ("hour", Nanos(3_600_000_000_000)),
    ("day", Nanos(86_400_000_000_000)),
    ("year", Nanos(365 * 86_400_000_000_000)),
];
/// A time longer than this many times the observation time is left out.
pub const TIMES_LOOKED: f64 = 100.0;
/// A figure whose interval spans more than this factor is withheld.
pub const SPAN: f64 = 10.0;
/// A distribution of this shape or more has no variance: its seen values tell next to nothing about the unseen
/// ones.
const HEAVY: f64 = 0.5;
/// 292 years: no upper end.
const NO_END: f64 = (1_u64 << 63) as f64;

/// A number with the interval of all fits that the data do not refuse at 95 %: over shape, scale and number of events; the best
/// values of other thresholds are inside.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sure<T> {
    /// The value of the best fit.
    pub best: T,
    /// Lower end.
    pub low: T,
    /// Upper end.
    pub high: T,
}

/// A latency and how often it is exceeded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExceedanceLevel {
    /// `hour`, `day` or `year`.
    pub once_a: &'static str,
    /// The return time.
    pub every_ns: Nanos,
    /// The latency that one event in that time exceeds; no number if there is no end.
    pub latency_ns: Sure<Option<Nanos>>,
}

/// The rate at which a limit is exceeded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exceeded {
    /// The limit.
    pub limit_ns: Nanos,
    /// Seconds from one event above it to the next, on average; nothing beyond [`TIMES_LOOKED`] times the observation time.
    pub every_s: Sure<Option<f64>>,
}

/// The tail of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyTail {
    /// Samples above this are the tail.
    pub threshold_ns: Nanos,
    /// Samples above it.
    pub above: u64,
    /// Events: samples above it that are close together count as one, with the largest of them.
    pub events: u64,
    /// Samples further apart than this many are of different events.
    pub run: u64,
    /// All samples.
    pub samples: u64,
    /// The observation time.
    pub observation_ns: Nanos,
    /// The largest sample.
    pub max_ns: Nanos,
    /// Negative: bounded; zero: exponential; positive: heavier.
    pub shape: Sure<f64>,
    /// The scale of the best fit.
    scale_ns: f64,
    /// Anderson-Darling statistic of the fit.
    anderson_darling: f64,
    /// Probability of a fit as bad (0.001 to 0.99).
    pub fit_p: f64,
    /// Probability of a largest sample as large; nothing where the fit ends there.
    pub(crate) largest_p: Option<f64>,
    /// Largest latency of the fit; no number where there is none.
    pub end_ns: Sure<Option<Nanos>>,
    /// Levels, for times in which there is more than one event and that are not too long for the observation time.
    pub levels: Vec<ExceedanceLevel>,
    /// Times (`hour`, `day`, `year`) whose level is withheld: its interval spans more than a factor of ten.
    pub withheld: Vec<&'static str>,
    /// The limit, if one was given and it is above the threshold.
    pub limit: Option<Exceeded>,
}

/// Why there is no estimate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Too few samples.
    #[error("{samples} samples are too few, {} are needed; measure longer", threshold::SAMPLES)]
    TooFewSamples {
        /// Samples.
        samples: u64,
    },
    /// Too few events.
    #[error(
        "the largest samples are {events} events, at least {} are needed (samples close together count as one, equal \
         samples tell nothing); measure longer",
        threshold::LEAST
    )]
    TooFewEvents {
        /// Most events above a threshold.
        events: usize,
    },
    /// No threshold fits.
    #[error(
        "the largest samples fit no generalized Pareto distribution above any of {thresholds} thresholds \
         (Anderson-Darling, p at most {best_p:.3}): they come of several causes, or in steps"
    )]
    NoFit {
        /// Thresholds tried.
        thresholds: usize,
        /// The best fit.
        best_p: f64,
    },
    /// The largest sample stands alone.
    #[error(
        "the largest sample is far from all others (p = {p:.1e} if it were of their kind): it has a cause of its own that \
         was seen too seldom"
    )]
    Largest {
        /// Probability under the lowest threshold that fits otherwise.
        p: f64,
    },
    /// The tail is too heavy.
    #[error(
        "the largest samples have so heavy a tail (shape {shape:.2}; from 0.5 on it has no variance) that an estimate would be no \
         figure: they come of several causes, or of one that was seen too seldom; measure longer"
    )]
    Heavy {
        /// Shape of the best fit.
        shape: f64,
    },
    /// The observation time is 0.
    #[error("the observation time is 0")]
    NoTime,
}

/// The tail of samples that were taken over a time; how often `limit` is exceeded, if there is one.
pub fn estimate(peaks: &Peaks, observation_time: Nanos, limit: Option<Nanos>) -> Result<LatencyTail, Refusal> {
    if observation_time.0 == 0 {
        return Err(Refusal::NoTime);
    }
    let fits = threshold::choose(peaks)?;
    let fitted = &fits[0];
    if fitted.gpd.shape >= HEAVY {
        let shape = rounded(fitted.gpd.shape);
        return Err(Refusal::Heavy { shape });
    }
    let all: Vec<TailFit> = fits.iter().map(TailFit::new).collect();
    let region = fitted.excesses.region();
    let all = (all.as_slice(), &region);
    let (low, high) = range(all, |_, gpd, _| gpd.shape);
    let end = |gpd: &Gpd| {
        if gpd.shape < 0.0 {
            -gpd.scale / gpd.shape
        } else {
            f64::INFINITY
        }
    };
    let (levels, vague): (Vec<ExceedanceLevel>, Vec<ExceedanceLevel>) = levels(all, observation_time)
        .into_iter()
        .partition(|level| is_narrow(&level.latency_ns));
    Ok(LatencyTail {
        threshold_ns: Nanos(fitted.threshold),
        above: fitted.events.above as u64,
        events: fitted.events.peaks.len() as u64,
        run: fitted.events.run,
        samples: peaks.count(),
        observation_ns: observation_time,
        max_ns: Nanos(fitted.events.peaks.iter().copied().max().unwrap_or(0)),
        shape: Sure {
            best: rounded(fitted.gpd.shape),
            low: rounded(low),
            high: rounded(high),
        },
        scale_ns: rounded(fitted.gpd.scale),
        anderson_darling: rounded(fitted.statistic),
        fit_p: rounded(fitted.p),
        largest_p: fitted.largest_p.map(rounded),
        end_ns: latency(all, |gpd, _| end(gpd)),
        levels,
        withheld: vague.iter().map(|level| level.once_a).collect(),
        limit: limit
            .filter(|l| l.0 > fitted.threshold)
            .map(|l| exceeded(all, observation_time, l)),
    })
}

/// A threshold's fit and the number of events above it.
struct TailFit<'a> {
    fitted: &'a Fitted,
    /// The number of events, and the interval of its mean at 97.5 %.
    events: Sure<f64>,
}

impl TailFit<'_> {
    fn new(fitted: &Fitted) -> TailFit<'_> {
        let count = fitted.events.peaks.len() as u64;
        let (low, high) = poisson::interval(count);
        TailFit {
            fitted,
            events: Sure {
                best: count as f64,
                low,
                high,
            },
        }
    }
}

/// The interval of a value that rises with the number of events: over all fits above the first threshold that are nearly as likely,
/// and the best fits above the other thresholds that could have been chosen.
fn range((all, region): (&[TailFit<'_>], &Region), value: impl Fn(&TailFit<'_>, &Gpd, f64) -> f64) -> (f64, f64) {
    let first = &all[0];
    let (low, _) = region.range(|gpd| value(first, gpd, first.events.low));
    let (_, high) = region.range(|gpd| value(first, gpd, first.events.high));
    let others = all.iter().map(|fit| value(fit, &fit.fitted.gpd, fit.events.best));
    others.fold((low, high), |(low, high), best| (low.min(best), high.max(best)))
}

fn levels(all: (&[TailFit<'_>], &Region), observation_time: Nanos) -> Vec<ExceedanceLevel> {
    let events = all.0[0].events.best;
    let level = |(once_a, every): (&'static str, Nanos)| {
        let times = every.0 as f64 / observation_time.0 as f64;
        (events * times > 1.0 && times <= TIMES_LOOKED).then(|| ExceedanceLevel {
            once_a,
            every_ns: every,
            // Fewer than one event in that time: at the threshold.
            latency_ns: latency(all, |gpd, events| gpd.one_in((events * times).max(1.0))),
        })
    };
    PERIODS.into_iter().filter_map(level).collect()
}

/// Whether an interval leaves a figure to be told.
pub fn is_narrow(sure: &Sure<Option<Nanos>>) -> bool {
    let ends = sure.low.zip(sure.high);
    ends.is_some_and(|(low, high)| high.0 as f64 <= low.0 as f64 * SPAN)
}

/// A latency that follows from a fit and a number of events, given how far above the threshold it is.
fn latency(all: (&[TailFit<'_>], &Region), excess: impl Fn(&Gpd, f64) -> f64) -> Sure<Option<Nanos>> {
    let nanos = |latency: f64| (latency < NO_END).then(|| Nanos(latency.ceil() as u64));
    let (low, high) = range(all, |fit, gpd, events| {
        fit.fitted.threshold as f64 + excess(gpd, events)
    });
    let first = &all.0[0];
    Sure {
        best: nanos(first.fitted.threshold as f64 + excess(&first.fitted.gpd, first.events.best)),
        low: nanos(low),
        high: nanos(high),
    }
}

fn exceeded(all: (&[TailFit<'_>], &Region), observation_time: Nanos, limit: Nanos) -> Exceeded {
    let observed = observation_time.0 as f64 / 1e9;
    let every = |ln_a_second: f64| {
        let seconds = (-ln_a_second).exp();
        (seconds <= observed * TIMES_LOOKED).then(|| rounded(seconds))
    };
    // The logarithm of the number of events above the limit in a second.
    let rate = |fit: &TailFit<'_>, gpd: &Gpd, events: f64| {
        let excess = limit.0.saturating_sub(fit.fitted.threshold) as f64;
        gpd.ln_above(excess) + (events / observed).ln()
    };
    let (seldom, often) = range(all, rate);
    let first = &all.0[0];
    Exceeded {
        limit_ns: limit,
        every_s: Sure {
            best: every(rate(first, &first.fitted.gpd, first.events.best)),
            low: every(often),
            high: every(seldom),
        },
    }
}

/// Rounds to four digits: a reader can use them, and they are the same on every machine.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
