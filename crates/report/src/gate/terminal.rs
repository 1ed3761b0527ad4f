//! The gate for people: the worst cells first.

use super::ShownGate;
use super::markdown::explaining;
use super::table::of_cells;
use crate::style::Style;
use crate::table::terminal::listed;
use crate::terminal::{verdict_heading, verdict_lines};
use worstcase_base::format::plain;

/// The whole report.
pub fn lines(shown: &ShownGate, style: Style) -> String {
    let mut out = vec![
        style.bold(&plain(&format!("Gate: {}", shown.run.title))),
        format!("{} {}", style.outcome(shown.outcome).trim_end(), shown.summary()),
    ];
    out.extend(shown.gate.reasons.iter().map(|r| plain(r)));
    out.push(String::new());
    out.extend(listed(&of_cells(&shown.gate.cells, shown.gate.limits), style));
    out.extend(shown.new_cells().map(|line| format!("  {}", plain(&line))));
    if let Some((criterion, verdicts, records)) = &shown.criterion {
        out.push(String::new());
        out.push(verdict_heading(criterion, records, style));
        out.extend(verdict_lines(verdicts, style));
    }
    out.push(String::new());
    out.push(shown.rule());
    if let Some(command) = explaining(shown) {
        out.extend([String::new(), style.bold("Next")]);
        out.push("  what ran in the worst sample".into());
        out.push(format!("    {}", plain(&command)));
    }
    out.push(String::new());
    out.join("\n")
}
