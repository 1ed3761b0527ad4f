//! As text: the sentences of all lines on top, then a table each.

use super::words::{sentences, value, when};
use crate::grid::{Grid, Group};
use crate::terminal::{Style, WIDTH, width};
use worstcase_base::format::{grouped, plain};
use worstcase_results::history::{Change, History, LEVEL, Line, Measure, Point};
use worstcase_results::record::Venue;

/// Of a longer line the table has this many newest points, and those at which it changed.
const NEWEST: usize = 25;
/// Of more that was skipped only the number is told.
const SKIPPED: usize = 5;

/// The whole answer; `all` points, or the newest.
pub fn lines(history: &History, all: bool, style: Style) -> String {
    let names = names(history);
    let mut out = Vec::new();
    for (line, name) in history.lines.iter().zip(&names) {
        out.extend(sentences(line, name));
    }
    if history.tests > 0 {
        out.push(format!(
            "(series tested together: {}; the probability of any change shown where there is none is {:.0} %, were all measurements independent)",
            history.tests,
            LEVEL * 100.0
        ));
    }
    out.extend(skipped(history));
    for (line, name) in history.lines.iter().zip(&names) {
        out.push(String::new());
        out.push(style.bold(name));
        out.push(about(line));
        out.extend(line.notes.iter().map(|note| format!("  {note}")));
        out.extend(table(line, all));
    }
    out.join("\n") + "\n"
}

/// With the machine where there are several.
pub(super) fn names(history: &History) -> Vec<String> {
    let machines = history.lines.iter().map(|l| (&l.key.machine, &l.key.preempt));
    let several = worstcase_base::distinct(machines).len() > 1;
    history.lines.iter().map(|l| plain(&l.key.name(several))).collect()
}

fn about(line: &Line) -> String {
    let key = &line.key;
    let unit = match key.venue {
        Venue::Lab => "virtual us",
        Venue::Host => "us",
    };
    let told = [
        Some(key.machine.clone()),
        Some(key.cpus.clone()),
        Some(key.preempt.clone()),
    ];
    let told: Vec<String> = told.into_iter().flatten().filter(|t| !t.is_empty()).collect();
    plain(&format!("{} (times are {unit})", told.join(", ")))
}

fn skipped(history: &History) -> Vec<String> {
    let all = &history.skipped;
    let one = |s: &worstcase_results::history::Skipped| plain(&format!("  {}: {}", s.path.display(), s.why));
    let mut out = Vec::new();
    if !all.is_empty() {
        out.push(format!("skipped: {}", all.len()));
    }
    out.extend(all.iter().take(SKIPPED).map(one));
    if all.len() > SKIPPED {
        out.push(format!("  and {} more", all.len() - SKIPPED));
    }
    out
}

fn table(line: &Line, all: bool) -> Vec<String> {
    let count = line.points.len();
    let is_told = |at: &usize| all || at + NEWEST >= count || changes_at(line, *at).next().is_some();
    let told: Vec<usize> = (0..count).filter(is_told).collect();
    let measures: Vec<Measure> = line.series.iter().map(|s| s.measure).filter(|m| m.is_time()).collect();
    let in_lab = line.key.venue == Venue::Lab;
    let mut columns: Vec<String> = if in_lab { Vec::new() } else { vec!["kernel".into()] };
    columns.push("n".into());
    columns.extend(measures.iter().map(|m| m.name().to_string()));
    columns.extend(["missed", "lost", "changed"].map(String::from));
    let grid = Grid {
        heading: if in_lab { "kernel" } else { "when, UTC" }.into(),
        labels: told.iter().map(|at| when(line, *at)).collect(),
        columns,
        groups: vec![Group {
            title: String::new(),
            cells: told.iter().map(|at| row(line, *at, &measures)).collect(),
        }],
    };
    let mut out: Vec<String> = grid.render(width(WIDTH)).into_iter().skip(1).collect();
    if told.len() < count {
        out.push(format!(
            "{} older points are left out; --all shows them",
            grouped((count - told.len()) as u64)
        ));
    }
    out
}

fn row(line: &Line, at: usize, measures: &[Measure]) -> Vec<String> {
    let point: &Point = &line.points[at];
    let time = |m: &Measure| m.of(point).map_or("-".to_string(), |v| value(*m, v));
    let mut row: Vec<String> = point.began.iter().map(|_| plain(&point.kernel)).collect();
    row.push(grouped(point.samples));
    row.extend(measures.iter().map(time));
    row.push(point.missed.map_or("-".into(), grouped));
    row.push(grouped(point.lost));
    let identical = point.began.is_none() && at > 0 && line.points[at - 1].seeds == point.seeds;
    let said: Vec<String> = changes_at(line, at).collect();
    row.push(if identical { "identical".into() } else { said.join(", ") });
    row
}

fn changes_at(line: &Line, at: usize) -> impl Iterator<Item = String> {
    let word = |change: &Change| if change.is_rise() { "rose" } else { "fell" };
    line.series.iter().flat_map(move |series| {
        let here = series.found().iter().filter(move |c| c.at == at);
        here.map(move |c| format!("{} {}", series.measure.name(), word(c)))
    })
}
