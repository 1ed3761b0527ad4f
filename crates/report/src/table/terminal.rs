//! Aligned text.

use super::grid::{ColumnGroup, TableGrid};
use super::{Audience, ColumnKind, Table, TableGroup, TableValue};
use crate::style::cut;
use crate::style::{Style, WIDTH, shortened, width};
use worstcase_base::distinct;
use worstcase_base::format::plain;

/// Between two names of a row.
const GAP: &str = "  ";

/// Title, lines above, figures, lines below.
pub fn lines(table: &Table, style: Style) -> Vec<String> {
    lines_within(table, style, WIDTH)
}

/// The same, at most `most` characters wide.
pub(crate) fn lines_within(table: &Table, style: Style, most: usize) -> Vec<String> {
    let mut lines = vec![style.bold(&plain(&table.title))];
    lines.extend(table.about.iter().map(|line| plain(line)));
    if table.across.is_some() {
        lines.push(String::new());
    }
    lines.extend(figures(table, most));
    lines.extend(table.notes.iter().map(|line| plain(line)));
    lines
}

/// Tables under their headings, each after an empty line.
pub fn groups(groups: &[TableGroup], style: Style) -> Vec<String> {
    let mut out = Vec::new();
    for group in groups {
        if !group.heading.is_empty() {
            out.extend([String::new(), style.bold(&plain(&group.heading))]);
        }
        out.extend(group.lines.iter().map(|line| plain(line)));
        for table in &group.tables {
            out.push(String::new());
            out.extend(lines(table, style));
        }
    }
    out
}

/// The headings and rows alone, each with lines below it; longer lines are cut. `below` gets the row's number and where the
/// last column begins, under which its lines are to stand.
pub(crate) fn figures_with(table: &Table, below: impl Fn(usize, usize) -> Vec<String>) -> Vec<String> {
    let lines = rendered(table, usize::MAX);
    let heading = lines.first().map_or(0, |line| line.chars().count());
    let last = table.shown(Audience::Everybody).into_iter().next_back();
    let last = last.map_or(0, |at| table.columns[at].heading.chars().count());
    let indent = heading.saturating_sub(last);
    let mut lines = lines.into_iter().map(|line| cut(&line));
    let mut out: Vec<String> = lines.next().into_iter().collect();
    for (nth, line) in lines.enumerate() {
        out.push(line);
        out.extend(below(nth, indent));
    }
    out
}

/// Rows without headings: names first, then the other figures. Sentences stand beside them, one below the other.
pub fn listed(table: &Table, style: Style) -> Vec<String> {
    let has_lines = |at: &usize| table.rows.iter().any(|row| matches!(row[*at], TableValue::Lines(_)));
    let (beside, mut short): (Vec<usize>, Vec<usize>) =
        table.shown(Audience::Everybody).into_iter().partition(has_lines);
    short.sort_by_key(|at| table.columns[*at].kind != ColumnKind::Name);
    let cell = |row: &[TableValue], at: usize, style: Style| match &row[at] {
        // Padded to the width of the longest verdict.
        TableValue::Judged(outcome, word) if *word == outcome.to_string() => style.outcome(*outcome),
        _ => {
            let widths = table.rows.iter().map(|row| table.text(row, at).chars().count());
            format!("{:1$}", table.text(row, at), widths.max().unwrap_or(0))
        }
    };
    let head = |row: &[TableValue], style| {
        let cells: Vec<String> = short.iter().map(|at| cell(row, *at, style)).collect();
        cells.join(GAP)
    };
    let of_row = |row: &Vec<TableValue>| {
        let lines = beside.iter().flat_map(|at| match &row[*at] {
            TableValue::Lines(lines) => lines.clone(),
            _ => vec![table.text(row, *at)],
        });
        let lines: Vec<String> = lines.map(|line| plain(&line)).collect();
        let first = lines.first().map_or("", String::as_str);
        let mut out = vec![format!("{GAP}{}{GAP}{first}", head(row, style))];
        let indent = head(row, Style::PLAIN).chars().count();
        out.extend(
            lines
                .iter()
                .skip(1)
                .map(|line| format!("{GAP}{:indent$}{GAP}{line}", "")),
        );
        out
    };
    table.rows.iter().flat_map(of_row).collect()
}

