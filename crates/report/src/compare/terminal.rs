//! A comparison as tables, one for each cell, the largest change first.

use super::table::of_cells;
use super::{ShownComparison, exact};
use crate::style::Style;
use crate::table::terminal::lines_within;
use worstcase_base::format::plain;
use worstcase_results::compare::pair::ComparedSide;
use worstcase_results::compare::words::Compared;

/// Widest line: a change has more columns than other tables.
const WIDTH: usize = 150;

/// The whole report.
pub fn lines(shown: &ShownComparison, style: Style) -> String {
    let mut out = vec![
        style.bold(&plain(&format!("A: {}", shown.head(ComparedSide::A)))),
        style.bold(&plain(&format!("B: {}", shown.head(ComparedSide::B)))),
        shown.summary(),
    ];
    for cell in &shown.comparison.cells {
        out.push(String::new());
        out.extend(table(cell, style));
    }
    for (nth, line) in shown.across().iter().enumerate() {
        out.extend((nth == 0).then(String::new));
        out.push(plain(&if nth == 0 { line.clone() } else { format!("  {line}") }));
    }
    if !shown.comparison.unmatched.is_empty() {
        out.push(String::new());
        out.push(style.bold("Not compared"));
        for cell in &shown.comparison.unmatched {
            let side = if cell.side == ComparedSide::A { "A" } else { "B" };
            out.push(plain(&format!(
                "  {side}: {}: {}: {}",
                cell.subject,
                cell.how.name(),
                cell.why
            )));
        }
    }
    out.push(String::new());
    out.extend(shown.notes());
    if let Some(command) = &shown.why {
        out.push(plain(&format!("Why the largest worsening: {command}")));
    }
    out.push(String::new());
    out.join("\n")
}

fn table(cell: &Compared, style: Style) -> Vec<String> {
    let pair = &cell.pair;
    let coverage = cell.said.first().map_or(0.0, |s| s.change.difference.coverage);
    let [a, b] = pair.seeds;
    let heading = format!(
        "{} ({}; {a} against {b} {}, intervals of {:.0} %)",
        pair.name(),
        pair.unit(),
        pair.replicates.noun(),
        coverage * 100.0
    );
    let mut lines = lines_within(&of_cells(heading, [cell], |_| true), style, WIDTH);
    lines.extend(pair.doubts.iter().map(|doubt| format!("  {}", plain(doubt))));
    lines.extend(exact(cell).map(|line| format!("  {line}")));
    if !pair.lacking.is_empty() {
        lines.push(format!(
            "  not compared, some {} have none: {}",
            pair.replicates.noun(),
            pair.lacking.join(", ")
        ));
    }
    lines
}
