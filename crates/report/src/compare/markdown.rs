//! A comparison for a pull request: what changed in a table, everything else to be opened.

use super::figures::{probability, ratio, ratio_interval, signed, value};
use super::{Shown, exact, word};
use crate::markdown::{commands, table, text};
use worstcase_base::format::shell;
use worstcase_results::compare::pair::Which;
use worstcase_results::compare::words::{Compared, JudgedChange, Word};

/// The text.
pub fn lines(shown: &Shown) -> String {
    let mut out = vec!["### worstcase compare".to_string(), String::new()];
    out.push(format!("**A** {}  ", text(&shown.head(Which::A))));
    out.push(format!("**B** {}", text(&shown.head(Which::B))));
    out.extend([String::new(), shown.summary(), String::new()]);
    let cells = &shown.comparison.cells;
    let changed = rows(cells, |s| matches!(s.word, Word::Better | Word::Worse));
    if !changed.is_empty() {
        out.extend(table(&HEADINGS, LEFT, &changed));
        out.push(String::new());
    }
    out.push("<details><summary>All measures</summary>".to_string());
    out.push(String::new());
    out.extend(table(&HEADINGS, LEFT, &rows(cells, |_| true)));
    out.push(String::new());
    let exact = cells
        .iter()
        .filter_map(|c| Some(format!("- {}: {}", text(&c.pair.name()), exact(c)?)));
    out.extend(exact);
    out.extend([String::new(), "</details>".to_string(), String::new()]);
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

const HEADINGS: [&str; 9] = [
    "said",
    "subject",
    "cell",
    "measure",
    "A",
    "B",
    "difference",
    "ratio",
    "p",
];
const LEFT: usize = 4;

fn rows(cells: &[Compared], wanted: fn(&JudgedChange) -> bool) -> Vec<Vec<String>> {
    let of = |cell: &Compared| {
        let several = cell.pair.several();
        let row = |said: &JudgedChange| {
            let (change, measure) = (&said.change, said.change.measure);
            let ratio = match change.ratio.as_ref() {
                Some(shift) => format!("{} ({})", ratio(Some(shift)), ratio_interval(Some(shift))),
                None => "-".to_string(),
            };
            vec![
                word(said.word),
                text(&cell.pair.subjects()),
                text(&cell.pair.how.name()),
                change.name(several),
                value(measure, change.a.median),
                value(measure, change.b.median),
                signed(measure, change.difference.best),
                ratio,
                probability(said.p_corrected),
            ]
        };
        cell.said.iter().filter(|s| wanted(s)).map(row).collect::<Vec<_>>()
    };
    cells.iter().flat_map(of).collect()
}
