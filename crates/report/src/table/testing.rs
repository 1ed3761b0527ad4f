//! For tests: all forms of a table show the same.

use super::{Audience, Table, TableColumn, TableValue, csv, json, markdown, page::ScriptTable, terminal, text};
use crate::markup;
use crate::style::Style;
use serde_json::Value;

/// Every column that people see, with the text of its first value.
pub(crate) fn shown(table: &Table) -> Vec<(TableColumn, String)> {
    let of_column = |at: usize| {
        (
            table.columns[at].clone(),
            text(table.columns[at].kind, &table.rows[0][at]),
        )
    };
    table.shown(Audience::Wide).into_iter().map(of_column).collect()
}

/// A member of a member, by its key.
pub(crate) fn member<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(object, |object, key| object.get(key))
}

/// Whether a field of CSV is this column, or an end of its ranges.
pub(crate) fn is_of_key(field: &str, key: &str) -> bool {
    field
        .strip_prefix(key)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Checks that each column which people see is in the terminal's text, in Markdown, on the page, in CSV and in JSON, and so is
/// its first value; and that these rows of a document are those of the table, with every column that it has.
pub(crate) fn assert_in_every_form(table: &Table, document: &Value) {
    let name = table.key;
    assert!(!table.rows.is_empty(), "{name}");
    let lines = terminal::lines_within(table, Style::PLAIN, 10_000).join("\n");
    let as_markdown = markdown::lines(table).join("\n");
    let page = serde_json::to_value(ScriptTable::new(table)).unwrap();
    let comma_separated = csv::text(table).unwrap();
    let rows = json::rows(table);
    for (column, value) in shown(table) {
        let (key, heading) = (&column.key, column.heading.as_str());
        // Titles of groups are values, under no heading.
        let is_group = table.across == Some(key);
        if column.audience == Audience::Everybody {
            assert!(
                is_group || lines.contains(heading),
                "{name}: {heading} in the text: {lines}"
            );
            assert!(lines.contains(&value), "{name}: {key} {value} in the text: {lines}");
        }
        let [heading_marked, value_marked] = [heading, &value].map(markup::text);
        for text in [heading_marked, value_marked] {
            assert!(
                as_markdown.contains(&text),
                "{name}: {key} {text} in Markdown: {as_markdown}"
            );
        }
        let on_page = |column: &Value| column["title"] == heading;
        assert!(
            page["columns"].as_array().unwrap().iter().any(on_page),
            "{name}: {heading} on the page"
        );
        let cells = page["rows"][0]["cells"].as_array().unwrap();
        assert!(
            cells.iter().any(|cell| *cell == value || cell["word"] == value),
            "{name}: {key} on the page: {cells:?}"
        );
        let mut header = comma_separated.lines().next().unwrap().split(',');
        let at = table.columns.iter().position(|other| other == &column).unwrap();
        let is_tree = matches!(table.rows[0][at].for_programs(), TableValue::Data(_));
        assert!(
            is_tree || header.any(|field| is_of_key(field, key)),
            "{name}: {key} in CSV: {comma_separated}"
        );
    }
    for column in &table.columns {
        assert!(
            member(&rows[0], &column.key).is_some(),
            "{name}: {} in JSON: {rows:#}",
            column.key
        );
    }
    assert_eq!(*document, rows, "{name}");
}
