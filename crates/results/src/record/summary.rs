//! The summary of one quantity of a cell.

use super::missed::MissedPeriods;
use crate::stats::{Distribution, Percentile};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use worstcase_contract::probe::ProbeInfo;
use worstcase_contract::{Nanos, Quantity};

/// Significant decimal digits that the histogram keeps.
const HISTOGRAM_DIGITS: u8 = 3;

/// How the names of other tools' instruments begin, and what a latency of theirs is.
const FOREIGN_TITLES: [(&str, &str); 17] = [
    ("fio-", "time of an operation"),
    ("bonnie-", "time of an operation"),
    ("timerlat-user", "latency: timer due to the return to user space"),
    ("oslat", "turns of a loop that never sleeps"),
    ("osnoise", "noises: time taken from a thread that never sleeps"),
    ("pmqtest", SENT),
    ("ptsematest", SENT),
    ("svsematest", SENT),
    ("sigwaittest", SENT),
    ("signaltest", "latency: a signal handed around"),
    (
        "cyclicdeadline",
        "latency: begin of a deadline task's period to user code",
    ),
    ("hwlatdetect", "gaps that the hardware makes"),
    ("stress-ng-cyclic", "latency: end of a sleep to user code"),
    ("schbench-wakeup", "latency: a worker's wake-up"),
    ("schbench-request", "time of a request"),
    ("linuxcnc-", "jitter: how far an interval is off"),
    ("perf-sched-", "delay: runnable until it runs"),
];
const SENT: &str = "latency: sending to the receiver's waking";

/// The meaning of a quantity for a probe, for headings.
pub fn title_of(quantity: Quantity, probe: &str) -> &'static str {
    if quantity != Quantity::Latency {
        return quantity.title();
    }
    if let Some((_, title)) = FOREIGN_TITLES.iter().find(|(names, _)| probe.starts_with(names)) {
        return title;
    }
    ProbeInfo::of_word(probe)
        .and_then(|info| info.sample)
        .unwrap_or(quantity.title())
}

/// One quantity's distribution. Every value but the mean is a sample that was taken, except in `periods`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Samples.
    pub count: u64,
    /// The smallest; absent where a foreign file does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<u64>,
    /// The mean, rounded down; absent where a foreign file does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<u64>,
    /// The nearest-rank median; absent where a foreign file does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_ns: Option<u64>,
    /// The largest.
    pub max_ns: u64,
    /// Period index of the largest (the first of equals); absent where a foreign file does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_index: Option<u32>,
    /// Percentiles that the count bears ([`crate::stats::distribution::SAMPLES_ABOVE`]).
    pub percentiles_ns: BTreeMap<Percentile, u64>,
    /// All samples at three digits: HdrHistogram, V2 encoding without compression, base64. For a foreign file the samples
    /// in its histogram; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hdr_v2_base64: String,
    /// The same of all periods, if some were missed: each is late by one period less than the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub periods: Option<PeriodSummary>,
}

/// The distribution of the latencies of all periods, those that were missed too ([`MissedPeriods`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeriodSummary {
    /// Samples and missed periods. Periods before the first sample are not among them: nothing tells how late they were.
    pub count: u64,
    /// The nearest-rank median.
    pub median_ns: u64,
    /// Percentiles that the count bears.
    pub percentiles_ns: BTreeMap<Percentile, u64>,
    /// The histogram, as that of the samples.
    pub hdr_v2_base64: String,
}

impl Summary {
    /// The summary of the latencies of samples that were due at the begin of each of `expected` periods.
    pub fn of_latencies(values: &[(u32, Nanos)], period: Nanos, expected: u32) -> Option<Summary> {
        let (mut missed, mut all) = (MissedPeriods::new(period), Vec::new());
        for (index, latency) in values {
            missed.add(*index, *latency, |n| all.push((0, n)));
        }
        missed.until(expected, |n| all.push((0, n)));
        let periods = match all.is_empty() {
            true => None,
            false => {
                all.extend_from_slice(values);
                Summary::new(&all).map(PeriodSummary::from)
            }
        };
        Some(Summary {
            periods,
            ..Summary::new(values)?
        })
    }

