//! From the values of a file to a summary of them.

use super::measured::{CountedValues, Extremes, SeriesValues};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_results::record::Summary;
use worstcase_results::stats::Percentile;

/// The summary, if there are values.
pub(crate) fn summary(values: &SeriesValues) -> Option<Summary> {
    match values {
        SeriesValues::Samples(samples) => {
            let values: Vec<(u32, Nanos)> = samples.iter().map(|s| (s.index, s.value)).collect();
            Summary::new(&values)
        }
        SeriesValues::Counted(counted) => Some(of_counted(counted)),
        SeriesValues::Extremes(ends) => Some(of_extremes(ends)),
        SeriesValues::Told(told) => Some(Summary {
            median_ns: told.median,
            percentiles_ns: told.percentiles.clone(),
            ..of_extremes(&told.ends)
        }),
    }
}

/// Takes away the figures above which missed periods may lie in place of samples; whether there were any.
pub(crate) fn withhold(summary: &mut Summary, values: &SeriesValues, period: Nanos) -> bool {
    let missed = missed_at_most(values, period);
    let moves = |one_in: u64| u128::from(missed) * u128::from(one_in) >= u128::from(missed) + u128::from(summary.count);
    let before = (summary.median_ns, summary.percentiles_ns.len());
    let (median, percentiles): (Option<u64>, BTreeMap<Percentile, u64>) = (
        summary.median_ns.filter(|_| !moves(2)),
        summary
            .percentiles_ns
            .iter()
            .filter(|(p, _)| !moves(p.one_in()))
            .map(|(p, ns)| (*p, *ns))
            .collect(),
    );
    (summary.median_ns, summary.percentiles_ns) = (median, percentiles);
    before != (summary.median_ns, summary.percentiles_ns.len())
}

/// Periods that passed while the samples were late, as many as these latencies allow.
fn missed_at_most(values: &SeriesValues, period: Nanos) -> u64 {
    let missed = |latency: u64, count: u64| latency.checked_div(period.0).unwrap_or(0).saturating_mul(count);
    match values {
        SeriesValues::Samples(samples) => samples.iter().map(|s| missed(s.value.0, 1)).sum(),
        SeriesValues::Counted(counted) => {
            let beyond = counted.beyond.map_or(0, |b| missed(counted.ends.max.0, b.count));
            let bins = counted.bins.iter().map(|(value, count)| missed(*value, *count));
            bins.fold(beyond, u64::saturating_add)
        }
        SeriesValues::Extremes(ends) => missed(ends.max.0, ends.count),
        SeriesValues::Told(told) => missed(told.ends.max.0, told.ends.count),
    }
}

fn of_extremes(ends: &Extremes) -> Summary {
    Summary {
        count: ends.count,
        min_ns: ends.min.map(|ns| ns.0),
        mean_ns: ends.mean.map(|ns| ns.0),
        median_ns: None,
        max_ns: ends.max.0,
        max_index: None,
        percentiles_ns: BTreeMap::new(),
        hdr_v2_base64: String::new(),
        periods: None,
    }
}

/// The summary with the median and the percentiles that lie in its bins.
fn of_counted(counted: &CountedValues) -> Summary {
    let count = counted.ends.count;
    let at_rank = |rank: u64| {
        let mut below = 0;
        let found = counted.bins.iter().find(|(_, here)| {
            below += **here;
            below >= rank
        });
        found.map(|(value, _)| counted.ends.bound(*value))
    };
    let borne = Percentile::ALL.into_iter().filter(|p| p.borne_by(count));
    Summary {
        median_ns: at_rank((count - 1) / 2 + 1),
        percentiles_ns: borne
            .filter_map(|p| Some((p, at_rank(count - count / p.one_in())?)))
            .collect(),
        hdr_v2_base64: held(counted),
        ..of_extremes(&counted.ends)
    }
}

/// The bins; a single sample that fell out of them is the largest, and known.
fn held(counted: &CountedValues) -> String {
    let mut histogram: Histogram<u64> = Histogram::new(3).expect("three digits are allowed");
    let alone = counted.beyond.filter(|b| b.count == 1).map(|_| (counted.ends.max.0, 1));
    for (value, count) in counted.bins.iter().map(|(v, c)| (*v, *c)).chain(alone) {
        let value = counted.ends.bound(value);
        histogram
            .record_n(value, count)
            .expect("a growing histogram takes every value");
    }
    match histogram.is_empty() {
        true => String::new(),
        false => Summary::encode(&histogram),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1 000 samples five are 4.2 ms late: with periods of 1 ms up to twenty more were missed, 2 % of all.
    #[test]
    fn percentiles_that_missed_periods_could_move_are_withheld() {
        let counted = SeriesValues::Counted(CountedValues {
            bins: [(50_000, 995), (4_200_000, 5)].into(),
            beyond: None,
            ends: Extremes {
                count: 1_000,
                min: Some(Nanos(50_000)),
                mean: None,
                max: Nanos(4_200_000),
            },
        });
        let mut told = summary(&counted).unwrap();
        assert!(!withhold(&mut told, &counted, Nanos(5_000_000)));
        assert_eq!(told.percentiles_ns.len(), 2);
        assert!(withhold(&mut told, &counted, Nanos(1_000_000)));
        let left: Vec<Percentile> = told.percentiles_ns.keys().copied().collect();
        assert_eq!((left, told.median_ns), (vec![Percentile::P90], Some(50_000)));
    }
}
