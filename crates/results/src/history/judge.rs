//! Finds the points where a line changed: on a machine by a test over all lines together, in the lab as facts.

use super::measure::HistoryMeasure;
use super::{HistoryLine, HistoryPoint};
use crate::record::Venue;
use crate::stats::change_points::{Candidate, ORDERS, Together, candidate};
use crate::stats::change_shape::{ExplainedSeries, LevelCourse, explain_together};
use crate::stats::many::testable;
use crate::stats::median;
use serde::Serialize;

/// The probability that one command shows any change although there is none.
pub const LEVEL: f64 = 0.05;
/// In the lab, where every difference is a fact: a value that is higher by more than this share counts as worse.
pub const TOLERANCE: f64 = 0.10;

/// One measure of a line.
#[derive(Clone, Debug, Serialize)]
pub struct MeasureSeries {
    /// The measure.
    pub measure: HistoryMeasure,
    /// The value of each point, if it has one that compares.
    pub values: Vec<Option<u64>>,
    /// The changes of the series.
    pub changes: Changes,
}

/// The knowledge about a series' changes.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "answer", content = "changes")]
pub enum Changes {
    /// Before it was judged.
    NotAsked,
    /// Too few values: no order of them could show a change.
    TooFew,
    /// All values are equal.
    Constant,
    /// The series was tested, or in the lab compared; the list may be empty.
    Found(Vec<HistoryChange>),
    /// Its level changed, and no single point is shown to be to blame.
    Drifts(HistoryDrift),
    /// Its values follow each other, so a change would be shown by chance more often than the level says.
    Wanders {
        /// Autocorrelation at lag 1.
        autocorrelation: f64,
    },
}

/// A change that has no date.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryDrift {
    /// The point at which the last long rise or fall of the level begins.
    pub from: usize,
    /// The point at which it ends.
    pub to: usize,
    /// About the level at the beginning.
    pub before: u64,
    /// About the level at the end.
    pub since: u64,
    /// Its probability by chance, corrected for all tests of the command.
    pub p: f64,
    /// Whether steps are excluded; else it may have been one.
    pub is_slow: bool,
}

impl HistoryDrift {
    /// Whether it is for the worse.
    pub fn is_rise(&self) -> bool {
        self.since > self.before
    }
}

/// A change.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryChange {
    /// The first point behind it.
    pub at: usize,
    /// The last point before it that has a value.
    pub after: usize,
    /// Median from the change before to this one.
    pub before: u64,
    /// Median from this one to the next.
    pub since: u64,
    /// Its probability by chance, corrected for all tests of the command; in the lab it is no chance.
    pub p: Option<f64>,
    /// Other circumstances that changed at the same point.
    pub with: Vec<String>,
}

impl HistoryChange {
    /// Whether it is for the worse.
    pub fn is_rise(&self) -> bool {
        self.since > self.before
    }
}

impl MeasureSeries {
    /// The changes, if there are any.
    pub fn found(&self) -> &[HistoryChange] {
        match &self.changes {
            Changes::Found(found) => found,
            _ => &[],
        }
    }

    /// The change without a date.
    pub fn drift(&self) -> Option<&HistoryDrift> {
        match &self.changes {
            Changes::Drifts(drift) => Some(drift),
            _ => None,
        }
    }

    /// Whether the last change is for the worse. Lost samples are not the machine's fault.
    pub fn is_worse(&self) -> bool {
        let enough = |change: &HistoryChange| match change.p {
            Some(_) => change.is_rise(),
            None => {
                let is_newest = self.values.iter().rposition(Option::is_some) == Some(change.at);
                is_newest && change.since as f64 > change.before as f64 * (1.0 + TOLERANCE)
            }
        };
        let is_rise = self.found().last().is_some_and(enough) || self.drift().is_some_and(HistoryDrift::is_rise);
        self.measure != HistoryMeasure::Lost && is_rise
    }

    /// Points that have a value, and their values.
    fn present(&self) -> (Vec<usize>, Vec<u64>) {
        let some = self.values.iter().enumerate();
        some.filter_map(|(at, value)| Some((at, (*value)?))).unzip()
    }
}

