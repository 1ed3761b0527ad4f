//! The measures of a line, point by point, and what limits them.

use super::judge::{Changes, MeasureSeries};
use super::measure::{HistoryMeasure, Typical};
use super::{HistoryPoint, LineKey};
use crate::record::Venue;
use crate::stats::Percentile;

/// A percentile is taken if no more than one point in so many lacks it.
const LACKING: usize = 10;
/// Percentiles above this one need so many samples that many runs do not bear them.
const HIGHEST: Percentile = Percentile::P99_9;
/// Observation times that differ by no more than one part in so many are equal.
const NEARLY: u64 = 10;

/// The series of a line, not judged yet, and the notes on them.
pub(super) fn series(key: &LineKey, points: &[HistoryPoint]) -> (Vec<MeasureSeries>, Vec<String>) {
    let typical = typical(points);
    let usual = usual_time(points);
    let all = [
        HistoryMeasure::Typical(typical),
        HistoryMeasure::Max,
        HistoryMeasure::Missed,
        HistoryMeasure::Lost,
    ];
    let has_periods = points.iter().any(|p| p.expected > 0);
    let kept = all.into_iter().filter(|m| *m != HistoryMeasure::Missed || has_periods);
    let one = |measure: HistoryMeasure| {
        let value = |point: &HistoryPoint| {
            let compares = measure != HistoryMeasure::Max || nearly(point.observation.0, usual);
            measure.value(point).filter(|_| compares)
        };
        MeasureSeries {
            measure,
            values: points.iter().map(value).collect(),
            changes: Changes::NotAsked,
        }
    };
    let series: Vec<MeasureSeries> = kept.map(one).collect();
    let notes = notes(key, points, typical, usual);
    (series, notes)
}

fn typical(points: &[HistoryPoint]) -> Typical {
    if points.iter().any(|p| p.noise_ns_a_second.is_some()) {
        return Typical::Noise;
    }
    let lacking = |p: &Percentile| {
        points
            .iter()
            .filter(|point| !point.percentiles_ns.contains_key(p))
            .count()
    };
    let candidates = Percentile::ALL.into_iter().rev().filter(|p| *p <= HIGHEST);
    let borne = candidates.into_iter().find(|p| lacking(p) * LACKING <= points.len());
    borne.map_or(Typical::Median, Typical::Percentile)
}

/// The observation time that most points have; of several the longest.
fn usual_time(points: &[HistoryPoint]) -> u64 {
    let times = || points.iter().map(|p| p.observation.0);
    let like = |time: &u64| times().filter(|other| nearly(*other, *time)).count();
    times().max_by_key(|time| (like(time), *time)).unwrap_or(0)
}

fn nearly(time: u64, usual: u64) -> bool {
    time.abs_diff(usual) <= usual / NEARLY
}

fn notes(key: &LineKey, points: &[HistoryPoint], typical: Typical, usual: u64) -> Vec<String> {
    let mut notes = Vec::new();
    match typical {
        Typical::Percentile(HIGHEST) | Typical::Noise => {}
        Typical::Percentile(p) => notes.push(format!("too few samples for p99.9, so it is {}", p.name())),
        Typical::Median => notes.push("too few samples for a percentile, so it is the median".to_string()),
    }
    let others = points.iter().filter(|p| !nearly(p.observation.0, usual)).count();
    if others > 0 {
        let usual = worstcase_base::format::span(usual as f64 / 1e9);
        notes.push(format!(
            "a maximum grows with the observation time: that of {others} of {} is not compared, they did not last about {usual}",
            points.len()
        ));
    }
    let seeds = |point: &HistoryPoint| point.seeds.iter().map(|(seed, _)| *seed).collect::<Vec<u64>>();
    if key.venue == Venue::Lab && points.windows(2).any(|pair| seeds(&pair[0]) != seeds(&pair[1])) {
        notes.push("its kernels were not measured with the same seeds".into());
    }
    notes
}
