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
const TIMES_LOOKED: f64 = 1e6;
/// A figure whose interval spans more than this factor is withheld.
pub const SPAN: f64 = 10.0;
/// A distribution of this shape or more has no variance: its seen values tell next to nothing about the unseen
/// ones.
const HEAVY: f64 = 0.5;
/// 292 years: no upper end.
const NO_END: f64 = (1_u64 << 63) as f64;

/// A number with the interval of all fits that the data do not refuse at 95 %.
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
    /// Seconds from one event above it to the next, on average; nothing for never.
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
    #[error("{samples} samples are too few, about a thousand are needed; measure longer")]
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
    let fitted = threshold::choose(peaks)?;
    if fitted.gpd.shape >= HEAVY {
        let shape = rounded(fitted.gpd.shape);
        return Err(Refusal::Heavy { shape });
    }
    let region = fitted.excesses.region();
    let (low, high) = region.range(|gpd| gpd.shape);
    let end = |gpd: &Gpd| {
        if gpd.shape < 0.0 {
            -gpd.scale / gpd.shape
        } else {
            f64::INFINITY
        }
    };
    let (levels, vague): (Vec<ExceedanceLevel>, Vec<ExceedanceLevel>) = levels(&fitted, &region, observation_time)
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
        end_ns: latency(&fitted, &region, end),
        levels,
        withheld: vague.iter().map(|level| level.once_a).collect(),
        limit: limit
            .filter(|l| l.0 > fitted.threshold)
            .map(|l| exceeded(&fitted, &region, observation_time, l)),
    })
}

fn levels(fitted: &Fitted, region: &Region, observation_time: Nanos) -> Vec<ExceedanceLevel> {
    let events = fitted.events.peaks.len() as f64;
    let level = |(once_a, every): (&'static str, Nanos)| {
        let times = every.0 as f64 / observation_time.0 as f64;
        (events * times > 1.0 && times <= TIMES_LOOKED).then(|| ExceedanceLevel {
            once_a,
            every_ns: every,
            latency_ns: latency(fitted, region, |gpd| gpd.one_in(events * times)),
        })
    };
    PERIODS.into_iter().filter_map(level).collect()
}

/// Whether an interval leaves a figure to be told.
pub fn is_narrow(sure: &Sure<Option<Nanos>>) -> bool {
    let ends = sure.low.zip(sure.high);
    ends.is_some_and(|(low, high)| high.0 as f64 <= low.0 as f64 * SPAN)
}

/// A latency that follows from the fit, given how far above the threshold it is.
fn latency(fitted: &Fitted, region: &Region, excess: impl Fn(&Gpd) -> f64) -> Sure<Option<Nanos>> {
    let nanos = |excess: f64| {
        let latency = fitted.threshold as f64 + excess;
        (latency < NO_END).then(|| Nanos(latency.ceil() as u64))
    };
    let (low, high) = region.range(&excess);
    Sure {
        best: nanos(excess(&fitted.gpd)),
        low: nanos(low),
        high: nanos(high),
    }
}

fn exceeded(fitted: &Fitted, region: &Region, observation_time: Nanos, limit: Nanos) -> Exceeded {
    let excess = (limit.0 - fitted.threshold) as f64;
    let between = observation_time.0 as f64 / 1e9 / fitted.events.peaks.len() as f64;
    let every = |ln_above: f64| {
        let seconds = between * (-ln_above).exp();
        seconds.is_finite().then(|| rounded(seconds))
    };
    let (seldom, often) = region.range(|gpd| gpd.ln_above(excess));
    Exceeded {
        limit_ns: limit,
        every_s: Sure {
            best: every(fitted.gpd.ln_above(excess)),
            low: every(often),
            high: every(seldom),
        },
    }
}

/// Rounds to four digits: a reader can use them, and they are the same on every machine.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
