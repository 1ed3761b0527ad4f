//! Comma-separated values: keys in the first line, plain numbers, an empty field where there is no value.

use super::{Table, TableColumn, TableValue};
use worstcase_base::format::plain;

/// The whole table.
pub fn text(table: &Table) -> Result<String, ::csv::Error> {
    let columns: Vec<usize> = (0..table.columns.len()).filter(|at| fits(table, *at)).collect();
    let mut out = ::csv::Writer::from_writer(Vec::new());
    out.write_record(columns.iter().flat_map(|at| keys(table, *at)))?;
    for row in &table.rows {
        out.write_record(columns.iter().flat_map(|at| fields(&row[*at], is_range(table, *at))))?;
    }
    let bytes = out.into_inner().map_err(|e| e.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A value that is a tree of its own has no place in a line.
fn fits(table: &Table, at: usize) -> bool {
    let is_tree = |row: &Vec<TableValue>| matches!(row[at].for_programs(), TableValue::Data(data) if !data.is_null());
    !table.rows.iter().any(is_tree)
}

fn is_range(table: &Table, at: usize) -> bool {
    let column: &TableColumn = &table.columns[at];
    column.ends.is_some()
        || table
            .rows
            .iter()
            .any(|row| matches!(row[at].for_programs(), TableValue::Between(..)))
}

fn keys(table: &Table, at: usize) -> Vec<String> {
    let column = &table.columns[at];
    match is_range(table, at) {
        true => column
            .ends
            .unwrap_or(["low", "high"])
            .map(|end| format!("{}.{end}", column.key))
            .to_vec(),
        false => vec![column.key.clone()],
    }
}

fn fields(value: &TableValue, is_range: bool) -> Vec<String> {
    let field = match value {
        TableValue::Between(low, high, _) => return vec![low.to_string(), high.to_string()],
        TableValue::Absent(_) | TableValue::Data(_) => String::new(),
        TableValue::Text(text) => plain(text),
        TableValue::InWords(_, value) | TableValue::Decisive(value) => return fields(value, is_range),
        TableValue::Signed(number) => number.to_string(),
        TableValue::Flag(is_so) => is_so.to_string(),
        TableValue::Lines(lines) => plain(&lines.join("; ")),
        TableValue::Judged(_, word) => (*word).to_string(),
        TableValue::Whole(number) => number.to_string(),
        TableValue::Real(number) | TableValue::AtLeast(number) | TableValue::AtMost(number) => number.to_string(),
    };
    vec![field; if is_range { 2 } else { 1 }]
}
