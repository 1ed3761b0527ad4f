//! Then and now: published figures, with ours and whether they agree, for people and programs.

use super::table::json::rows;
use super::table::terminal::figures;
use super::table::{ColumnKind, Table, TableValue, field, name};
use crate::style::{Style, WIDTH};
use serde_json::{Value, json};
use worstcase_base::distinct;
use worstcase_base::format::plain;
use worstcase_plan::study::published::{Published, PublishedFigure, factor};
use worstcase_results::published::{Agreement, Ours, PublishedComparison};
use worstcase_results::stats::ranks::Shift;

/// Said above all groups.
pub(super) const HEADING: &str = "Then and now: published figures, of the machines of their time, and ours";
/// Said below it.
pub(super) const CAPTION: &str =
    "Only the order of figures and the factors between them compare; a factor is to the first figure of a group.";

/// A figure that was published, and ours.
struct FigureThenNow<'a> {
    nth: usize,
    group: &'a PublishedComparison,
}

impl FigureThenNow<'_> {
    fn figure(&self) -> &PublishedFigure {
        &self.group.published.figures[self.nth]
    }

    fn ours(&self) -> Option<&Ours> {
        self.group.ours[self.nth].as_ref()
    }

    fn factor_now(&self) -> Option<&Shift> {
        self.group.factors_now[self.nth].as_ref()
    }
}

/// The figures of a group, in the words of its source, and ours.
pub(super) fn table(group: &PublishedComparison) -> Table {
    let units: Vec<String> = distinct(group.ours.iter().flatten().map(|ours| ours.time_unit.clone()));
    // Clocks of several speeds count the same time.
    let unit = match units.as_slice() {
        [_, _, ..] => "virtual us".to_string(),
        _ => units.concat(),
    };
    let rows: Vec<FigureThenNow> = (0..group.published.figures.len())
        .map(|nth| FigureThenNow { nth, group })
        .collect();
    let words = |key: &str, heading: &str, words: fn(&FigureThenNow) -> TableValue| {
        field(ColumnKind::Words, key, heading, words).optional()
    };
    let programs =
        |key: &str, value: fn(&FigureThenNow) -> TableValue| field(ColumnKind::Words, key, key, value).programs();
    let factor_now = field(ColumnKind::Words, "factor_now", "factor now", |row: &FigureThenNow| {
        row.factor_now()
            .map(|shift| TableValue::in_words(with_interval(row.nth, shift), json!(shift)))
    });
    let fields = [
        name("of", "figure", |row: &FigureThenNow| row.figure().of.clone()),
        words("said", "then", |row| {
            let said = &row.figure().said;
            TableValue::in_words(said.to_string(), json!(said))
        }),
        words("factor_then", "factor then", |row| {
            let bounds = json!(row.group.factors_then[row.nth]);
            let text = row.group.published.factor_in_words(row.nth);
            text.map_or(TableValue::NONE, |text| TableValue::in_words(text, bounds))
        }),
        // In microseconds, which may be below zero: a net cost is a difference.
        words("ours.value_ns", &format!("now, {unit}"), |row| {
            let now = row.ours().map(|ours| ours.value_ns);
            now.map_or(TableValue::NONE, |ns| TableValue::in_words(factor(ns / 1_000.0), ns))
        }),
        match group.ours.iter().any(Option::is_some) {
            true => factor_now,
            false => factor_now.programs(),
        },
        field(ColumnKind::Text, "cell", "our cell", |row: &FigureThenNow| {
            let cell = row.figure().cell(row.group.venue);
            cell.map(|cell| TableValue::in_words(cell.to_string(), json!(cell)))
        })
        .wide()
        .optional(),
        programs("ours.subject", |row| {
            row.ours().map(|ours| ours.subject.to_string()).into()
        }),
        programs("ours.of_seeds", |row| {
            row.ours().map(|ours| json!(ours.of_seeds)).into()
        }),
        programs("ours.time_unit", |row| {
            row.ours().map(|ours| ours.time_unit.replacen("us", "ns", 1)).into()
        }),
    ];
    Table::new("published", group.published.what.clone(), &fields, &rows)
}

/// For programs: each group with the rows of its table.
pub(super) fn json(groups: &[PublishedComparison]) -> Value {
    let one = |group: &PublishedComparison| {
        let Published {
            what,
            compare,
            source,
            why,
            ..
        } = &group.published;
        json!({
            "what": what,
            "compare": compare,
            "source": source,
            "why": why,
            "venue": group.venue,
            "verdict": group.verdict,
            "reasons": group.reasons,
            "figures": rows(&table(group)),
        })
    };
    groups.iter().map(one).collect()
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
