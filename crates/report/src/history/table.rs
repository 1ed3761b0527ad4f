//! The points of lines: one list of columns for all forms.

use super::words::when;
use crate::table::{ColumnKind, Table, TableField, field, name};
use serde_json::{Value, json};
use worstcase_contract::Nanos;
use worstcase_results::history::{Changes, History, HistoryLine, HistoryMeasure, HistoryPoint, MeasureSeries, Typical};
use worstcase_results::record::Venue;

/// A point of a line.
struct PointRow<'a> {
    line: &'a HistoryLine,
    at: usize,
}

impl PointRow<'_> {
    fn point(&self) -> &HistoryPoint {
        &self.line.points[self.at]
    }

    /// The measure that is typical of the line.
    fn typical(&self) -> HistoryMeasure {
        typical(self.line)
    }

    fn changed(&self, is: fn(HistoryMeasure) -> bool) -> Option<&'static str> {
        word(self.line.series_of(is)?, self.at)
    }

    /// All changes at this point, in words.
    fn changes(&self) -> String {
        let before = self.at.checked_sub(1).map(|before| &self.line.points[before]);
        match before {
            Some(before) if self.point().began.is_none() && before.seeds == self.point().seeds => "identical".into(),
            _ => changes_at(self.line, self.at).collect::<Vec<_>>().join(", "),
        }
    }
}

fn typical(line: &HistoryLine) -> HistoryMeasure {
    line.typical()
        .map_or(HistoryMeasure::Typical(Typical::Median), |s| s.measure)
}

/// What a series says of a point; of a drift its end, of values that follow each other the newest.
fn word(series: &MeasureSeries, at: usize) -> Option<&'static str> {
    match &series.changes {
        Changes::Found(found) => {
            let here = found.iter().find(|c| c.at == at)?;
            Some(if here.is_rise() { "rose" } else { "fell" })
        }
        Changes::Drifts(drift) if drift.to == at => Some(match (drift.is_slow, drift.is_rise()) {
            (true, true) => "drifted up",
            (true, false) => "drifted down",
            (false, true) => "rose by now",
            (false, false) => "fell by now",
        }),
        Changes::Wanders { .. } if series.values.iter().rposition(Option::is_some) == Some(at) => Some("wanders"),
        _ => None,
    }
}

/// The changes at a point: `p99.9 rose`.
pub(crate) fn changes_at(line: &HistoryLine, at: usize) -> impl Iterator<Item = String> {
    let of = move |series: &MeasureSeries| Some(format!("{} {}", series.measure.name(), word(series, at)?));
    line.series.iter().filter_map(of)
}

/// In the lab, which has no dates, people see the kernel as a point's name.
fn columns<'a>(in_lab: bool, typical: HistoryMeasure) -> Vec<TableField<PointRow<'a>>> {
    let count = |key: &str, heading: &str, count: fn(&HistoryPoint) -> Option<u64>| {
        field(ColumnKind::Count, key, heading, move |row: &PointRow| {
            count(row.point())
        })
    };
    // Trees have no place in CSV.
    let data = |key: &str, data: fn(&HistoryPoint) -> Value| {
        field(ColumnKind::Text, key, key, move |row: &PointRow| data(row.point())).programs()
    };
    let changed = |key: &str, is: fn(HistoryMeasure) -> bool| {
        field(ColumnKind::Text, key, key, move |row: &PointRow| row.changed(is)).programs()
    };
    let kernel = name("kernel", "kernel", |row: &PointRow| row.point().kernel.clone());
    vec![
        name("line", "line", |row: &PointRow| row.line.key.name(false)).programs(),
        name("machine", "machine", |row: &PointRow| row.line.key.machine.clone()).programs(),
        name("began", "began", |row: &PointRow| {
            row.point().began.map(|began| began.to_string())
        })
        .programs(),
        name(
            "point",
            if in_lab { "kernel" } else { "when, UTC" },
            |row: &PointRow| when(row.line, row.at),
        ),
        if in_lab { kernel.programs() } else { kernel },
        name("run", "run", |row: &PointRow| row.point().run.display().to_string()).programs(),
        count("samples", "n", |p| Some(p.samples)),
        count("observation_ns", "observed", |p| Some(p.observation.0)).programs(),
        count("median_ns", "median", |p| p.median_ns).programs(),
        count("noise_ns_a_second", "noise", |p| p.noise_ns_a_second).programs(),
        field(ColumnKind::Text, "measure", "measure", |row: &PointRow| {
            row.typical().name()
        })
        .programs(),
        field(ColumnKind::Time, "measure_ns", typical.name(), |row: &PointRow| {
            row.typical().value(row.point()).map(Nanos)
        }),
        field(
            ColumnKind::Time,
            "max_ns",
            HistoryMeasure::Max.name(),
            |row: &PointRow| row.point().max_ns.map(Nanos),
        ),
        count("expected", "expected", |p| Some(p.expected)).programs(),
        count("missed", "missed", |p| p.missed),
        count("lost", "lost", |p| Some(p.lost)),
        field(ColumnKind::Text, "changed", "changed", PointRow::changes),
        changed("changed_measure", |m| matches!(m, HistoryMeasure::Typical(_))),
        changed("changed_max", |m| m == HistoryMeasure::Max),
        changed("changed_missed", |m| m == HistoryMeasure::Missed),
        data("percentiles_ns", |p| json!(p.percentiles_ns)),
        data("circumstances", |p| json!(p.circumstances)),
        data("seeds", |p| json!(p.seeds)),
    ]
}

/// Some points of a line, for people.
pub(crate) fn of_line(line: &HistoryLine, shown: &[usize]) -> Table {
    let rows: Vec<PointRow> = shown.iter().map(|at| PointRow { line, at: *at }).collect();
    let fields = columns(line.key.venue == Venue::Lab, typical(line));
    Table::new("points", "", &fields, &rows)
}

/// All points of all lines, for programs.
pub fn all(history: &History) -> Table {
    let of_it = |line| {
        let line: &HistoryLine = line;
        (0..line.points.len()).map(move |at| PointRow { line, at })
    };
    let rows: Vec<PointRow> = history.lines.iter().flat_map(of_it).collect();
    Table::new(
        "points",
        "",
        &columns(false, HistoryMeasure::Typical(Typical::Median)),
        &rows,
    )
}
