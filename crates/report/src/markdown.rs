//! `worstcase show --markdown`: a run's tables for an issue or a report.

use super::markup::{commands, text};
use super::table::markdown::{figures, lines};
use super::table::{ColumnKind, Table, TableGroup, TableValue, field, name};
use super::terminal::losses;
use super::{ReportView, run_tables, then_now};
use worstcase_base::duration;
use worstcase_base::format::shell;
use worstcase_results::published::compared;
use worstcase_results::verdict::Verdict;

/// The report of a run: the verdicts, all tables, lost samples, and the command that measures it again.
pub fn run(view: &ReportView) -> String {
    let mut out = vec![format!("### {}", text(&view.plan.title)), String::new()];
    if let Some((criterion, verdicts)) = &view.verdicts {
        out.push(format!("**No latency above {}**", duration::show(criterion.limit)));
        out.push(String::new());
        out.extend(verdict_table(verdicts));
        out.push(String::new());
    }
    out.extend(groups(&run_tables::timed(view)));
    out.extend(groups(&run_tables::of_probes(view)));
    out.extend(losses(view.records).iter().map(|line| format!("- {}", text(line))));
    out.push(String::new());
    out.extend(groups(&run_tables::of_decision(view)));
    for group in compared(view.plan, view.records) {
        let mut table = then_now::table(&group);
        table.notes = group.reasons.clone();
        table
            .notes
            .push(format!("{}; source: {}", group.verdict.name(), group.published.source));
        out.extend(lines(&table));
    }
    out.push(commands(&[shell(&view.command())]));
    out.push(String::new());
    out.join("\n")
}

fn groups(groups: &[TableGroup]) -> Vec<String> {
    let mut out = Vec::new();
    for group in groups {
        if !group.heading.is_empty() {
            out.extend([format!("#### {}", text(&group.heading)), String::new()]);
        }
        out.extend(group.lines.iter().map(|line| format!("{}  ", text(line))));
        out.push(String::new());
        out.extend(group.tables.iter().flat_map(lines));
    }
    out
}

fn verdict_table(verdicts: &[Verdict]) -> Vec<String> {
    let fields = [
        name("subject", "subject", |v: &Verdict| v.subject.to_string()),
        field(ColumnKind::Outcome, "outcome", "verdict", |v: &Verdict| v.outcome),
        field(ColumnKind::Text, "reasons", "why", |v: &Verdict| {
            TableValue::Lines(v.with_reservations())
        }),
    ];
    figures(&Table::new("verdicts", "", &fields, verdicts))
}
