//! The words about a line's changes.

use worstcase_base::format::{micros, plain};
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;
use worstcase_results::history::{
    Changes, HistoryChange, HistoryDrift, HistoryLine, HistoryMeasure, HistoryPoint, LEVEL, MeasureSeries, TOLERANCE,
};
use worstcase_results::record::Venue;

/// If there are more changes than this, only the table has the oldest.
const TOLD: usize = 6;

/// The sentences on top of a line.
pub fn sentences(line: &HistoryLine, name: &str) -> Vec<String> {
    if line.points.len() < 2 {
        return vec![format!(
            "{name}: one measurement only, so there is nothing to compare with it"
        )];
    }
    match line.key.venue {
        Venue::Lab => of_kernels(line, name),
        Venue::Host => over_time(line, name),
    }
}

fn over_time(line: &HistoryLine, name: &str) -> Vec<String> {
    let mut changes: Vec<(&MeasureSeries, &HistoryChange)> = all_changes(line);
    changes.sort_by_key(|(_, change)| change.at);
    let older = changes.len().saturating_sub(TOLD);
    let mut said: Vec<String> = changes[older..]
        .iter()
        .map(|(s, c)| changed(line, name, s, c))
        .collect();
    if older > 0 {
        said.insert(0, format!("{name}: {older} older changes are in the table"));
    }
    said.extend(line.series.iter().filter_map(|series| undated(line, name, series)));
    if said.is_empty() {
        let tested: Vec<&str> = of_answer(line, |c| matches!(c, Changes::Found(_)));
        let equal: Vec<&str> = of_answer(line, |c| matches!(c, Changes::Constant));
        let few: Vec<&str> = of_answer(line, |c| matches!(c, Changes::TooFew));
        let count = line.points.len();
        if !tested.is_empty() {
            said.push(format!(
                "{name}: no change shown of {} in {count} measurements",
                tested.join(", ")
            ));
        }
        if !equal.is_empty() {
            said.push(format!("{name}: {} always the same", equal.join(", ")));
        }
        if !few.is_empty() {
            said.push(format!(
                "{name}: too few measurements ({count}) to show a change of {}; a single series needs 8",
                few.join(", ")
            ));
        }
    }
    said
}

fn all_changes(line: &HistoryLine) -> Vec<(&MeasureSeries, &HistoryChange)> {
    let of = |series| MeasureSeries::found(series).iter().map(move |change| (series, change));
    line.series.iter().flat_map(of).collect()
}

fn of_answer(line: &HistoryLine, is: impl Fn(&Changes) -> bool) -> Vec<&'static str> {
    line.series
        .iter()
        .filter(|s| is(&s.changes))
        .map(|s| s.measure.name())
        .collect()
}

/// `p99.9 of wakeup under idle on CPU 2 rose from 43.5 to 61.0 us between ... and ..., with kernel ... → ...`
fn changed(line: &HistoryLine, name: &str, series: &MeasureSeries, change: &HistoryChange) -> String {
    format!(
        "{} of {name} {} between {} and {}, {}",
        series.measure.name(),
        moved(series.measure, change),
        when(line, change.after),
        when(line, change.at),
        plain(&with(change))
    )
}

/// A change without a date: a drift, or what may be one, or values that follow each other.
fn undated(line: &HistoryLine, name: &str, series: &MeasureSeries) -> Option<String> {
    let measure = series.measure;
    let moved = |drift: &HistoryDrift| {
        let [before, since] = [drift.before, drift.since].map(|v| value(measure, v));
        format!("from about {before} to about {since}{}", unit(measure))
    };
    let words = match &series.changes {
        Changes::Drifts(drift) if drift.is_slow => format!(
            "drifts: {} over the runs {} to {}; no single run is to blame",
            moved(drift),
            when(line, drift.from),
            when(line, drift.to)
        ),
        Changes::Drifts(drift) => format!(
            "{} {} between {} and {}, at once or slowly: no single run is shown to be to blame",
            if drift.is_rise() { "rose" } else { "fell" },
            moved(drift),
            when(line, drift.from),
            when(line, drift.to)
        ),
        Changes::Wanders { autocorrelation } => format!(
            "wanders (autocorrelation {autocorrelation:.1}): a date would be wrong in more than {:.0} of 100",
            LEVEL * 100.0
        ),
        _ => return None,
    };
    Some(format!("{} of {name} {words}", measure.name()))
}

