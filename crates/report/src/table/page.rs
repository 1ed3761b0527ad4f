//! Tables for the page: final texts, and the keys by which its filters know a row.

use super::{Audience, Table, TableGroup, TableValue};
use serde::Serialize;
use worstcase_results::verdict::Outcome;

/// Tables under a heading.
#[derive(Debug, Serialize)]
pub(crate) struct PageGroup {
    heading: String,
    lines: Vec<String>,
    tables: Vec<ScriptTable>,
}

impl PageGroup {
    /// The page's form of a group.
    pub fn new(group: &TableGroup) -> PageGroup {
        PageGroup {
            heading: group.heading.clone(),
            lines: group.lines.clone(),
            tables: group.tables.iter().map(ScriptTable::new).collect(),
        }
    }
}

/// A table as the page's script takes it.
#[derive(Debug, Serialize)]
pub(crate) struct ScriptTable {
    title: String,
    about: Vec<String>,
    columns: Vec<PageColumn>,
    rows: Vec<PageRow>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PageColumn {
    title: String,
    /// Aligned right.
    number: bool,
    /// The column names a subject, for which the page has a name of its own.
    subject: bool,
}

#[derive(Debug, Serialize)]
struct PageRow {
    subject: Option<String>,
    load: Option<String>,
    probe: Option<String>,
    cells: Vec<PageCell>,
}

/// Text, or a verdict with the word for it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum PageCell {
    Text(String),
    Judged { outcome: Outcome, word: &'static str },
}

impl ScriptTable {
    /// The page's form of a table.
    pub fn new(table: &Table) -> ScriptTable {
        let shown = table.shown(Audience::Wide);
        let column = |at: &usize| {
            let column = &table.columns[*at];
            PageColumn {
                title: column.heading.clone(),
                number: !column.kind.is_text(),
                subject: matches!(column.last_key(), "subject" | "label"),
            }
        };
        let row = |row: &Vec<TableValue>| PageRow {
            subject: named(table, row, "subject"),
            load: named(table, row, "load"),
            probe: named(table, row, "probe"),
            cells: shown.iter().map(|at| cell(table, row, *at)).collect(),
        };
        ScriptTable {
            title: table.title.clone(),
            about: table.about.clone(),
            columns: shown.iter().map(column).collect(),
            rows: table.rows.iter().map(row).collect(),
            notes: table.notes.clone(),
        }
    }
}

fn cell(table: &Table, row: &[TableValue], at: usize) -> PageCell {
    match &row[at] {
        TableValue::Judged(outcome, word) => PageCell::Judged {
            outcome: *outcome,
            word,
        },
        _ => PageCell::Text(table.text(row, at)),
    }
}

/// The value of a name, whether or not people see it.
fn named(table: &Table, row: &[TableValue], key: &str) -> Option<String> {
    let at = table.columns.iter().position(|column| column.last_key() == key)?;
    match &row[at] {
        TableValue::Text(text) => Some(text.clone()),
        _ => None,
    }
}
