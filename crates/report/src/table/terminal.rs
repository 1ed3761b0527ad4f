//! Aligned text.

use super::grid::{Grid, Group};
use super::{Audience, ColumnKind, Table, TableGroup, TableValue};
use crate::breakdown::terminal::cut;
use crate::terminal::{Style, WIDTH, shortened, width};
use worstcase_base::distinct;
use worstcase_base::format::plain;

/// Between two names of a row.
const GAP: &str = "  ";

/// Title, lines above, figures, lines below.
pub fn lines(table: &Table, style: Style) -> Vec<String> {
    lines_within(table, style, WIDTH)
}

/// The same, at most `most` characters wide.
pub fn lines_within(table: &Table, style: Style, most: usize) -> Vec<String> {
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

/// The headings and rows alone, each row with what there is to say of it below; longer lines are cut.
pub fn figures_with(table: &Table, below: impl Fn(usize) -> Vec<String>) -> Vec<String> {
    let mut lines = rendered(table, usize::MAX).into_iter().map(|line| cut(&line));
    let mut out: Vec<String> = lines.next().into_iter().collect();
    for (nth, line) in lines.enumerate() {
        out.push(line);
        out.extend(below(nth));
    }
    out
}

/// The headings and rows alone.
pub fn figures(table: &Table, most: usize) -> Vec<String> {
    rendered(table, width(most))
}

fn rendered(table: &Table, width: usize) -> Vec<String> {
    let shown = table.shown(Audience::Everybody);
    let is = |at: &usize, kind: ColumnKind| table.columns[*at].kind == kind;
    let across = table
        .across
        .and_then(|key| shown.iter().copied().find(|at| table.columns[*at].key == key));
    let names: Vec<usize> = shown
        .iter()
        .copied()
        .filter(|at| is(at, ColumnKind::Name) && Some(*at) != across)
        .collect();
    let values: Vec<usize> = shown.iter().copied().filter(|at| !is(at, ColumnKind::Name)).collect();
    let rows = rows(table);
    let labels_of = |row: &Vec<TableValue>| names.iter().map(|at| table.text(row, *at)).collect::<Vec<_>>();
    let labels = match across {
        Some(_) => distinct(rows.iter().copied().map(labels_of)),
        None => rows.iter().copied().map(labels_of).collect(),
    };
    let cells = |row: &Vec<TableValue>| values.iter().map(|at| table.text(row, *at)).collect::<Vec<_>>();
    let groups = match across {
        None => vec![Group {
            title: String::new(),
            cells: rows.iter().copied().map(cells).collect(),
        }],
        Some(across) => {
            let titles = distinct(rows.iter().copied().map(|row| table.text(row, across)));
            let group = |title: &String| {
                let found = |label: &Vec<String>| {
                    let is_it = |row: &&Vec<TableValue>| table.text(row, across) == *title && labels_of(row) == *label;
                    let row = rows.iter().copied().find(is_it);
                    row.map_or_else(|| vec!["-".to_string(); values.len()], cells)
                };
                Group {
                    title: shortened(title),
                    cells: labels.iter().map(found).collect(),
                }
            };
            titles.iter().map(group).collect()
        }
    };
    let headings: Vec<String> = names.iter().map(|at| table.columns[*at].heading.clone()).collect();
    let joined = joined(&headings, &labels);
    let grid = Grid {
        heading: joined[0].clone(),
        labels: joined[1..].to_vec(),
        columns: values.iter().map(|at| plain(&table.columns[*at].heading)).collect(),
        is_left: values.iter().map(|at| table.columns[*at].kind.is_text()).collect(),
        groups,
    };
    // Groups without a title have none above them.
    let untitled = usize::from(across.is_none());
    grid.render(width).into_iter().skip(untitled).collect()
}

/// All, or of many the first and the one that sums up.
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
