//! A comparison for a pull request: what changed in a table, everything else to be opened.

use super::table::of_cells;
use super::{ShownComparison, exact};
use crate::markup::{commands, text};
use crate::table::markdown::figures;
use worstcase_base::format::shell;
use worstcase_results::compare::pair::ComparedSide;
use worstcase_results::compare::words::Compared;

/// The text.
pub fn lines(shown: &ShownComparison) -> String {
    let mut out = vec!["### worstcase compare".to_string(), String::new()];
    out.push(format!("**A** {}  ", text(&shown.head(ComparedSide::A))));
    out.push(format!("**B** {}", text(&shown.head(ComparedSide::B))));
    out.extend([String::new(), shown.summary(), String::new()]);
    let cells = &shown.comparison.cells;
    let changed = of_cells(String::new(), cells, |s| s.word.shown());
    if !changed.rows.is_empty() {
        out.extend(figures(&changed));
        out.push(String::new());
    }
    out.push("<details><summary>All measures</summary>".to_string());
    out.push(String::new());
    out.extend(figures(&of_cells(String::new(), cells, |_| true)));
    out.push(String::new());
    let exact = cells
        .iter()
        .filter_map(|c| Some(format!("- {}: {}", text(&c.pair.name()), exact(c)?)));
    out.extend(exact);
    let doubts = |c: &Compared| -> Vec<String> {
        let line = |doubt: &String| format!("- {}: {}", text(&c.pair.name()), text(doubt));
        c.pair.doubts.iter().map(line).collect()
    };
    out.extend(cells.iter().flat_map(doubts));
    out.extend([String::new(), "</details>".to_string(), String::new()]);
    let across = shown.across();
    if let Some((why, ranks)) = across.split_first() {
        out.extend([text(why), String::new()]);
        out.extend(ranks.iter().map(|line| format!("- {}", text(line))));
        out.push(String::new());
    }
    if !shown.comparison.unmatched.is_empty() {
        out.push("Not compared:".to_string());
        out.push(String::new());
        for cell in &shown.comparison.unmatched {
            let name = text(&format!(
                "{:?}: {}: {}: {}",
                cell.side,
                cell.subject,
                cell.how.name(),
                cell.why
            ));
            out.push(format!("- {name}"));
        }
        out.push(String::new());
    }
    for note in shown.notes() {
        out.push(format!("{note}  "));
    }
    out.push(String::new());
    let mut again = vec![shell(&shown.a.command), shell(&shown.b.command)];
    again.dedup();
    again.extend(shown.why.clone());
    out.push(commands(&again));
    out.push(String::new());
    out.join("\n")
}