    /// The summary of (period index, value); nothing without values.
    pub fn new(values: &[(u32, Nanos)]) -> Option<Summary> {
        let distribution = Distribution::new(values.iter().map(|(_, v)| *v))?;
        let max = distribution.max();
        let (max_index, _) = *values.iter().find(|(_, v)| *v == max)?;
        Some(Summary {
            count: distribution.count(),
            min_ns: Some(distribution.min().0),
            mean_ns: Some(distribution.mean().0),
            median_ns: Some(distribution.median().0),
            max_ns: max.0,
            max_index: Some(max_index),
            percentiles_ns: Percentile::ALL
                .into_iter()
                .filter_map(|p| Some((p, distribution.percentile(p)?.0)))
                .collect(),
            hdr_v2_base64: encode_histogram(values.iter().map(|(_, v)| *v)),
            periods: None,
        })
    }

    /// The median of all periods.
    pub fn median(&self) -> Option<Nanos> {
        let of_periods = self.periods.as_ref().map(|all| all.median_ns);
        of_periods.or(self.median_ns).map(Nanos)
    }

    /// A percentile of all periods, if the count bears it.
    pub fn percentile(&self, percentile: Percentile) -> Option<Nanos> {
        self.percentiles().get(&percentile).copied().map(Nanos)
    }

    /// The percentiles of all periods.
    pub fn percentiles(&self) -> &BTreeMap<Percentile, u64> {
        self.periods
            .as_ref()
            .map_or(&self.percentiles_ns, |all| &all.percentiles_ns)
    }

    /// Samples, and those missed periods whose latency is known.
    pub fn period_count(&self) -> u64 {
        self.periods.as_ref().map_or(self.count, |all| all.count)
    }

    /// The histogram of all periods; nothing if there is none, or it lacks some.
    pub fn histogram(&self) -> Option<Histogram<u64>> {
        self.held().filter(|histogram| histogram.len() == self.period_count())
    }

    /// The histogram of the samples alone, decoded; that of a foreign file may lack some.
    pub fn samples_held(&self) -> Option<Histogram<u64>> {
        decode(&self.hdr_v2_base64)
    }

    /// The histogram of all periods; that of a foreign file may lack samples.
    pub fn held(&self) -> Option<Histogram<u64>> {
        decode(
            self.periods
                .as_ref()
                .map_or(&self.hdr_v2_base64, |all| &all.hdr_v2_base64),
        )
    }

    /// A histogram as a summary keeps it.
    pub fn encode(histogram: &Histogram<u64>) -> String {
        encode(histogram)
    }

    /// A contradiction in the summary, in words.
    pub(super) fn check(&self, taken: u64) -> Result<(), String> {
        if self.count != taken {
            return Err(format!("has {} samples of {taken} taken", self.count));
        }
        self.check_order()?;
        self.check_periods()?;
        let ends = (self.min_ns, self.mean_ns, self.median_ns, self.max_index);
        let histogram = self.samples_held().filter(|histogram| histogram.len() == self.count);
        match (ends, histogram) {
            ((Some(_), Some(_), Some(_), Some(_)), Some(_)) => Ok(()),
            (_, None) => Err("has a histogram that does not hold every sample".into()),
            _ => Err("has no minimum, mean or median, or no sample for its maximum".into()),
        }
    }

    /// The same of a foreign file, which may tell less.
    pub(super) fn check_foreign(&self) -> Result<(), String> {
        self.check_order()?;
        let held = self.held().map_or(0, |histogram| histogram.len());
        match held > self.count || (held == 0) != self.hdr_v2_base64.is_empty() {
            true => Err("has a histogram that does not fit its samples".into()),
            false => Ok(()),
        }
    }

    fn check_periods(&self) -> Result<(), String> {
        let Some(all) = &self.periods else {
            return Ok(());
        };
        let ascending = [all.median_ns].into_iter().chain(all.percentiles_ns.values().copied());
        match !ascending.chain([self.max_ns]).is_sorted() || all.count < self.count || self.histogram().is_none() {
            true => Err("has percentiles of all periods that do not fit its samples".into()),
            false => Ok(()),
        }
    }

    fn check_order(&self) -> Result<(), String> {
        let mut ascending: Vec<u64> = self.min_ns.into_iter().collect();
        ascending.extend(self.median_ns);
        ascending.extend(self.percentiles_ns.values());
        ascending.push(self.max_ns);
        let least = self.min_ns.unwrap_or(0);
        let outside = self.mean_ns.is_some_and(|mean| !(least..=self.max_ns).contains(&mean));
        match !ascending.is_sorted() || outside {
            true => Err("is not in order from minimum to maximum".into()),
            false => Ok(()),
        }
    }
}

