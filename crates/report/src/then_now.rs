//! Then and now: published figures, with ours and whether they agree, for people.

use super::grid::{Grid, Group};
use super::terminal::{Style, WIDTH, distinct, width};
use serde::Serialize;
use worstcase_base::format::plain;
use worstcase_plan::study::published::{Published, factor};
use worstcase_results::published::{Agreement, Comparison, Ours};
use worstcase_results::stats::ranks::Shift;

/// Said above all groups.
pub(super) const HEADING: &str = "Then and now: published figures, of the machines of their time, and ours";
/// Said below it.
pub(super) const CAPTION: &str =
    "Only the order of figures and the factors between them compare; a factor is to the first figure of a group.";

/// A group as it is shown.
#[derive(Debug, PartialEq, Serialize)]
pub struct Shown {
    what: String,
    verdict: &'static str,
    reasons: Vec<String>,
    why: String,
    source: String,
    /// Of our values, where there are some.
    unit: String,
    rows: Vec<Row>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Row {
    of: String,
    then: String,
    factor_then: String,
    /// What our value is: statistic, quantity, and cell.
    cell: String,
    now: String,
    factor_now: String,
}

impl Shown {
    /// Of a group.
    pub fn of(group: &Comparison) -> Shown {
        let units: Vec<String> = distinct(group.ours.iter().flatten().map(|ours| ours.time_unit.clone()));
        let row = |nth: usize| {
            let figure = &group.published.figures[nth];
            let cell = figure.cell(group.venue);
            Row {
                of: figure.of.clone(),
                then: figure.said.to_string(),
                factor_then: group.published.factor_in_words(nth).unwrap_or_default(),
                cell: cell.map(ToString::to_string).unwrap_or_default(),
                now: group.ours[nth].as_ref().map(value).unwrap_or_default(),
                factor_now: group.factors_now[nth]
                    .map(|shift| with_interval(nth, &shift))
                    .unwrap_or_default(),
            }
        };
        Shown {
            what: group.published.what.clone(),
            verdict: group.verdict.name(),
            reasons: group.reasons.clone(),
            why: group.published.why.clone(),
            source: group.published.source.clone(),
            // Clocks of several speeds count the same time.
            unit: match units.as_slice() {
                [_, _, ..] => "virtual us".into(),
                _ => units.concat(),
            },
            rows: (0..group.published.figures.len()).map(row).collect(),
        }
    }
}

/// In microseconds, which may be below zero: a net cost is a difference.
fn value(ours: &Ours) -> String {
    factor(ours.value_ns / 1_000.0)
}

fn with_interval(nth: usize, shift: &Shift) -> String {
    match nth {
        0 => factor(1.0),
        _ if shift.low == shift.high => factor(shift.best),
        _ => format!("{} ({}..{})", factor(shift.best), factor(shift.low), factor(shift.high)),
    }
}

/// All groups of a run.
pub(super) fn lines(groups: &[Comparison], style: Style) -> Vec<String> {
    let mut lines = vec![style.bold(HEADING), CAPTION.to_string()];
    for group in groups {
        let shown = Shown::of(group);
        lines.push(String::new());
        let word = style.agreement(group.verdict);
        lines.push(format!("{}: {word}", plain(&shown.what)));
        lines.extend(table(&shown));
        if group.verdict != Agreement::Agrees {
            lines.extend(shown.reasons.iter().map(|reason| format!("  {}", plain(reason))));
        }
        lines.extend(told(&group.published));
    }
    lines
}

/// All groups of a study, of which nothing is measured.
pub fn of_study(groups: &[Published], style: Style) -> Vec<String> {
    let mut lines = vec![style.bold("Published figures, which a run sets beside its own")];
    for group in groups {
        lines.push(String::new());
        lines.push(plain(&group.what));
        let longest = group
            .figures
            .iter()
            .map(|figure| figure.of.chars().count())
            .max()
            .unwrap_or(0);
        let said = group
            .figures
            .iter()
            .map(|figure| figure.said.to_string().chars().count())
            .max()
            .unwrap_or(0);
        for figure in &group.figures {
            let cell = figure.cell.as_ref().or(figure.host.as_ref());
            let cell = cell.map_or("no cell".to_string(), ToString::to_string);
            let then = figure.said.to_string();
            lines.push(format!(
                "  {:longest$}  {:said$}  now: {}",
                plain(&figure.of),
                plain(&then),
                plain(&cell)
            ));
        }
        lines.extend(told(group));
    }
    lines
}

fn told(group: &Published) -> [String; 2] {
    [
        format!("  why: {}", plain(&group.why)),
        format!("  source: {}", plain(&group.source)),
    ]
}

fn table(shown: &Shown) -> Vec<String> {
    let has_factors = shown.rows.iter().any(|row| !row.factor_then.is_empty());
    let has_ours = shown.rows.iter().any(|row| !row.now.is_empty());
    let or_none = |text: &str| if text.is_empty() { "-".to_string() } else { plain(text) };
    let column = |of: fn(&Row) -> &str| -> Vec<String> { shown.rows.iter().map(|row| or_none(of(row))).collect() };
    let mut columns = vec![("then".to_string(), column(|row| &row.then))];
    if has_factors {
        columns.push(("factor then".into(), column(|row| &row.factor_then)));
    }
    if has_ours {
        columns.push((format!("now, {}", shown.unit), column(|row| &row.now)));
        columns.push(("factor now".into(), column(|row| &row.factor_now)));
    }
    let grid = Grid {
        heading: "figure".into(),
        labels: shown.rows.iter().map(|row| plain(&row.of)).collect(),
        columns: columns.iter().map(|(heading, _)| heading.clone()).collect(),
        groups: vec![Group {
            title: String::new(),
            cells: (0..shown.rows.len())
                .map(|nth| columns.iter().map(|(_, cells)| cells[nth].clone()).collect())
                .collect(),
        }],
    };
    let lines = grid.render(width(WIDTH) - 2);
    lines
        .iter()
        .skip(1)
        .map(|line| format!("  {line}").trim_end().to_string())
        .collect()
}
