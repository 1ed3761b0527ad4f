//! A run as tables: subjects as rows, loads as groups of columns, a table for each probe and quantity.

use super::breakdown::terminal;
use super::foreign;
use super::labels::{mixed_versions, own_images, units};
pub use super::style::{Style, fitted, wrapped};
use super::{ReportView, claims, host, next, run_tables, table};
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::breakdown::spans::Mechanism;
use worstcase_base::format::{counted, grouped, plain, shell};
use worstcase_base::{distinct, duration};
use worstcase_results::claims::judged;
use worstcase_results::record::{LOST_EVENTS, LOST_LINES, Record, is_host};
use worstcase_results::verdict::{Criterion, Verdict};

/// The whole report.
pub fn run(view: &ReportView, style: Style) -> String {
    let mut out = vec![style.bold(&plain(&view.plan.title))];
    let measured = view.records.len();
    let planned = view.plan.cells.len();
    if measured < planned {
        out.push(format!(
            "{measured} of {planned} cells are measured; to go on: {}",
            plain(&shell(&view.to_go_on()))
        ));
    }
    out.extend(own_images(view.records));
    out.extend(mixed_versions(view.records));
    out.extend(host::origin(view.records).filter(|_| is_host(view.records)));
    let claims = judged(view.plan, view.records);
    if !claims.is_empty() {
        out.push(String::new());
        out.extend(claims::first_lines(&claims, &view.explanations.claims, style));
    }
    if let Some((criterion, verdicts)) = &view.verdicts {
        out.push(String::new());
        out.push(verdict_heading(criterion, view.records, style));
        out.extend(verdict_lines(verdicts, style));
    }
    out.extend(table::terminal::groups(&run_tables::timed(view), style));
    out.extend(run_tables::about_ensembles(view));
    out.extend(foreign::lines(view.records));
    out.extend(table::terminal::groups(&run_tables::of_probes(view), style));
    out.extend(losses(view.records));
    out.extend(table::terminal::groups(&run_tables::of_decision(view), style));
    if !claims.is_empty() {
        out.push(String::new());
        out.extend(claims::lines(&claims, style));
    }
    out.push(String::new());
    out.join("\n")
}

/// What follows from it: why the latest samples of subjects that failed were late, and what to do next.
pub fn after(view: &ReportView, why: &[Breakdown], style: Style) -> String {
    let mut out = Vec::new();
    let causes: Vec<Mechanism> = why.iter().map(|breakdown| breakdown.cause().mechanism).collect();
    for breakdown in why {
        out.extend([String::new(), style.bold("Why")]);
        out.push(terminal::in_short(breakdown, style).trim_end().to_string());
    }
    out.extend(next::lines(&next::next(view, &causes), style));
    out.push(String::new());
    out.join("\n")
}

/// Missed periods and warnings: nothing that was lost goes unsaid.
pub(super) fn losses(records: &[Record]) -> Vec<String> {
    let mut lines = Vec::new();
    let told = || records.iter().filter(|r| r.missed().is_some());
    // A probe that takes times of its own has no periods.
    let in_periods = told().filter(|r| r.details.is_none());
    let expected: u64 = in_periods.map(|r| r.accounting.expected()).sum();
    let most = |what: &str, of: fn(&Record) -> u64| {
        let some = || told().filter(|r| of(r) > 0);
        let total: u64 = some().map(of).sum();
        let worst = some().max_by_key(|r| of(r))?;
        Some(format!(
            "{} {what}, in {}; most in {} ({}).",
            grouped(total),
            counted(some().count() as u64, "cell"),
            worst.id,
            grouped(of(worst))
        ))
    };
    if expected > 0 || records.is_empty() {
        let of_periods = format!("of {}", counted(expected, "period"));
        lines.push(match most(&of_periods, |r| r.accounting.missed()) {
            Some(missed) => format!("Missed: {missed}"),
            None => format!("Missed: none {of_periods}."),
        });
    }
    // Samples that worstcase failed to keep say nothing about the machine, and are counted apart.
    let lost = most("samples or gaps, which nobody collected in time", |r| {
        r.accounting.lost()
    });
    lines.extend(lost.map(|text| format!("Lost while measuring: {text}")));
    for (key, what) in [
        (
            LOST_LINES,
            "lines of the timerlat tracer; an activation of which a line is lost is lost",
        ),
        (
            LOST_EVENTS,
            "events of the kernel's trace; what they would tell is unexplained",
        ),
    ] {
        let total: u64 = records
            .iter()
            .filter_map(|r| r.environment.get(key)?.parse::<u64>().ok())
            .sum();
        if total > 0 {
            lines.push(format!("Lost while measuring: {} {what}.", grouped(total)));
        }
    }
    for warning in distinct(records.iter().flat_map(|r| r.warnings.iter().map(String::as_str))) {
        let cells = records
            .iter()
            .filter(|r| r.warnings.iter().any(|w| w == warning))
            .count();
        lines.push(format!(
            "Warning in {cells} of {} cells: {}",
            records.len(),
            plain(warning)
        ));
    }
    lines
}

/// The heading of a verdict: what is judged.
pub(crate) fn verdict_heading(criterion: &Criterion, records: &[Record], style: Style) -> String {
    let units = units(records.iter().map(|r| &r.subject)).join(", ");
    let limit = duration::show(criterion.limit);
    let what = criterion.asked_of();
    style.bold(&format!("Verdict: is {what} within {limit}? (times are {units})"))
}

/// A line for each verdict, further reasons below it, and what limits it.
pub(crate) fn verdict_lines(verdicts: &[Verdict], style: Style) -> Vec<String> {
    let width = verdicts.iter().map(|v| v.subject.as_str().len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for verdict in verdicts {
        let first = verdict.reasons.first().map_or("", String::as_str);
        let subject = &verdict.subject;
        let outcome = style.outcome(verdict.outcome);
        lines.push(format!("  {subject:width$}  {outcome}  {}", plain(first)));
        let more = verdict.reasons.iter().skip(1).map(|reason| ("", reason));
        let but = verdict.reservations.iter().map(|reservation| ("but", reservation));
        for (lead, text) in more.chain(but) {
            lines.push(format!("  {:width$}  {lead:>12}  {}", "", plain(text)));
        }
    }
    lines
}
