//! One model of a table. Code that has figures to show makes a [`Table`]; a writer for each form shows it.
//!
//! ```text
//! Field          how a column is called and how its value comes from a row's source: one line each
//! Table          columns, typed values, lines above and below
//!   terminal     aligned text, as wide as the terminal      grid: its layout
//!   csv, json    for programs: keys, plain numbers in ns
//!   markdown     for pull requests
//!   page         final texts, for the page's script
//!   text           how a value of a kind reads for people, the same in every form
//! ```
//! All forms show the same: a document that has more than a table (a verdict, options, notes) takes its rows from the table. A
//! column that only programs get ([`Audience::Programs`]) is in CSV and JSON alone; a figure that people read in words
//! ([`TableValue::InWords`]) is a plain value there.

pub mod csv;
mod field;
mod grid;
pub mod json;
pub mod markdown;
pub mod page;
pub mod terminal;
mod text;

pub use field::{TableField, field, name};
pub use text::{cost, text, us};

use serde::Serialize;
use serde_json::Value;
use worstcase_contract::Nanos;
use worstcase_results::verdict::Outcome;

/// Figures with their columns.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The name that programs use.
    pub key: &'static str,
    /// The title, with the unit of its times.
    pub title: String,
    /// Lines between the title and the figures.
    pub about: Vec<String>,
    /// Names of rows first.
    pub columns: Vec<TableColumn>,
    /// The rows, with a value for each column.
    pub rows: Vec<Vec<TableValue>>,
    /// The key of the name whose values become groups of columns, where a form has room for groups.
    pub(crate) across: Option<&'static str>,
    /// Whether another table by the same key has these columns too; programs need only that one.
    pub(crate) is_view: bool,
    /// A terminal shows so many rows, and the last, which sums up.
    pub(crate) terminal_rows: Option<usize>,
    /// Lines below.
    pub notes: Vec<String>,
}

/// Tables under one heading.
#[derive(Clone, Debug, Default)]
pub struct TableGroup {
    /// The heading; empty if the tables' titles say it.
    pub heading: String,
    /// Lines below it.
    pub lines: Vec<String>,
    /// The tables, in order.
    pub(crate) tables: Vec<Table>,
}

impl From<Table> for TableGroup {
    fn from(table: Table) -> TableGroup {
        TableGroup {
            tables: vec![table],
            ..TableGroup::default()
        }
    }
}

/// The kind and the names of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// The name that programs use; `a.b` is the member `b` of `a` in JSON.
    pub key: String,
    /// The heading that people read.
    pub heading: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// The forms that have the column.
    pub(crate) audience: Audience,
    /// Whether people are spared it where no row has a value.
    pub(crate) is_optional: bool,
    /// For ranges: the names that programs use for the two ends.
    pub ends: Option<[&'static str; 2]>,
}

/// The forms that have a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    /// Everybody.
    Everybody,
    /// All forms but the terminal, which is narrow and says it in a line above or below.
    Wide,
    /// CSV and JSON alone.
    Programs,
}

/// The form of values for people. Programs get plain numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnKind {
    /// Text that tells rows apart.
    Name,
    /// Other text.
    Text,
    /// A figure in words of its own, with its unit.
    Words,
    /// Nanoseconds, shown in microseconds to three digits.
    Time,
    /// Nanoseconds, shown in microseconds to the nanosecond.
    ExactTime,
    /// Nanoseconds, shown in seconds.
    Seconds,
    /// Nanoseconds of a long time, shown with the unit that fits.
    Duration,
    /// A whole number.
    Count,
    /// Bytes, shown in MB of 10^6.
    Megabytes,
    /// A number with so many decimals.
    Number(usize),
    /// A share of one, shown in percent with so many decimals.
    Percent(usize),
    /// A factor.
    Factor,
    /// A verdict.
    Outcome,
}

