//! What entered a CPU: who took it from the thread that never sleeps, and who sent it. One cell as a table of its own,
//! several as a matrix for each load: causes as rows, subjects as columns.

use super::noise::available;
use super::terminal::{Style, distinct};
use worstcase_analysis::noise::{Entered, Row};
use worstcase_base::duration;
use worstcase_base::format::{grouped, plain};
use worstcase_contract::Nanos;

/// The form of the document.
const SCHEMA: &str = "worstcase-entered/1";

/// A table of one cell, a matrix of several.
pub fn terminal(cells: &[Entered], style: Style) -> String {
    match cells {
        [cell] => table(cell, style),
        several => matrices(several, style),
    }
}

fn matrices(cells: &[Entered], style: Style) -> String {
    let subjects = distinct(cells.iter().map(|cell| cell.subject.as_str()));
    let names: Vec<String> = (0..subjects.len()).map(column).collect();
    let mut lines = vec![style.bold("What entered the CPU, times a second of observation (-: not measured)")];
    for (name, subject) in names.iter().zip(&subjects) {
        let cell = cells.iter().find(|cell| cell.subject == *subject);
        let append = cell.map_or("", |cell| &cell.append);
        lines.push(plain(format!("  {name}  {subject}  {append}").trim_end()));
    }
    for load in distinct(cells.iter().map(|cell| cell.load.as_str())) {
        let of_load: Vec<&Entered> = cells.iter().filter(|cell| cell.load == load).collect();
        lines.push(String::new());
        lines.extend(matrix(load, &of_load, &subjects, &names));
    }
    lines.push(String::new());
    lines.push("One cell, with instructions: --cell ID. With the senders' call chains: --json.".into());
    lines.push(String::new());
    lines.join("\n")
}

/// `A` to `Z`, then `A1`.
fn column(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// Of all seeds together; what came most often first.
fn matrix(load: &str, cells: &[&Entered], subjects: &[&str], names: &[String]) -> Vec<String> {
    let rows = cells.iter().flat_map(|cell| &cell.rows);
    let causes = distinct(rows.map(|row| (row.name.as_str(), row.sent_by.as_deref())));
    let rates = |times: &dyn Fn(&Entered) -> u64| -> Vec<Option<f64>> {
        let rate = |subject: &&str| {
            let of_subject = || cells.iter().filter(|cell| cell.subject == **subject);
            let observed: u64 = of_subject().map(|cell| cell.gaps.observed_ns).sum();
            let times: u64 = of_subject().map(|cell| times(cell)).sum();
            (observed > 0).then(|| times as f64 * 1e9 / observed as f64)
        };
        subjects.iter().map(rate).collect()
    };
    let of_cause = |cause: &(&str, Option<&str>)| {
        rates(&|cell| {
            let same = |row: &&Row| (row.name.as_str(), row.sent_by.as_deref()) == *cause;
            cell.rows.iter().filter(same).map(|row| row.times).sum()
        })
    };
    let mut rows: Vec<_> = causes.iter().map(|cause| (*cause, of_cause(cause))).collect();
    let total = |row: &[Option<f64>]| row.iter().flatten().sum::<f64>();
    rows.sort_by(|a, b| total(&b.1).total_cmp(&total(&a.1)).then_with(|| a.0.cmp(&b.0)));
    let numbers = |rates: &[Option<f64>]| -> String {
        let text = |rate: &Option<f64>| format!("{:>8}", rate.map_or("-".into(), times_a_second));
        rates.iter().map(text).collect()
    };
    let heading: String = names.iter().map(|name| format!("{name:>8}")).collect();
    let gaps = rates(&|cell| cell.gaps.gaps + cell.gaps.lost);
    let mut lines = vec![
        format!("{heading}  {}", plain(load)),
        format!("{}  gaps", numbers(&gaps)),
    ];
    for ((name, sent_by), rates) in &rows {
        lines.push(format!("{}    {}", numbers(rates), plain(name)));
        if let Some(sent_by) = sent_by {
            lines.push(format!("{:1$}      sent by {2}", "", 8 * names.len(), plain(sent_by)));
        }
    }
    lines
}

fn times_a_second(rate: f64) -> String {
    match rate.fract() == 0.0 || rate >= 10.0 {
        true => format!("{rate:.0}"),
        false => format!("{rate:.1}"),
    }
}

/// The same for programs.
pub fn json(cells: &[Entered]) -> String {
    format!("{:#}\n", serde_json::json!({ "schema": SCHEMA, "cells": cells }))
}

fn table(cell: &Entered, style: Style) -> String {
    let gaps = &cell.gaps;
    let observed = duration::about(Nanos(gaps.observed_ns));
    let mut lines = vec![style.bold(&plain(&cell.cell))];
    if gaps.gaps == 0 {
        lines.push(format!("nothing entered CPU {} in {observed}", cell.cpu));
    } else {
        lines.push(format!(
            "CPU {}: {} gaps in {observed}, {} left to the thread",
            cell.cpu,
            grouped(gaps.gaps),
            available(gaps)
        ));
        lines.extend(rows(&cell.rows));
    }
    if gaps.lost > 0 {
        lines.push(format!(
            "{} more gaps are not told of: measure for a shorter time",
            grouped(gaps.lost)
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn rows(rows: &[Row]) -> Vec<String> {
    const COLUMNS: [&str; 4] = ["gaps", "times", "instructions", "most in a gap"];
    let numbers = |row: &Row| [row.gaps, row.times, row.instructions.0, row.longest.0].map(grouped);
    let line = |values: [String; 4], name: &str| {
        let columns = values.iter().zip(COLUMNS).map(|(value, column)| {
            let width = column.len().max(11);
            format!("{value:>width$}")
        });
        format!("{}  {}", columns.collect::<Vec<_>>().join("  "), plain(name))
    };
    let mut lines = vec![line(COLUMNS.map(String::from), "what")];
    for row in rows {
        lines.push(line(numbers(row), &row.name));
        if let Some(sent_by) = &row.sent_by {
            lines.push(format!("{:54}  sent by {}", "", plain(sent_by)));
        }
    }
    lines
}