fn with(change: &HistoryChange) -> String {
    match change.with.as_slice() {
        [] => "with nothing else known to have changed".into(),
        all => format!("with {}", all.join("; ")),
    }
}

fn moved(measure: HistoryMeasure, change: &HistoryChange) -> String {
    let word = if change.is_rise() { "rose" } else { "fell" };
    let value = |v| value(measure, v);
    format!(
        "{word} from {} to {}{}",
        value(change.before),
        value(change.since),
        unit(measure)
    )
}

fn unit(measure: HistoryMeasure) -> &'static str {
    if measure.is_time() { " us" } else { " of all" }
}

/// In the lab: the steps that exceed the tolerance, the largest first; without any, the largest step.
fn of_kernels(line: &HistoryLine, name: &str) -> Vec<String> {
    let mut steps = all_changes(line);
    steps.retain(|(series, _)| series.measure.is_time());
    steps.sort_by(|(_, a), (_, b)| step(b).total_cmp(&step(a)));
    let large = steps
        .iter()
        .take_while(|(_, change)| step(change) > TOLERANCE.ln_1p())
        .count();
    let mut said: Vec<String> = steps[..large.min(TOLD)]
        .iter()
        .map(|(series, change)| stepped(line, name, series, change))
        .collect();
    if large > TOLD {
        said.push(format!("{name}: {} smaller steps are in the table", large - TOLD));
    }
    if large == 0 {
        said.push(match steps.first() {
            Some((series, change)) => format!(
                "{name}: no step above {:.0} %; the largest: {}",
                TOLERANCE * 100.0,
                stepped(line, name, series, change)
            ),
            None => format!("{name}: the same of all kernels"),
        });
    }
    let identical = line
        .points
        .windows(2)
        .filter(|pair| pair[0].seeds == pair[1].seeds)
        .count();
    if identical > 0 {
        said.push(format!(
            "{name}: {identical} of its kernels are identical to the bit with the one before"
        ));
    }
    said
}

/// `maximum of wakeup under fork, full fell from 41.6 to 20.1 us from 7.2.6+deb13-amd64 to 7.2.9+deb13-amd64`, or of one kernel
/// with what differs.
fn stepped(line: &HistoryLine, name: &str, series: &MeasureSeries, change: &HistoryChange) -> String {
    let [before, since] = [change.after, change.at].map(|at| plain(&line.points[at].kernel));
    let between = match before == since {
        true => format!("on {since}, {}", plain(&with(change))),
        false => format!("from {before} to {since}"),
    };
    format!(
        "{} of {name} {} {between}",
        series.measure.name(),
        moved(series.measure, change)
    )
}

fn step(change: &HistoryChange) -> f64 {
    (change.since.max(1) as f64 / change.before.max(1) as f64).ln().abs()
}

/// A point's date, or in the lab its kernel. The date has seconds if points of the line share a minute.
pub fn when(line: &HistoryLine, at: usize) -> String {
    let point = &line.points[at];
    let told = match line.points.windows(2).any(share_a_minute) {
        true => point.began.map(Utc::told_to_the_second),
        false => point.began.map(Utc::readable),
    };
    told.map_or_else(
        || plain(&point.kernel),
        |date| date.trim_end_matches(" UTC").to_string(),
    )
}

fn share_a_minute(points: &[HistoryPoint]) -> bool {
    let minutes: Vec<Option<u64>> = points.iter().map(|p| Some(p.began?.seconds() / 60)).collect();
    minutes[0].is_some() && minutes[0] == minutes[1]
}

/// A value in us, or as a share.
pub fn value(measure: HistoryMeasure, value: u64) -> String {
    match (measure.is_time(), value) {
        (true, ns) => micros(Nanos(ns)),
        (_, 0) => "0".into(),
        (_, share) => format!("{:.3} %", share as f64 / 1e7),
    }
}
