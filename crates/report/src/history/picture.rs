//! The picture: a row for each line, with the typical value, the maximum, and missed or lost periods.

use super::terminal::names;
use super::words::when;
use crate::picture::PictureAxis;
use crate::picture::svg::Theme;
use crate::picture::svg::over_time::{HistoryRow, JoinedPoints, KernelMark, OverTime, Panel, draw};
use worstcase_base::format::plain;
use worstcase_results::history::{History, HistoryLine, HistoryMeasure, MeasureSeries};
use worstcase_results::stats::median;

/// Points are not joined over more than so many usual distances.
const GAP: f64 = 3.5;

/// The whole file.
pub fn svg(history: &History, theme: Theme) -> String {
    let names = names(history);
    let shown = history
        .lines
        .iter()
        .zip(&names)
        .filter(|(line, _)| line.points.len() > 1);
    let rows = shown.map(|(line, name)| row(line, name)).collect();
    draw(theme, &OverTime { rows })
}

fn row(line: &HistoryLine, name: &str) -> HistoryRow {
    let places = places(line);
    let of = |is: fn(HistoryMeasure) -> bool| line.series.iter().filter(|s| is(s.measure)).collect::<Vec<_>>();
    let typical = line.typical().map_or("typical", |s| s.measure.name());
    let wanted = [
        (
            format!("{typical}, us"),
            of(|m| matches!(m, HistoryMeasure::Typical(_))),
        ),
        ("maximum, us".to_string(), of(|m| m == HistoryMeasure::Max)),
        ("missed (line) and lost (dashes), %".to_string(), of(|m| !m.is_time())),
    ];
    let panels = wanted.into_iter().filter(|(_, series)| !series.is_empty());
    let ends = [0, line.points.len() - 1].map(|at| when(line, at));
    let mut marks = Vec::new();
    let mut kernels = vec![plain(&line.points[0].kernel)];
    for (at, pair) in line.points.windows(2).enumerate() {
        if pair[0].kernel != pair[1].kernel {
            kernels.push(plain(&pair[1].kernel));
            marks.push(KernelMark {
                x: (places[at] + places[at + 1]) / 2.0,
                number: kernels.len(),
            });
        }
    }
    HistoryRow {
        title: name.to_string(),
        panels: panels.map(|(title, series)| panel(title, &series, &places)).collect(),
        kernels: kernels
            .iter()
            .enumerate()
            .map(|(nth, k)| format!("{} {k}", nth + 1))
            .collect(),
        marks,
        ends,
    }
}

/// The places of the points from 0 to 1: by date, or in the lab evenly.
fn places(line: &HistoryLine) -> Vec<f64> {
    let count = line.points.len();
    let dates: Option<Vec<u64>> = line.points.iter().map(|p| Some(p.began?.seconds())).collect();
    match dates.as_deref() {
        Some([first, .., last]) if last > first => {
            let length = (last - first) as f64;
            dates
                .iter()
                .flatten()
                .map(|date| (date - first) as f64 / length)
                .collect()
        }
        _ => (0..count).map(|at| at as f64 / (count - 1) as f64).collect(),
    }
}

fn panel(title: String, series: &[&MeasureSeries], places: &[f64]) -> Panel {
    let scale = |s: &MeasureSeries, value: u64| value as f64 / if s.measure.is_time() { 1e3 } else { 1e7 };
    let some = |s: &&MeasureSeries| s.values.iter().flatten().map(|v| scale(s, *v)).collect::<Vec<f64>>();
    let values: Vec<f64> = series.iter().flat_map(some).collect();
    let (least, most) = values
        .iter()
        .fold((f64::MAX, 0.0_f64), |(l, m), v| (l.min(*v), m.max(*v)));
    let is_wide = least > 0.0 && most > 20.0 * least;
    let y = match is_wide {
        true => PictureAxis::logarithmic("", "", values.into_iter()),
        false => PictureAxis::linear("", "", values.into_iter()),
    };
    let mut panel = Panel {
        title,
        y,
        stretches: Vec::new(),
        levels: Vec::new(),
        changes: Vec::new(),
    };
    for (style, s) in series.iter().enumerate() {
        let points = s.values.iter().enumerate();
        let points: Vec<(f64, f64)> = points
            .filter_map(|(at, v)| Some((places[at], scale(s, (*v)?))))
            .collect();
        let joined = stretches(&points).into_iter();
        panel
            .stretches
            .extend(joined.map(|points| JoinedPoints { style, points }));
        for (nth, change) in s.found().iter().enumerate().filter(|(_, c)| c.p.is_some()) {
            let next = s.found().get(nth + 1).map_or(1.0, |next| places[next.after]);
            let from = nth.checked_sub(1).map_or(0.0, |n| places[s.found()[n].at]);
            panel.levels.push((from, places[change.after], scale(s, change.before)));
            panel.levels.push((places[change.at], next, scale(s, change.since)));
            panel.changes.push((places[change.after] + places[change.at]) / 2.0);
        }
    }
    panel
}

/// Points in a row without a gap in time.
fn stretches(points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let mut distances: Vec<f64> = points.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    distances.sort_by(f64::total_cmp);
    let usual = median::of_sorted(&distances).unwrap_or(0.0);
    let near = |a: &(f64, f64), b: &(f64, f64)| b.0 - a.0 <= usual * GAP;
    points.chunk_by(near).map(<[(f64, f64)]>::to_vec).collect()
}