/// Judges all series, and returns how many were tested together.
pub(super) fn judge(lines: &mut [HistoryLine]) -> usize {
    lines.iter_mut().filter(|l| l.key.venue == Venue::Lab).for_each(facts);
    let mut asked: Vec<(usize, usize, Candidate)> = Vec::new();
    for (l, line) in lines.iter_mut().enumerate().filter(|(_, l)| l.key.venue == Venue::Host) {
        for (s, series) in line.series.iter_mut().enumerate() {
            let (_, values) = series.present();
            match candidate(&values) {
                None => series.changes = Changes::TooFew,
                Some(_) if values.windows(2).all(|pair| pair[0] == pair[1]) => series.changes = Changes::Constant,
                Some(candidate) => asked.push((l, s, candidate)),
            }
        }
    }
    let least: Vec<f64> = asked.iter().map(|(.., c)| c.least).collect();
    let must = testable(&least, LEVEL);
    let (tested, too_few): (Vec<_>, Vec<_>) = asked.into_iter().partition(|(.., c)| c.least <= must);
    for (l, s, _) in too_few {
        lines[l].series[s].changes = Changes::TooFew;
    }
    let together = Together {
        tests: tested.len(),
        level: LEVEL,
        orders: ORDERS,
    };
    let present: Vec<_> = tested.iter().map(|(l, s, _)| lines[*l].series[*s].present()).collect();
    let series: Vec<_> = present
        .iter()
        .zip(&tested)
        .map(|((_, v), (.., c))| (v.as_slice(), *c))
        .collect();
    let explained = explain_together(together, &series);
    for (((l, s, _), (places, values)), explained) in tested.iter().zip(&present).zip(explained) {
        let HistoryLine { points, series, .. } = &mut lines[*l];
        series[*s].changes = match explained {
            None => Changes::Found(Vec::new()),
            Some((explained, p)) if p > LEVEL => Changes::Wanders {
                autocorrelation: explained.autocorrelation,
            },
            Some((explained, p)) if explained.course == LevelCourse::Steps => {
                Changes::Found(dated(points, places, values, &explained.cuts, (together, p)))
            }
            Some((explained, p)) => Changes::Drifts(drift(places, &explained, p)),
        };
    }
    tested.len()
}

/// Steps at these cuts of the values; `p` is that of the series as a whole.
fn dated(
    points: &[HistoryPoint],
    places: &[usize],
    values: &[u64],
    cuts: &[usize],
    (together, p): (Together, f64),
) -> Vec<HistoryChange> {
    let each = together.probabilities(values, cuts);
    let change = |(nth, cut): (usize, &usize)| {
        let from = nth.checked_sub(1).map_or(0, |n| cuts[n]);
        let to = cuts.get(nth + 1).copied().unwrap_or(values.len());
        let (at, after) = (places[*cut], places[cut - 1]);
        HistoryChange {
            at,
            after,
            before: level(&values[from..*cut]),
            since: level(&values[*cut..to]),
            p: Some(if cuts.len() > 1 { each[nth].max(p) } else { p }),
            with: points[at].differs_from(&points[after]),
        }
    };
    cuts.iter().enumerate().map(change).collect()
}

fn drift(places: &[usize], explained: &ExplainedSeries, p: f64) -> HistoryDrift {
    let curve = explained.curve;
    HistoryDrift {
        from: places[curve.from],
        to: places[curve.to],
        before: curve.levels.0,
        since: curve.levels.1,
        p,
        is_slow: explained.course == LevelCourse::Drift,
    }
}

/// In the lab each difference from the previous kernel is a change.
fn facts(line: &mut HistoryLine) {
    let HistoryLine { points, series, .. } = line;
    for series in series {
        let (places, values) = series.present();
        let pairs = places.windows(2).zip(values.windows(2));
        let differ = pairs.filter(|(_, pair)| pair[0] != pair[1]);
        let found: Vec<HistoryChange> = differ
            .map(|(place, pair)| HistoryChange {
                at: place[1],
                after: place[0],
                before: pair[0],
                since: pair[1],
                p: None,
                with: HistoryPoint::differs_from(&points[place[1]], &points[place[0]]),
            })
            .collect();
        series.changes = match (values.len(), found.is_empty()) {
            (0..=1, _) => Changes::TooFew,
            (_, true) => Changes::Constant,
            _ => Changes::Found(found),
        };
    }
}

fn level(values: &[u64]) -> u64 {
    median::of(values.iter().copied()).expect("a stretch has a value")
}