/// A value, in the unit of its column.
#[derive(Clone, Debug, PartialEq)]
pub enum TableValue {
    /// There is no value, and why in a word or two, or nothing.
    Absent(&'static str),
    /// Text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// A whole number that may be negative.
    Signed(i64),
    /// Any number.
    Real(f64),
    /// Whether it is so.
    Flag(bool),
    /// More than this was not known.
    AtLeast(f64),
    /// At most this, and perhaps less.
    AtMost(f64),
    /// A range, with the coverage if it is an interval.
    Between(f64, f64, Option<f64>),
    /// The value that decided.
    Decisive(Box<TableValue>),
    /// People read the text: its unit, or how it reads, is not that of the whole column. Programs get the value.
    InWords(String, Box<TableValue>),
    /// Sentences.
    Lines(Vec<String>),
    /// A verdict, and the word for it.
    Judged(Outcome, &'static str),
    /// Data that only JSON can hold.
    Data(Value),
}

impl Table {
    /// Rows of `sources`, a column for each of `fields`.
    pub fn new<'a, S: 'a>(
        key: &'static str,
        title: impl Into<String>,
        fields: &[TableField<S>],
        sources: impl IntoIterator<Item = &'a S>,
    ) -> Table {
        let row = |source: &S| fields.iter().map(|field| field.value_of(source)).collect();
        Table {
            key,
            title: title.into(),
            columns: fields.iter().map(|field| field.column.clone()).collect(),
            rows: sources.into_iter().map(row).collect(),
            ..Table::default()
        }
    }

    /// Some of its columns, under headings of their own, for people: programs have the whole table.
    pub(crate) fn view(&self, title: impl Into<String>, wanted: &[(&str, &str)]) -> Table {
        let at = |(key, heading): &(&str, &str)| {
            let at = self.columns.iter().position(|column| column.key == *key);
            (at.expect("the table has the column"), heading.to_string())
        };
        let picked: Vec<(usize, String)> = wanted.iter().map(at).collect();
        let column = |(at, heading): &(usize, String)| TableColumn {
            heading: heading.clone(),
            audience: Audience::Everybody,
            ..self.columns[*at].clone()
        };
        let row = |row: &Vec<TableValue>| picked.iter().map(|(at, _)| row[*at].clone()).collect();
        Table {
            key: self.key,
            title: title.into(),
            columns: picked.iter().map(column).collect(),
            rows: self.rows.iter().map(row).collect(),
            is_view: true,
            ..Table::default()
        }
    }

    /// Adds lines above and below the figures.
    pub fn with(mut self, about: Vec<String>, notes: Vec<String>) -> Table {
        self.about = about;
        self.notes = notes;
        self
    }

    /// Makes groups of columns from the values of a name.
    pub(crate) fn across(mut self, key: &'static str) -> Table {
        self.across = Some(key);
        self
    }

    /// The columns that a form for people shows, by their place.
    pub(crate) fn shown(&self, widest: Audience) -> Vec<usize> {
        let has_value = |at: usize| self.rows.iter().any(|row| !matches!(row[at], TableValue::Absent(_)));
        let is_shown = |at: &usize| {
            let column = &self.columns[*at];
            column.audience <= widest && (!column.is_optional || has_value(*at))
        };
        (0..self.columns.len()).filter(is_shown).collect()
    }

    /// The text of a value, as people read it.
    fn text(&self, row: &[TableValue], at: usize) -> String {
        text(self.columns[at].kind, &row[at])
    }
}

impl TableValue {
    /// Absent, with nothing to say of it.
    pub(crate) const NONE: TableValue = TableValue::Absent("");

    /// A text for people, and a value for programs.
    pub(crate) fn in_words(text: impl Into<String>, value: impl Into<TableValue>) -> TableValue {
        TableValue::InWords(text.into(), Box::new(value.into()))
    }

    /// The name by which JSON knows a value of a plain enum.
    pub(crate) fn key_of(value: &impl Serialize) -> TableValue {
        match serde_json::to_value(value) {
            Ok(Value::String(name)) => TableValue::Text(name),
            other => TableValue::Data(other.unwrap_or_default()),
        }
    }

    /// The value for programs.
    fn for_programs(&self) -> &TableValue {
        match self {
            TableValue::InWords(_, value) | TableValue::Decisive(value) => value.for_programs(),
            value => value,
        }
    }
}

impl TableColumn {
    /// The end of the column's key, by which the page's filters know subjects, loads and probes.
    fn last_key(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or(&self.key)
    }
}

impl ColumnKind {
    /// Whether it is aligned left.
    fn is_text(self) -> bool {
        matches!(self, ColumnKind::Name | ColumnKind::Text | ColumnKind::Outcome)
    }
}

impl From<String> for TableValue {
    fn from(text: String) -> TableValue {
        TableValue::Text(text)
    }
}

impl From<&str> for TableValue {
    fn from(text: &str) -> TableValue {
        TableValue::Text(text.to_string())
    }
}

impl From<Nanos> for TableValue {
    fn from(time: Nanos) -> TableValue {
        TableValue::Whole(time.0)
    }
}

impl From<u64> for TableValue {
    fn from(count: u64) -> TableValue {
        TableValue::Whole(count)
    }
}

impl From<u32> for TableValue {
    fn from(count: u32) -> TableValue {
        TableValue::Whole(count.into())
    }
}

impl From<usize> for TableValue {
    fn from(count: usize) -> TableValue {
        TableValue::Whole(count as u64)
    }
}

impl From<i64> for TableValue {
    fn from(number: i64) -> TableValue {
        TableValue::Signed(number)
    }
}

impl From<bool> for TableValue {
    fn from(is_so: bool) -> TableValue {
        TableValue::Flag(is_so)
    }
}

impl From<f64> for TableValue {
    fn from(number: f64) -> TableValue {
        TableValue::Real(number)
    }
}

impl From<Outcome> for TableValue {
    fn from(outcome: Outcome) -> TableValue {
        let word = match outcome {
            Outcome::Pass => "PASS",
            Outcome::Fail => "FAIL",
            Outcome::Inconclusive => "INCONCLUSIVE",
        };
        TableValue::Judged(outcome, word)
    }
}

impl From<Value> for TableValue {
    fn from(data: Value) -> TableValue {
        TableValue::Data(data)
    }
}

impl<T: Into<TableValue>> From<Option<T>> for TableValue {
    fn from(value: Option<T>) -> TableValue {
        value.map_or(TableValue::NONE, Into::into)
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
