//! A comparison as tables, one for each cell, the largest change first.

use super::figures::{probability, ratio, ratio_interval, signed, spread, value};
use super::{Shown, exact, word};
use crate::grid::{Grid, Group};
use crate::terminal::{Style, width};
use worstcase_base::format::plain;
use worstcase_results::compare::pair::Which;
use worstcase_results::compare::words::{Compared, JudgedChange};

const WIDTH: usize = 150;
const COLUMNS: [&str; 10] = [
    "A",
    "of seeds",
    "B",
    "of seeds",
    "difference",
    "interval",
    "ratio",
    "interval",
    "p",
    "said",
];

/// The whole report.
pub fn lines(shown: &Shown, style: Style) -> String {
    let mut out = vec![
        style.bold(&plain(&format!("A: {}", shown.head(Which::A)))),
        style.bold(&plain(&format!("B: {}", shown.head(Which::B)))),
        shown.summary(),
    ];
    for cell in &shown.comparison.cells {
        out.push(String::new());
        out.extend(table(cell, style));
    }
    if !shown.comparison.unmatched.is_empty() {
        out.push(String::new());
        out.push(style.bold("Not compared"));
        for cell in &shown.comparison.unmatched {
            let side = if cell.side == Which::A { "A" } else { "B" };
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
        "{} ({}; {a} against {b} seeds, intervals of {:.0} %)",
        pair.name(),
        pair.unit(),
        coverage * 100.0
    );
    let several = pair.several();
    let grid = Grid {
        heading: String::new(),
        labels: cell
            .said
            .iter()
            .map(|s| format!("  {}", s.change.name(several)))
            .collect(),
        columns: COLUMNS.map(String::from).to_vec(),
        groups: vec![Group {
            title: String::new(),
            cells: cell.said.iter().map(row).collect(),
        }],
    };
    let mut lines = vec![style.bold(&plain(&heading))];
    // A single group needs no title.
    lines.extend(grid.render(width(WIDTH)).into_iter().skip(1));
    lines.extend(exact(cell).map(|line| format!("  {line}")));
    if !pair.lacking.is_empty() {
        lines.push(format!(
            "  not compared, some seeds have none: {}",
            pair.lacking.join(", ")
        ));
    }
    lines
}

fn row(said: &JudgedChange) -> Vec<String> {
    let change = &said.change;
    let measure = change.measure;
    let (low, high) = (change.difference.low, change.difference.high);
    vec![
        value(measure, change.a.median),
        spread(measure, &change.a),
        value(measure, change.b.median),
        spread(measure, &change.b),
        signed(measure, change.difference.best),
        format!("{}..{}", signed(measure, low), signed(measure, high)),
        ratio(change.ratio.as_ref()),
        ratio_interval(change.ratio.as_ref()),
        probability(said.p_corrected),
        word(said.word),
    ]
}