impl From<Summary> for PeriodSummary {
    fn from(all: Summary) -> PeriodSummary {
        PeriodSummary {
            count: all.count,
            median_ns: all.median_ns.unwrap_or(all.max_ns),
            percentiles_ns: all.percentiles_ns,
            hdr_v2_base64: all.hdr_v2_base64,
        }
    }
}

fn decode(base64: &str) -> Option<Histogram<u64>> {
    let bytes = BASE64.decode(base64).ok()?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}

fn encode_histogram(values: impl Iterator<Item = Nanos>) -> String {
    let mut histogram = empty_histogram();
    for value in values {
        histogram
            .record(value.0)
            .expect("a growing histogram takes every value");
    }
    encode(&histogram)
}

/// A histogram that grows with its values: none ever falls out of it.
pub(super) fn empty_histogram() -> Histogram<u64> {
    Histogram::new(HISTOGRAM_DIGITS).expect("three digits are allowed")
}

pub(super) fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a histogram is written to memory");
    BASE64.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_worst_sample_is_named() {
        let s = Summary::new(&[(0, Nanos(5)), (3, Nanos(9)), (4, Nanos(9))]).unwrap();
        assert_eq!(
            (s.max_ns, s.max_index, s.median_ns, s.mean_ns),
            (9, Some(3), Some(9), Some(7))
        );
        assert!(s.percentiles_ns.is_empty());
        assert_eq!(Summary::new(&[]), None);
    }

    #[test]
    fn percentiles_are_written_by_name() {
        let values: Vec<_> = (0..10_000).map(|i| (i, Nanos(u64::from(i)))).collect();
        let s = Summary::new(&values).unwrap();
        let json = serde_json::to_string(&s.percentiles_ns).unwrap();
        assert_eq!(json, r#"{"p90":8999,"p99":9899,"p99.9":9989}"#);
    }

    /// 995 samples of 0.05 ms, and one of 4.2 ms that missed four periods of 1 ms.
    #[test]
    fn missed_periods_count_as_late() {
        let late = (995, Nanos(4_200_000));
        let values: Vec<_> = (0..995).map(|i| (i, Nanos(50_000))).chain([late]).collect();
        let s = Summary::of_latencies(&values, Nanos(1_000_000), 1_000).unwrap();
        let of_samples = crate::stats::quantile::of_sorted(&values, 250.0).unwrap().1;
        let all = s.histogram().unwrap();
        assert_eq!((s.count, s.period_count(), s.check(996)), (996, 1_000, Ok(())));
        assert_eq!(
            (of_samples, all.equivalent(all.value_at_quantile(0.996), 200_000)),
            (Nanos(50_000), true)
        );
        let above = |h: &Histogram<u64>| h.count_between(1_000_000, u64::MAX);
        assert_eq!((above(&decode(&s.hdr_v2_base64).unwrap()), above(&all)), (1, 4));
        assert_eq!(
            (s.percentile(Percentile::P99), s.max_ns),
            (Some(Nanos(50_000)), 4_200_000)
        );
    }

    /// One sample of a hundred periods: the ten latest of all are 91 ms and later.
    #[test]
    fn percentiles_are_of_all_periods() {
        let late = (899, Nanos(100_000_000));
        let values: Vec<_> = (0..899).map(|i| (i, Nanos(50_000))).chain([late]).collect();
        let s = Summary::of_latencies(&values, Nanos(1_000_000), 1_000).unwrap();
        assert_eq!(s.percentile(Percentile::P99), Some(Nanos(90_000_000)));
        assert_eq!((s.percentiles_ns.len(), s.median()), (1, Some(Nanos(50_000))));
    }

    #[test]
    fn without_a_missed_period_there_is_one_distribution() {
        let s = Summary::of_latencies(&[(0, Nanos(5)), (3, Nanos(9))], Nanos(10), 4).unwrap();
        assert_eq!((s.periods.is_none(), s.median()), (true, Some(Nanos(5))));
    }

    proptest! {
        #[test]
        fn nothing_falls_out_of_the_histogram(values in prop::collection::vec(any::<u64>(), 1..200)) {
            let pairs: Vec<_> = values.iter().enumerate().map(|(i, v)| (i as u32, Nanos(*v))).collect();
            let s = Summary::new(&pairs).unwrap();
            prop_assert_eq!(s.check(values.len() as u64), Ok(()));
            let h = s.histogram().unwrap();
            prop_assert_eq!(h.len(), values.len() as u64);
            prop_assert!(h.equivalent(h.max(), s.max_ns));
        }
    }
}
