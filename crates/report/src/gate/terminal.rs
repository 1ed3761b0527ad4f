//! The gate for people: the worst cells first.

use super::ShownGate;
use crate::terminal::{Style, verdict_heading, verdict_lines};
use worstcase_base::format::plain;

/// The whole report.
pub fn lines(shown: &ShownGate, style: Style) -> String {
    let mut out = vec![
        style.bold(&plain(&format!("Gate: {}", shown.run.title))),
        format!("{} {}", style.outcome(shown.outcome).trim_end(), shown.summary()),
    ];
    out.extend(shown.gate.reasons.iter().map(|r| plain(r)));
    out.push(String::new());
    let name =
        |cell: &worstcase_results::compare::gate::GateCell| plain(&format!("{}: {}", cell.subject, cell.how.name()));
    let width = shown
        .gate
        .cells
        .iter()
        .map(|c| name(c).chars().count())
        .max()
        .unwrap_or(0);
    for cell in &shown.gate.cells {
        let mut lines = shown.why(cell).into_iter();
        let first = lines.next().unwrap_or_default();
        out.push(format!(
            "  {:width$}  {}  {}",
            name(cell),
            style.outcome(cell.outcome),
            plain(&first)
        ));
        out.extend(lines.map(|line| format!("  {:width$}  {:12}  {}", "", "", plain(&line))));
    }
    out.extend(shown.new_cells().map(|line| format!("  {}", plain(&line))));
    if let Some((criterion, verdicts, records)) = &shown.criterion {
        out.push(String::new());
        out.push(verdict_heading(criterion, records, style));
        out.extend(verdict_lines(verdicts, style));
    }
    out.push(String::new());
    out.push(shown.rule());
    out.push(String::new());
    out.join("\n")
}