/// The headings and rows alone. If they are too wide, names that all rows share stand in a line above.
pub fn figures(table: &Table, most: usize) -> Vec<String> {
    let width = width(most);
    let names = names(table);
    let fits = |lines: &[String]| lines.iter().all(|line| line.chars().count() <= width);
    let shared: Vec<usize> = names.iter().copied().filter(|at| is_shared(table, *at)).collect();
    if fits(&rendered(table, usize::MAX)) || shared.is_empty() || shared.len() == names.len() {
        return rendered(table, width);
    }
    let said = shared
        .iter()
        .map(|at| format!("{} {}", table.columns[*at].heading, table.text(&table.rows[0], *at)));
    let mut lines = vec![said.collect::<Vec<_>>().join(", ")];
    let others: Vec<usize> = names.into_iter().filter(|at| !shared.contains(at)).collect();
    lines.extend(with_names(table, &others, width));
    lines
}

fn rendered(table: &Table, width: usize) -> Vec<String> {
    with_names(table, &names(table), width)
}

/// The columns that name rows, without the column whose values are groups.
fn names(table: &Table) -> Vec<usize> {
    let is_name = |at: &usize| table.columns[*at].kind == ColumnKind::Name && Some(*at) != across(table);
    table.shown(Audience::Everybody).into_iter().filter(is_name).collect()
}

fn across(table: &Table) -> Option<usize> {
    let key = table.across?;
    table.columns.iter().position(|column| column.key == key)
}

fn is_shared(table: &Table, at: usize) -> bool {
    table.rows.len() > 1 && table.rows.iter().all(|row| row[at] == table.rows[0][at])
}

fn with_names(table: &Table, names: &[usize], width: usize) -> Vec<String> {
    let is_value = |at: &usize| table.columns[*at].kind != ColumnKind::Name;
    let values: Vec<usize> = table.shown(Audience::Everybody).into_iter().filter(is_value).collect();
    let rows = rows(table);
    let labels_of = |row: &Vec<TableValue>| names.iter().map(|at| table.text(row, *at)).collect::<Vec<_>>();
    let labels = match across(table) {
        Some(_) => distinct(rows.iter().copied().map(labels_of)),
        None => rows.iter().copied().map(labels_of).collect(),
    };
    let cells = |row: &Vec<TableValue>| values.iter().map(|at| table.text(row, *at)).collect::<Vec<_>>();
    let groups = match across(table) {
        None => vec![ColumnGroup {
            title: String::new(),
            cells: rows.iter().copied().map(cells).collect(),
        }],
        Some(across) => {
            let titles = distinct(rows.iter().copied().map(|row| table.text(row, across)));
            let group = |title: &String| {
                let found = |label: &Vec<String>| {
                    let is_it = |row: &&Vec<TableValue>| table.text(row, across) == *title && labels_of(row) == *label;
                    let row = rows.iter().copied().find(is_it);
                    row.map_or_else(Vec::new, cells)
                };
                ColumnGroup {
                    title: shortened(title),
                    cells: labels.iter().map(found).collect(),
                }
            };
            titles.iter().map(group).collect()
        }
    };
    let headings: Vec<String> = names.iter().map(|at| table.columns[*at].heading.clone()).collect();
    let joined = joined(&headings, &labels);
    let grid = TableGrid {
        heading: joined[0].clone(),
        labels: joined[1..].to_vec(),
        columns: values.iter().map(|at| plain(&table.columns[*at].heading)).collect(),
        is_left: values.iter().map(|at| table.columns[*at].kind.is_text()).collect(),
        groups,
    };
    // Groups without a title have none above them.
    let untitled = usize::from(across(table).is_none());
    grid.render(width).into_iter().skip(untitled).collect()
}

/// All rows, or of many the first and the one that sums up.
fn rows(table: &Table) -> Vec<&Vec<TableValue>> {
    let all = table.rows.iter();
    match table.terminal_rows {
        Some(most) if most + 1 < table.rows.len() => all.clone().take(most).chain(all.last()).collect(),
        _ => all.collect(),
    }
}

/// Names in columns of their own; the headings first.
fn joined(headings: &[String], labels: &[Vec<String>]) -> Vec<String> {
    let all = || std::iter::once(headings).chain(labels.iter().map(Vec::as_slice));
    let width_of = |at: usize| all().map(|texts| texts[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..headings.len()).map(width_of).collect();
    let line = |texts: &[String]| {
        let padded: Vec<String> = std::iter::zip(texts, &widths)
            .map(|(text, width)| format!("{text:width$}"))
            .collect();
        padded.join(GAP).trim_end().to_string()
    };
    all().map(line).collect()
}
