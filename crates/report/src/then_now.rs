//! Then and now: published figures, with ours and whether they agree, for people.

use super::table::terminal::figures;
use super::table::{ColumnKind, Table, field, name};
use super::terminal::{Style, WIDTH, distinct};
use worstcase_base::format::plain;
use worstcase_plan::study::published::{Published, PublishedFigure, factor};
use worstcase_results::published::{Agreement, PublishedComparison};
use worstcase_results::stats::ranks::Shift;

/// Said above all groups.
pub(super) const HEADING: &str = "Then and now: published figures, of the machines of their time, and ours";
/// Said below it.
pub(super) const CAPTION: &str =
    "Only the order of figures and the factors between them compare; a factor is to the first figure of a group.";

/// A figure that was published, and ours.
struct FigureThenNow {
    of: String,
    then: String,
    factor_then: Option<String>,
    /// What our value is: statistic, quantity, and cell.
    cell: Option<String>,
    now_ns: Option<f64>,
    factor_now: Option<String>,
}

/// The figures of a group, in the words of its source, and ours.
pub(super) fn table(group: &PublishedComparison) -> Table {
    let units: Vec<String> = distinct(group.ours.iter().flatten().map(|ours| ours.time_unit.clone()));
    // Clocks of several speeds count the same time.
    let unit = match units.as_slice() {
        [_, _, ..] => "virtual us".to_string(),
        _ => units.concat(),
    };
    let row = |nth: usize| {
        let figure = &group.published.figures[nth];
        FigureThenNow {
            of: figure.of.clone(),
            then: figure.said.to_string(),
            factor_then: group.published.factor_in_words(nth),
            cell: figure.cell(group.venue).map(ToString::to_string),
            now_ns: group.ours[nth].as_ref().map(|ours| ours.value_ns),
            factor_now: group.factors_now[nth].map(|shift| with_interval(nth, &shift)),
        }
    };
    let rows: Vec<FigureThenNow> = (0..group.published.figures.len()).map(row).collect();
    let words = |key: &str, heading: &str, words: fn(&FigureThenNow) -> Option<String>| {
        field(ColumnKind::Words, key, heading, words).optional()
    };
    let mut fields = vec![
        name("of", "figure", |row: &FigureThenNow| row.of.clone()),
        words("then", "then", |row| Some(row.then.clone())),
        words("factor_then", "factor then", |row| row.factor_then.clone()),
    ];
    if rows.iter().any(|row| row.now_ns.is_some()) {
        // In microseconds, which may be below zero: a net cost is a difference.
        let now = |row: &FigureThenNow| row.now_ns.map(|ns| factor(ns / 1_000.0));
        fields.push(field(ColumnKind::Words, "now", format!("now, {unit}"), now));
        fields.push(field(
            ColumnKind::Words,
            "factor_now",
            "factor now",
            |row: &FigureThenNow| row.factor_now.clone(),
        ));
    }
    let cell = field(ColumnKind::Text, "cell", "our cell", |row: &FigureThenNow| {
        row.cell.clone()
    });
    fields.push(cell.wide().optional());
    Table::new("published", group.published.what.clone(), &fields, &rows)
}

fn with_interval(nth: usize, shift: &Shift) -> String {
    match nth {
        0 => factor(1.0),
        _ if shift.low == shift.high => factor(shift.best),
        _ => format!("{} ({}..{})", factor(shift.best), factor(shift.low), factor(shift.high)),
    }
}

/// All groups of a run.
pub(super) fn lines(groups: &[PublishedComparison], style: Style) -> Vec<String> {
    let mut lines = vec![style.bold(HEADING), CAPTION.to_string()];
    for group in groups {
        lines.push(String::new());
        let word = style.agreement(group.verdict);
        lines.push(format!("{}: {word}", plain(&group.published.what)));
        lines.extend(
            figures(&table(group), WIDTH - 2)
                .iter()
                .map(|line| format!("  {line}").trim_end().to_string()),
        );
        if group.verdict != Agreement::Agrees {
            lines.extend(group.reasons.iter().map(|reason| format!("  {}", plain(reason))));
        }
        lines.extend(why_and_source(&group.published));
    }
    lines
}

/// All groups of a study, of which nothing is measured.
pub fn of_study(groups: &[Published], style: Style) -> Vec<String> {
    let mut lines = vec![style.bold("Published figures, which a run sets beside its own")];
    for group in groups {
        lines.push(String::new());
        lines.push(plain(&group.what));
        lines.extend(
            figures(&figures_to_come(group), WIDTH)
                .iter()
                .map(|line| format!("  {line}")),
        );
        lines.extend(why_and_source(group));
    }
    lines
}

/// Published figures, and the cell that will stand beside each.
fn figures_to_come(group: &Published) -> Table {
    let fields = [
        name("of", "figure", |figure: &PublishedFigure| figure.of.clone()),
        field(ColumnKind::Words, "then", "then", |figure: &PublishedFigure| {
            figure.said.to_string()
        }),
        field(ColumnKind::Text, "cell", "now", |figure: &PublishedFigure| {
            let cell = figure.cell.as_ref().or(figure.host.as_ref());
            cell.map_or("no cell".to_string(), ToString::to_string)
        }),
    ];
    Table::new("published", "", &fields, &group.figures)
}

fn why_and_source(group: &Published) -> [String; 2] {
    [
        format!("  why: {}", plain(&group.why)),
        format!("  source: {}", plain(&group.source)),
    ]
}
