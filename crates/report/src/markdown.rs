//! `worstcase show --markdown`: a run's tables for an issue or a report.

use super::markup::{commands, text};
use super::table::markdown::{figures, lines};
use super::table::{ColumnKind, Table, TableGroup, TableValue, field, name};
use super::terminal::losses;
use super::{ReportView, claims, run_tables};
use worstcase_base::format::shell;
use worstcase_results::claims::{JudgedClaim, JudgedPair, judged};
use worstcase_results::verdict::Verdict;

/// The report of a run: the verdicts, all tables, lost samples, and the command that measures it again.
pub fn run(view: &ReportView) -> String {
    let mut out = vec![format!("### {}", text(&view.plan.title)), String::new()];
    let claims = judged(view.plan, view.records);
    if !claims.is_empty() {
        out.extend([format!("**{}**", text(&claims::summary(&claims))), String::new()]);
        let line = |claim: &JudgedClaim| format!("- {}: {}", claim.verdict.name(), text(&claim.claim.says));
        out.extend(claims.iter().map(line));
        out.push(String::new());
    }
    if let Some((criterion, verdicts)) = &view.verdicts {
        out.push(format!("**{}**", criterion.title()));
        out.push(String::new());
        out.extend(verdict_table(verdicts));
        out.push(String::new());
    }
    out.extend(groups(&run_tables::timed(view)));
    out.extend(groups(&run_tables::of_probes(view)));
    out.extend(losses(view.records).iter().map(|line| format!("- {}", text(line))));
    out.push(String::new());
    out.extend(groups(&run_tables::of_decision(view)));
    for judged in &claims {
        let mut table = claims::table(judged);
        table.notes = judged
            .pairs
            .iter()
            .map(JudgedPair::words)
            .chain(judged.missing.clone())
            .collect();
        table.notes.push(format!(
            "{}; source: {}",
            judged.verdict.name(),
            judged.claim.origin.words()
        ));
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
