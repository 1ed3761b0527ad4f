//! `switch`: the mean as it was published, without the best and the worst tenth, beside all values; and what was measured
//! again.

use super::View;
use super::bench::{list, us};
use super::terminal::{Style, distinct, units};
use serde::Serialize;
use worstcase_base::format::{grouped, plain};
use worstcase_contract::bench::Bench;
use worstcase_results::record::{Record, SubjectId, Venue};
use worstcase_results::stats::points::{self, Again, SwitchPoint};

/// What is said above it.
pub const ABOUT: &str =
    "net cost of a switch, trimmed as published (each seed without its best and its worst tenth) and of all values";

/// All points of a run.
#[derive(Debug, PartialEq, Serialize)]
pub struct Trimmed {
    /// Of their times.
    pub unit: String,
    /// In the order of the records.
    pub rows: Vec<Row>,
    /// What was measured again.
    pub again: String,
}

/// A point.
#[derive(Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its subject.
    pub subject: SubjectId,
    /// Its load.
    pub load: String,
    /// The probe with its parameters.
    pub probe: String,
    /// The mean over the seeds of each seed's mean without its best and its worst tenth.
    pub trimmed: String,
    /// The mean of all values.
    pub mean: String,
    /// The smallest.
    pub min: String,
    /// The largest.
    pub max: String,
    /// How many there are.
    pub values: String,
    /// How many of them were measured again.
    pub again: String,
    /// Mean and largest of all values as they were measured first, where some were measured again.
    pub first: Option<[String; 2]>,
}

impl Trimmed {
    /// Of a run with points of `switch`.
    pub fn of(view: &View) -> Option<Trimmed> {
        let points = points::switches(view.records);
        let of_it = view.records.iter().filter(|r| points.iter().any(|p| is_of(p, r)));
        (!points.is_empty()).then(|| Trimmed {
            unit: units(of_it.map(|r| &r.subject)).join(", "),
            rows: points.iter().map(row).collect(),
            again: again(view, &points),
        })
    }
}

fn is_of(point: &SwitchPoint, record: &Record) -> bool {
    record.subject.id() == point.place.subject
}

fn row(p: &SwitchPoint) -> Row {
    let (net, first) = (p.net.figures(), p.net_first.figures());
    Row {
        subject: p.place.subject.clone(),
        load: p.place.load.clone(),
        probe: Bench::Switch(p.ring).to_string(),
        trimmed: us(net.trimmed_mean),
        mean: us(net.mean),
        min: us(net.min),
        max: us(net.max),
        values: net.count.to_string(),
        again: p.again.values.to_string(),
        first: (p.again.values > 0).then(|| [us(first.mean), us(first.max)]),
    }
}

fn again(view: &View, points: &[SwitchPoint]) -> String {
    if view.records.iter().all(|r| r.subject.venue() == Venue::Lab) {
        return "Measured again: none; the lab's values are exact: the same cell gives the same values.".into();
    }
    let bounds = distinct(points.iter().map(|p| p.ring.again).filter(|percent| *percent > 0));
    if bounds.is_empty() {
        return "Measured again: none; +again1 asks for lmbench's rule (values more than 1 % off).".into();
    }
    let sum = |of: fn(&Again) -> u64| points.iter().map(|p| of(&p.again)).sum::<u64>();
    let bounds: Vec<String> = bounds.iter().map(|percent| format!("{percent} %")).collect();
    format!(
        "Measured again: {} values more than {} off the median of their seed, {} times in all; still off: {}.",
        grouped(sum(|a| a.values)),
        bounds.join(" or "),
        grouped(sum(|a| a.tries)),
        grouped(sum(|a| a.still_off))
    )
}

/// The table, if there is one.
pub(super) fn lines(view: &View, style: Style) -> Vec<String> {
    let Some(trimmed) = Trimmed::of(view) else {
        return Vec::new();
    };
    let has_first = trimmed.rows.iter().any(|r| r.first.is_some());
    let mut columns = vec!["trimmed", "mean", "min", "max", "values", "again"];
    if has_first {
        columns.extend(["mean first", "max first"]);
    }
    let cells = |r: &Row| {
        let mut cells = [&r.trimmed, &r.mean, &r.min, &r.max, &r.values, &r.again]
            .map(String::clone)
            .to_vec();
        if has_first {
            let first = r.first.clone();
            cells.extend(first.unwrap_or_else(|| ["-", "-"].map(String::from)));
        }
        cells
    };
    let labels = trimmed
        .rows
        .iter()
        .map(|r| plain(&format!("{} {}: {}", r.subject, r.load, r.probe)));
    let mut lines = vec![style.bold(&plain(&format!("{ABOUT} ({})", trimmed.unit)))];
    lines.extend(list(
        "subject, load, ring",
        labels.collect(),
        &columns,
        trimmed.rows.iter().map(cells).collect(),
    ));
    lines.push(trimmed.again);
    lines
}
