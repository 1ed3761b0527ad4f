//! JSON: an object for each row, times in ns. `a.b` is a member of `a`.

use super::{Table, TableColumn, TableValue};
use serde_json::{Map, Value, json};

/// All rows.
pub fn rows(table: &Table) -> Value {
    let row = |row: &Vec<TableValue>| {
        let mut object = Map::new();
        for (column, value) in std::iter::zip(&table.columns, row) {
            put(&mut object, column, value);
        }
        object.values_mut().for_each(empty_is_null);
        Value::Object(object)
    };
    Value::Array(table.rows.iter().map(row).collect())
}

fn put(object: &mut Map<String, Value>, column: &TableColumn, value: &TableValue) {
    match (column.ends, value.for_programs()) {
        (Some(ends), TableValue::Between(low, high, _)) => {
            for (end, value) in std::iter::zip(ends, [low, high]) {
                put_at(object, &format!("{}.{end}", column.key), json!(value));
            }
        }
        (Some(ends), _) => {
            for end in ends {
                put_at(object, &format!("{}.{end}", column.key), plain_value(value));
            }
        }
        _ => put_at(object, &column.key, plain_value(value)),
    }
}

fn put_at(object: &mut Map<String, Value>, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            object.insert(key.to_string(), value);
        }
        Some((outer, rest)) => {
            let inner = object.entry(outer).or_insert_with(|| json!({}));
            if let Value::Object(inner) = inner {
                put_at(inner, rest, value);
            }
        }
    }
}

/// A member that has nothing at all is not there.
fn empty_is_null(value: &mut Value) {
    if matches!(value, Value::Object(members) if !members.is_empty() && members.values().all(Value::is_null)) {
        *value = Value::Null;
    }
}

fn plain_value(value: &TableValue) -> Value {
    match value {
        TableValue::Absent(_) => Value::Null,
        TableValue::Text(text) => json!(text),
        TableValue::InWords(_, value) | TableValue::Decisive(value) => plain_value(value),
        TableValue::Signed(number) => json!(number),
        TableValue::Flag(is_so) => json!(is_so),
        TableValue::Lines(lines) => json!(lines),
        TableValue::Judged(_, word) => json!(word),
        TableValue::Whole(number) => json!(number),
        TableValue::Real(number) | TableValue::AtLeast(number) | TableValue::AtMost(number) => json!(number),
        TableValue::Between(low, high, None) => json!([low, high]),
        TableValue::Between(low, high, Some(coverage)) => json!([low, high, coverage]),
        TableValue::Data(data) => data.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ColumnKind, Table, TableValue, field};
    use super::*;

    #[test]
    fn members_of_members_and_of_none() {
        let value = |key: &str, value: TableValue| field(ColumnKind::Time, key, "", move |_: &()| value.clone());
        let fields = [
            value("a.low", TableValue::Whole(1)),
            value("a.high", TableValue::NONE),
            value("none.low", TableValue::NONE),
            value("none.high", TableValue::NONE),
            value("within", TableValue::Between(1.0, 2.0, Some(0.95))),
            value("ends", TableValue::Between(1.0, 2.0, None)).ends("least", "most"),
        ];
        let table = Table::new("t", "", &fields, &[()]);
        let expected = json!([{
            "a": { "low": 1, "high": null },
            "none": null,
            "within": [1.0, 2.0, 0.95],
            "ends": { "least": 1.0, "most": 2.0 },
        }]);
        assert_eq!(rows(&table), expected);
    }
}
