//! The changes of cells: one list of columns for all forms.

use super::figures::{probability, ratio, ratio_interval, signed, spread, value};
use super::word;
use crate::table::{ColumnKind, Table, TableField, TableValue, field, name};
use serde_json::json;
use worstcase_results::compare::change::{MeasureChange, SideValues};
use worstcase_results::compare::words::{ChangeWord, Compared, JudgedChange};
use worstcase_results::stats::ranks::Shift;

/// A change of a cell.
struct ChangeRow<'a> {
    cell: &'a Compared,
    judged: &'a JudgedChange,
}

fn columns<'a>() -> Vec<TableField<ChangeRow<'a>>> {
    let mut fields = vec![
        name("subject", "subject", |row: &ChangeRow| row.cell.pair.subjects()).wide(),
        name("cell", "cell", |row: &ChangeRow| row.cell.pair.how.name()).wide(),
        name("measure", "measure", |row: &ChangeRow| {
            let change = &row.judged.change;
            TableValue::in_words(
                change.name(row.cell.pair.several()),
                TableValue::key_of(&change.measure),
            )
        }),
    ];
    fields.extend(
        figures()
            .into_iter()
            .map(|figure| figure.on(|row: &ChangeRow| &row.judged.change)),
    );
    fields.extend([
        field(ColumnKind::Number(4), "p", "p of its own", |row: &ChangeRow| {
            row.judged.p
        })
        .programs(),
        p_corrected(|row: &ChangeRow| row.judged.p_corrected),
        field(ColumnKind::Text, "word", "said", |row: &ChangeRow| {
            let key = json!(row.judged.word)["word"].as_str().map(String::from);
            TableValue::in_words(word(row.judged.word), key)
        }),
        field(ColumnKind::Count, "needs", "needs", |row: &ChangeRow| {
            match row.judged.word {
                ChangeWord::TooFew { needs, .. } => Some(needs),
                _ => None,
            }
        })
        .programs(),
    ]);
    fields
}

/// The probability of a change as large by chance, corrected for all other tests.
pub(crate) fn p_corrected<S>(p: impl Fn(&S) -> Option<f64> + 'static) -> TableField<S> {
    field(ColumnKind::Words, "p_corrected", "p", move |row: &S| {
        let p = p(row);
        TableValue::in_words(probability(p), p)
    })
}

/// The common figures of a change in `compare` and in a gate. A figure reads as its measure does: a time, or a count of
/// periods.
pub(crate) fn figures() -> Vec<TableField<MeasureChange>> {
    let mut fields = vec![
        field(ColumnKind::Text, "quantity", "quantity", |c: &MeasureChange| {
            c.quantity.as_ref().map(TableValue::key_of).unwrap_or(TableValue::NONE)
        })
        .programs(),
    ];
    fields.extend(of_side("a", "A", |c| &c.a));
    fields.extend(of_side("b", "B", |c| &c.b));
    fields.extend(of_shift(
        "difference",
        |c| Some(&c.difference),
        |c, shift| {
            let sign = |difference| signed(c.measure, difference);
            let shift = shift.unwrap_or(&c.difference);
            [sign(shift.best), format!("{}..{}", sign(shift.low), sign(shift.high))]
        },
    ));
    fields.extend(of_shift(
        "ratio",
        |c| c.ratio.as_ref(),
        |_, shift| [ratio(shift), ratio_interval(shift)],
    ));
    fields
}

/// The values of a side.
fn of_side(key: &str, heading: &str, side: fn(&MeasureChange) -> &SideValues) -> [TableField<MeasureChange>; 4] {
    let end = |end: &str, value: fn(&SideValues) -> u64| {
        field(
            ColumnKind::Count,
            format!("{key}.{end}"),
            end,
            move |c: &MeasureChange| value(side(c)),
        )
        .programs()
    };
    [
        field(
            ColumnKind::Words,
            format!("{key}.median"),
            heading,
            move |c: &MeasureChange| {
                let median = side(c).median;
                TableValue::in_words(value(c.measure, median), median)
            },
        ),
        field(
            ColumnKind::Words,
            format!("{key}.of_seeds"),
            "range",
            move |c: &MeasureChange| TableValue::in_words(spread(c.measure, side(c)), json!(side(c).of_seeds)),
        ),
        end("lowest", |values| values.lowest),
        end("highest", |values| values.highest),
    ]
}

/// An estimate with its interval; `words` has the texts of both.
fn of_shift(
    key: &str,
    shift: fn(&MeasureChange) -> Option<&Shift>,
    words: fn(&MeasureChange, Option<&Shift>) -> [String; 2],
) -> [TableField<MeasureChange>; 3] {
    let with = |value: Option<TableValue>, text: String| TableValue::in_words(text, value.unwrap_or(TableValue::NONE));
    [
        field(
            ColumnKind::Words,
            format!("{key}.best"),
            key,
            move |c: &MeasureChange| {
                let [best, _] = words(c, shift(c));
                with(shift(c).map(|s| s.best.into()), best)
            },
        ),
        field(ColumnKind::Words, key, "interval", move |c: &MeasureChange| {
            let [_, interval] = words(c, shift(c));
            with(shift(c).map(|s| TableValue::Between(s.low, s.high, None)), interval)
        })
        .ends("low", "high"),
        field(
            ColumnKind::Percent(0),
            format!("{key}.coverage"),
            "coverage",
            move |c: &MeasureChange| shift(c).map(|s| s.coverage),
        )
        .programs(),
    ]
}

/// The changes of these cells that are wanted.
pub(crate) fn of_cells<'a>(
    title: String,
    cells: impl IntoIterator<Item = &'a Compared>,
    wanted: fn(&JudgedChange) -> bool,
) -> Table {
    let of_cell = |cell: &'a Compared| {
        let judged = cell.said.iter().filter(move |judged| wanted(judged));
        judged.map(move |judged| ChangeRow { cell, judged })
    };
    let rows: Vec<ChangeRow> = cells.into_iter().flat_map(of_cell).collect();
    Table::new("changes", title, &columns(), &rows)
}
