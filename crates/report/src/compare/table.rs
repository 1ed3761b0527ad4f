//! The changes of cells: one list of columns for terminal and Markdown.

use super::figures::{probability, ratio, ratio_interval, signed, spread, value};
use super::word;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_results::compare::words::{Compared, JudgedChange};

/// A change of a cell.
struct ChangeRow<'a> {
    cell: &'a Compared,
    judged: &'a JudgedChange,
}

/// A figure reads as its measure does: a time, or a count of periods.
fn columns<'a>() -> Vec<TableField<ChangeRow<'a>>> {
    let words = |key: &str, heading: &str, words: fn(&JudgedChange) -> String| {
        field(ColumnKind::Words, key, heading, move |row: &ChangeRow| {
            words(row.judged)
        })
    };
    vec![
        name("subject", "subject", |row: &ChangeRow| row.cell.pair.subjects()).wide(),
        name("cell", "cell", |row: &ChangeRow| row.cell.pair.how.name()).wide(),
        name("measure", "measure", |row: &ChangeRow| {
            row.judged.change.name(row.cell.pair.several())
        }),
        words("a", "A", |j| value(j.change.measure, j.change.a.median)),
        words("a_of_seeds", "of seeds", |j| spread(j.change.measure, &j.change.a)),
        words("b", "B", |j| value(j.change.measure, j.change.b.median)),
        words("b_of_seeds", "of seeds", |j| spread(j.change.measure, &j.change.b)),
        words("difference", "difference", |j| {
            signed(j.change.measure, j.change.difference.best)
        }),
        words("difference_interval", "interval", |j| {
            let (low, high) = (j.change.difference.low, j.change.difference.high);
            format!("{}..{}", signed(j.change.measure, low), signed(j.change.measure, high))
        }),
        words("ratio", "ratio", |j| ratio(j.change.ratio.as_ref())),
        words("ratio_interval", "interval", |j| {
            ratio_interval(j.change.ratio.as_ref())
        }),
        words("p", "p", |j| probability(j.p_corrected)),
        field(ColumnKind::Text, "said", "said", |row: &ChangeRow| {
            word(row.judged.word)
        }),
    ]
}

/// The changes of these cells that are wanted.
pub fn of_cells<'a>(
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
