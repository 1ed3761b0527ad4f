//! Entries into a CPU: the thread or interrupt that took it from the thread that never sleeps, and the sender. One
//! cell is a table of its own, several are a matrix for each load: causes as rows, subjects as columns.

use super::noise::available;
use super::table::terminal::figures_with;
use super::table::{ColumnKind, Table, TableField, field};
use crate::style::Style;
use worstcase_analysis::noise::{Entered, NoiseRow};
use worstcase_base::distinct;
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

/// A cause, and its rate per second for each subject; nothing if a subject was not measured.
struct CauseRates<'a> {
    name: String,
    sent_by: Option<&'a str>,
    rates: Vec<Option<f64>>,
}

impl CauseRates<'_> {
    fn total(&self) -> f64 {
        self.rates.iter().flatten().sum()
    }
}

/// The matrix of all seeds together, the most frequent causes first.
fn matrix(load: &str, cells: &[&Entered], subjects: &[&str], names: &[String]) -> Vec<String> {
    let causes = distinct(
        cells
            .iter()
            .flat_map(|cell| &cell.rows)
            .map(|row| (row.name.as_str(), row.sent_by.as_deref())),
    );
    let rates = |times: &dyn Fn(&Entered) -> u64| -> Vec<Option<f64>> {
        let rate = |subject: &&str| {
            let of_subject = || cells.iter().filter(|cell| cell.subject == **subject);
            let observed: u64 = of_subject().map(|cell| cell.gaps.observed_ns).sum();
            let times: u64 = of_subject().map(|cell| times(cell)).sum();
            (observed > 0).then(|| times as f64 * 1e9 / observed as f64)
        };
        subjects.iter().map(rate).collect()
    };
    let of_cause = |(name, sent_by): &(&'_ str, Option<&'_ str>)| {
        rates(&|cell| {
            let same = |row: &&NoiseRow| (row.name.as_str(), row.sent_by.as_deref()) == (*name, *sent_by);
            cell.rows.iter().filter(same).map(|row| row.times).sum()
        })
    };
    let mut rows: Vec<CauseRates> = causes
        .iter()
        .map(|cause| CauseRates {
            name: format!("  {}", cause.0),
            sent_by: cause.1,
            rates: of_cause(cause),
        })
        .collect();
    rows.sort_by(|a, b| {
        b.total()
            .total_cmp(&a.total())
            .then_with(|| (&a.name, a.sent_by).cmp(&(&b.name, b.sent_by)))
    });
    let gaps = CauseRates {
        name: "gaps".into(),
        sent_by: None,
        rates: rates(&|cell| cell.gaps.gaps + cell.gaps.lost),
    };
    rows.insert(0, gaps);
    let rate = |(nth, heading): (usize, &String)| {
        let rate = move |row: &CauseRates| row.rates[nth].map(times_a_second);
        field(ColumnKind::Words, heading.clone(), heading.clone(), rate)
    };
    let mut fields: Vec<TableField<CauseRates>> = names.iter().enumerate().map(rate).collect();
    fields.push(field(ColumnKind::Text, "cause", load, |row: &CauseRates| {
        row.name.clone()
    }));
    let below = |nth: usize, indent| sent_by(rows[nth].sent_by, indent);
    figures_with(&Table::new("rates", "", &fields, &rows), below)
}

/// The sender, if it is known, under the interrupt that it sent.
fn sent_by(sender: Option<&str>, indent: usize) -> Vec<String> {
    sender
        .map(|sender| format!("{:indent$}    sent by {}", "", plain(sender)))
        .into_iter()
        .collect()
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

fn rows(rows: &[NoiseRow]) -> Vec<String> {
    let count = |key: &str, heading: &str, count: fn(&NoiseRow) -> u64| field(ColumnKind::Count, key, heading, count);
    let fields = [
        count("gaps", "gaps", |row| row.gaps),
        count("times", "times", |row| row.times),
        count("instructions", "instructions", |row| row.instructions.0),
        count("longest", "most in a gap", |row| row.longest.0),
        field(ColumnKind::Text, "name", "what", |row: &NoiseRow| row.name.clone()),
    ];
    figures_with(&Table::new("rows", "", &fields, rows), |nth, indent| {
        sent_by(rows[nth].sent_by.as_deref(), indent)
    })
}
