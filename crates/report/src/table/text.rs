//! The form of a value for people: one place for every form.

use super::{ColumnKind, TableValue};
use worstcase_base::duration;
use worstcase_base::format::{grouped, micros, micros_exact, plain};
use worstcase_contract::Nanos;

/// A value of a column of this kind; `-` where there is none and nothing to say of it.
pub fn text(kind: ColumnKind, value: &TableValue) -> String {
    match value {
        TableValue::Absent("") | TableValue::Data(_) => "-".to_string(),
        TableValue::Absent(why) => (*why).to_string(),
        TableValue::Text(text) | TableValue::InWords(text, _) => plain(text),
        TableValue::Decisive(value) => self::text(kind, value),
        TableValue::Signed(number) => number_text(kind, *number as f64),
        TableValue::Flag(is_so) => if *is_so { "yes" } else { "no" }.to_string(),
        TableValue::Lines(lines) => plain(&lines.join("; ")),
        TableValue::Judged(_, word) => (*word).to_string(),
        TableValue::Whole(number) => match kind {
            ColumnKind::Count => grouped(*number),
            _ => number_text(kind, *number as f64),
        },
        TableValue::Real(number) => number_text(kind, *number),
        TableValue::AtLeast(number) => format!(">{}", number_text(kind, *number)),
        TableValue::AtMost(number) => format!("<{}", number_text(kind, *number)),
        TableValue::Between(low, high, _) => format!("{}..{}", number_text(kind, *low), number_text(kind, *high)),
    }
}

fn number_text(kind: ColumnKind, number: f64) -> String {
    match kind {
        ColumnKind::Name | ColumnKind::Text | ColumnKind::Words | ColumnKind::Outcome => number.to_string(),
        ColumnKind::Time => us(number),
        ColumnKind::ExactTime => micros_exact(Nanos(number.max(0.0).round() as u64)),
        ColumnKind::Seconds => format!("{:.3}", number / 1e9),
        ColumnKind::Duration => duration::about(Nanos(number.max(0.0).round() as u64)),
        ColumnKind::Count if number < 0.0 => format!("-{}", grouped(number.abs().round() as u64)),
        ColumnKind::Count => grouped(number.round() as u64),
        ColumnKind::Megabytes => format!("{:.1}", number / 1e6),
        ColumnKind::Number(decimals) => format!("{number:.decimals$}"),
        ColumnKind::Percent(decimals) => format!("{:.decimals$} %", 100.0 * number),
        ColumnKind::Factor => cost(number),
    }
}

/// A factor: `x1.04`.
pub fn cost(factor: f64) -> String {
    format!("x{factor:.2}")
}

/// Nanoseconds that may be negative, as microseconds.
pub fn us(ns: f64) -> String {
    let size = micros(Nanos(ns.abs().round() as u64));
    if ns < 0.0 && size != "0" {
        format!("-{size}")
    } else {
        size
    }
}
