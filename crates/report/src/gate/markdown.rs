//! The gate for a pull request: what is worse on top, everything else to be opened, and the commands that repeat it.

use super::{Shown, why};
use crate::compare::figures::{probability, ratio, ratio_interval, value};
use crate::markdown::{commands, table, text};
use worstcase_base::format::shell;
use worstcase_results::compare::gate::{Cell, Judged};
use worstcase_results::verdict::Outcome;

const HEADINGS: [&str; 8] = ["", "subject", "cell", "measure", "baseline", "run", "change", "p"];
const LEFT: usize = 4;

/// The text.
pub fn lines(shown: &Shown) -> String {
    let mut out = vec![
        format!("### worstcase gate: {}", shown.outcome),
        String::new(),
        shown.summary(),
        String::new(),
    ];
    let worse: Vec<Vec<String>> = shown
        .gate
        .cells
        .iter()
        .flat_map(|c| rows(c, |m| m.regression))
        .collect();
    if !worse.is_empty() {
        out.extend(table(&HEADINGS, LEFT, &worse));
        out.push(String::new());
    }
    let mut open: Vec<String> = shown.gate.reasons.iter().map(|r| text(r)).collect();
    let inconclusive = shown.gate.cells.iter().filter(|c| c.outcome == Outcome::Inconclusive);
    open.extend(inconclusive.map(|c| format!("{}: {}", name(c), text(&c.reasons.join("; ")))));
    if let Some((criterion, verdicts, _)) = &shown.criterion {
        let limit = worstcase_base::duration::show(criterion.limit);
        open.extend(verdicts.iter().map(|v| {
            let reasons = text(&v.reasons.join("; "));
            format!(
                "no latency above {limit}: {} {}: {reasons}",
                text(v.subject.as_str()),
                v.outcome
            )
        }));
    }
    if !open.is_empty() {
        out.extend(open.into_iter().map(|line| format!("- {line}")));
        out.push(String::new());
    }
    out.push(format!(
        "<details><summary>All {} cells</summary>",
        shown.gate.cells.len()
    ));
    out.push(String::new());
    out.extend(table(
        &["", "cell", "why"],
        3,
        &shown.gate.cells.iter().map(all).collect::<Vec<_>>(),
    ));
    out.push(String::new());
    out.extend(shown.new_cells().map(|line| format!("{}\n", text(&line))));
    out.push(format!("{}.", text(&shown.rule())));
    out.extend([
        String::new(),
        "</details>".to_string(),
        String::new(),
        "Again:".to_string(),
        String::new(),
    ]);
    out.push(commands(&[shell(&shown.run.command), shown.command.clone()]));
    out.push(String::new());
    out.join("\n")
}

fn name(cell: &Cell) -> String {
    text(&format!("{}: {}", cell.subject, cell.how.name()))
}

fn all(cell: &Cell) -> Vec<String> {
    vec![cell.outcome.to_string(), name(cell), text(&why(cell).join("; "))]
}

fn rows(cell: &Cell, wanted: fn(&Judged) -> bool) -> Vec<Vec<String>> {
    let row = |m: &Judged| {
        let (change, measure) = (&m.change, m.change.measure);
        let by = match change.ratio.as_ref() {
            Some(shift) => format!("{} ({})", ratio(Some(shift)), ratio_interval(Some(shift))),
            None => "-".to_string(),
        };
        let unit = if change.quantity.is_some() {
            &cell.unit
        } else {
            "periods"
        };
        vec![
            cell.outcome.to_string(),
            text(cell.subject.as_str()),
            text(&cell.how.name()),
            format!("{} ({})", m.name, text(unit)),
            value(measure, change.a.median),
            value(measure, change.b.median),
            by,
            probability(m.p_corrected),
        ]
    };
    cell.measures.iter().filter(|m| wanted(m)).map(row).collect()
}
