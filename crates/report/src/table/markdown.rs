//! Markdown, of GitHub's and GitLab's kind.

use super::{Audience, Table, TableValue};
use crate::markup;

/// Title, lines above, figures, lines below.
pub fn lines(table: &Table) -> Vec<String> {
    let mut lines = vec![format!("**{}**", markup::text(&table.title)), String::new()];
    let folded = |text: &[String]| {
        text.iter()
            .map(|line| format!("{}  ", markup::text(line)))
            .collect::<Vec<_>>()
    };
    lines.extend(folded(&table.about));
    if !table.about.is_empty() {
        lines.push(String::new());
    }
    lines.extend(figures(table));
    lines.push(String::new());
    lines.extend(folded(&table.notes));
    lines
}

/// The headings and rows alone.
pub fn figures(table: &Table) -> Vec<String> {
    let shown = table.shown(Audience::Wide);
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let headings = shown
        .iter()
        .map(|at| markup::text(&table.columns[*at].heading))
        .collect();
    let rule = shown.iter().map(|at| match table.columns[*at].kind.is_text() {
        true => "---".to_string(),
        false => "---:".to_string(),
    });
    let row = |row: &Vec<TableValue>| line(shown.iter().map(|at| cell(table, row, *at)).collect());
    let mut lines = vec![line(headings), line(rule.collect())];
    lines.extend(table.rows.iter().map(row));
    lines
}

fn cell(table: &Table, row: &[TableValue], at: usize) -> String {
    match &row[at] {
        TableValue::Decisive(_) => format!("**{}**", markup::text(&table.text(row, at))),
        TableValue::Lines(lines) => lines
            .iter()
            .map(|line| markup::text(line))
            .collect::<Vec<_>>()
            .join("<br>"),
        _ => markup::text(&table.text(row, at)),
    }
}
