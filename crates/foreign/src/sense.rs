//! What cannot be: a run that goes back, and microseconds that are longer than an interval.

use super::FormatError;
use super::measured::{Extremes, SeriesValues, ThreadSeries, ToolMeasurement};
use worstcase_base::duration;
use worstcase_contract::Nanos;
use worstcase_results::record::Quantity;

/// cyclictest's interval.
const USUAL_PERIOD: Nanos = Nanos(1_000_000);

impl ToolMeasurement {
    /// Whether this is a later print of a run of which `before` is an earlier one: all that grows has grown.
    pub(crate) fn continues(&self, before: &ToolMeasurement) -> bool {
        let grew = |series: &ThreadSeries| {
            let same = |later: &&ThreadSeries| later.probe == series.probe && later.cpu == series.cpu;
            self.series
                .iter()
                .find(same)
                .is_some_and(|later| later.continues(series))
        };
        self.tool == before.tool && before.series.iter().all(grew)
    }

    /// An error if the times of a text without their unit cannot be microseconds: ns are asked for.
    pub(crate) fn check_unit(&self) -> Result<(), FormatError> {
        let never = |series: &&ThreadSeries| {
            let period = series.period.unwrap_or(USUAL_PERIOD);
            series.min().is_some_and(|min| min >= period)
        };
        let found = self.series.iter().find(never).filter(|_| !self.is_unit_told);
        found.map_or(Ok(()), |series| {
            Err(FormatError::new(format!(
                "of {} no sample is shorter than {}, nor than its interval: are its times ns ({} -N)? say \
                 --nanoseconds, or --microseconds",
                series.name(),
                series.min().map_or_else(String::new, duration::show),
                self.tool
            )))
        })
    }
}

impl ThreadSeries {
    /// The smallest of all its samples.
    fn min(&self) -> Option<Nanos> {
        self.quantities.values().filter_map(SeriesValues::min).min()
    }

    /// Whether this is what became of `before` when the tool went on.
    fn continues(&self, before: &ThreadSeries) -> bool {
        let gaps = |of: &ThreadSeries| {
            of.gaps
                .map(|gaps| [gaps.observed_ns, gaps.noise_ns, gaps.max_single_ns])
        };
        let grew = match (gaps(self), gaps(before)) {
            (Some(now), Some(then)) => now.iter().zip(then).all(|(now, then)| *now >= then),
            (now, then) => now == then,
        };
        let later = |(quantity, then): (&Quantity, &SeriesValues)| {
            let now = self.quantities.get(quantity).and_then(SeriesValues::ends);
            now.zip(then.ends()).is_some_and(|(now, then)| now.continues(&then))
        };
        grew && self.observed >= before.observed && before.quantities.iter().all(later)
    }
}

impl SeriesValues {
    fn min(&self) -> Option<Nanos> {
        match self {
            SeriesValues::Samples(samples) => samples.iter().map(|sample| sample.value).min(),
            _ => self.ends()?.min,
        }
    }
}

impl Extremes {
    /// Whether they can be what became of `before` when a thread went on: the same, or of more samples.
    pub(crate) fn continues(&self, before: &Extremes) -> bool {
        let grew = self.count > before.count && self.max >= before.max && self.min <= before.min;
        self == before || grew || before.count == 0
    }
}
