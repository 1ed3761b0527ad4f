//! Columns with the rule that makes their values from a row's source: a new column is one line.

use super::{Audience, ColumnKind, TableColumn, TableValue};

/// A column of tables whose rows are each of an `S`.
pub struct TableField<S> {
    pub(super) column: TableColumn,
    value: Box<dyn Fn(&S) -> TableValue>,
}

/// A column for everybody.
pub fn field<S, V: Into<TableValue>>(
    kind: ColumnKind,
    key: impl Into<String>,
    heading: impl Into<String>,
    value: impl Fn(&S) -> V + 'static,
) -> TableField<S> {
    TableField {
        column: TableColumn {
            key: key.into(),
            heading: heading.into(),
            kind,
            audience: Audience::Everybody,
            is_optional: false,
            ends: None,
        },
        value: Box::new(move |source| value(source).into()),
    }
}

/// A column by which rows are told apart.
pub fn name<S, V: Into<TableValue>>(
    key: impl Into<String>,
    heading: impl Into<String>,
    value: impl Fn(&S) -> V + 'static,
) -> TableField<S> {
    field(ColumnKind::Name, key, heading, value)
}

impl<S> TableField<S> {
    /// A column for programs only: people have the same in other words, or enough without it.
    pub(crate) fn programs(mut self) -> TableField<S> {
        self.column.audience = Audience::Programs;
        self
    }

    /// A column for every form but the terminal, which is narrow.
    pub(crate) fn wide(mut self) -> TableField<S> {
        self.column.audience = Audience::Wide;
        self
    }

    /// People are spared it where no row has a value.
    pub(crate) fn optional(mut self) -> TableField<S> {
        self.column.is_optional = true;
        self
    }

    /// Sets the names that programs use for the two ends of a range, in place of a list of both.
    pub fn ends(mut self, low: &'static str, high: &'static str) -> TableField<S> {
        self.column.ends = Some([low, high]);
        self
    }

    /// The same column of rows that each hold one of its sources.
    pub fn on<R>(self, part: impl Fn(&R) -> &S + 'static) -> TableField<R>
    where
        S: 'static,
    {
        let value = self.value;
        TableField {
            column: self.column,
            value: Box::new(move |row| value(part(row))),
        }
    }

    pub(super) fn value_of(&self, source: &S) -> TableValue {
        (self.value)(source)
    }
}
