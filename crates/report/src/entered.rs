//! What entered a CPU, cell by cell: who took it from the thread that never sleeps, and who sent it.

use super::noise::available;
use super::terminal::Style;
use worstcase_analysis::noise::{Entered, Row};
use worstcase_base::duration;
use worstcase_base::format::{grouped, plain};
use worstcase_probe::Nanos;

/// The form of the document.
const SCHEMA: &str = "worstcase-entered/1";

/// All cells, as tables.
pub fn terminal(cells: &[Entered], style: Style) -> String {
    cells
        .iter()
        .map(|cell| table(cell, style))
        .collect::<Vec<_>>()
        .join("\n")
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
