//! A run as tables: subjects as rows, loads as groups of columns, a table for each probe and quantity.

use super::foreign;
use super::{ReportView, host, run_tables, table, then_now};
use std::collections::BTreeSet;
use std::io::IsTerminal;
pub(super) use worstcase_base::distinct;
use worstcase_base::duration;
use worstcase_base::format::{counted, grouped, plain, range, shell};
use worstcase_results::published::{Agreement, compared};
use worstcase_results::record::{LOST_EVENTS, LOST_LINES, Record, Subject, is_host};
use worstcase_results::stats::Ensemble;
use worstcase_results::verdict::{Criterion, Outcome, Verdict};

/// Widest line of a table.
pub(super) const WIDTH: usize = 120;

/// How text may look.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// Nothing but text.
    pub const PLAIN: Style = Style { colour: false };

    /// Colour on a terminal, unless `NO_COLOR` is set (no-color.org) or the terminal is `dumb`.
    pub fn of_stdout() -> Style {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        Style {
            colour: std::io::stdout().is_terminal() && !refused && !dumb,
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }

    /// A heading.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A verdict's word, told apart without colour too.
    pub fn outcome(self, outcome: Outcome) -> String {
        let code = match outcome {
            Outcome::Pass => "32",
            Outcome::Inconclusive => "33",
            Outcome::Fail => "1;31",
        };
        self.paint(code, &format!("{outcome:<12}"))
    }

    /// Whether ours agree with what is published.
    pub fn agreement(self, agreement: Agreement) -> String {
        let code = match agreement {
            Agreement::Agrees => "32",
            Agreement::CannotBeCompared => "33",
            Agreement::Differs => "1;31",
        };
        self.paint(code, agreement.name())
    }
}

/// How wide a table may be: no wider than the terminal that it goes to.
pub(super) fn width(most: usize) -> usize {
    columns().map_or(most, |columns| columns.clamp(LEAST, most))
}

/// Narrower terminals break what they like.
const LEAST: usize = 40;

/// Of the terminal that standard output is.
fn columns() -> Option<usize> {
    let out = std::io::stdout();
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(out).ok())??;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// Text with its long lines broken between words, if it goes to a terminal.
pub fn fitted(text: &str) -> String {
    match columns() {
        Some(columns) => fitted_to(text, columns.max(LEAST)),
        None => text.to_string(),
    }
}

fn fitted_to(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        // Colours take no room; what is aligned is a table's.
        if seen(line.trim_end()) <= width || bare.contains("  ") {
            out.push_str(line);
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let mut used = indent;
        out.push_str(&line[..indent]);
        for (nth, word) in bare.split(' ').enumerate() {
            if nth > 0 && used + 1 + seen(word) > width {
                used = indent + 2;
                out.push_str(&format!("\n{:used$}", ""));
            } else if nth > 0 {
                used += 1;
                out.push(' ');
            }
            used += seen(word);
            out.push_str(word);
        }
        out.push_str(if line.ends_with('\n') { "\n" } else { "" });
    }
    out
}

/// Characters that are seen: all but escape sequences that colour.
fn seen(text: &str) -> usize {
    let mut escaped = false;
    let is_seen = |c: char| match (escaped, c) {
        (true, _) => {
            escaped = c != 'm';
            false
        }
        (false, '\x1b') => {
            escaped = true;
            false
        }
        _ => true,
    };
    text.chars().map(is_seen).filter(|seen| *seen).count()
}

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
    out.extend(host::origin(view.records).filter(|_| is_host(view.records)));
    out.extend(table::terminal::groups(&run_tables::timed(view), style));
    out.extend(run_tables::about_ensembles(view));
    out.extend(foreign::lines(view.records));
    out.extend(table::terminal::groups(&run_tables::of_probes(view), style));
    out.extend(losses(view.records));
    if let Some((criterion, verdicts)) = &view.verdicts {
        out.push(String::new());
        out.push(verdict_heading(criterion, view.records, style));
        out.extend(verdict_lines(verdicts, style));
    }
    out.extend(table::terminal::groups(&run_tables::of_decision(view), style));
    if !view.plan.published.is_empty() {
        out.push(String::new());
        out.extend(then_now::lines(&compared(view.plan, view.records), style));
    }
    out.push(String::new());
    out.join("\n")
}

/// Kernel and preemption model, and the machine where it is not the default one.
pub(super) fn row_label(subject: &Subject) -> String {
    let id = subject.id();
    let label = &subject.kernel.label;
    plain(&match id.as_str().strip_prefix(&format!("{label}.")) {
        Some(rest) => format!("{label} {}", rest.replace('.', " ")),
        None => id.to_string(),
    })
}

/// The clocks of these subjects.
pub(super) fn units<'a>(subjects: impl Iterator<Item = &'a Subject>) -> Vec<String> {
    let units: BTreeSet<String> = subjects.map(Subject::time_unit).collect();
    units.into_iter().collect()
}

/// On how much the numbers of a table rest.
pub(super) fn observation_time(all: &[Ensemble]) -> String {
    fn span<T: Ord + Copy>(all: &[Ensemble], of: fn(&Ensemble) -> T, show: fn(T) -> String) -> String {
        let values: BTreeSet<T> = all.iter().map(of).collect();
        let ends = values.first().zip(values.last());
        ends.map_or(String::new(), |(low, high)| range(*low, *high, show))
    }
    format!(
        "each figure rests on: seeds {}; samples {}; observation time {}",
        span(all, |e| e.seeds.len(), |n| n.to_string()),
        span(all, Ensemble::taken, grouped),
        span(all, Ensemble::observation_time, duration::show)
    )
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
    // What we failed to keep says nothing of the machine, and is told apart.
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

/// What is judged.
pub fn verdict_heading(criterion: &Criterion, records: &[Record], style: Style) -> String {
    let units = units(records.iter().map(|r| &r.subject)).join(", ");
    let limit = duration::show(criterion.limit);
    style.bold(&format!("Verdict: no latency above {limit} (times are {units})"))
}

/// A line for each verdict, further reasons below it.
pub fn verdict_lines(verdicts: &[Verdict], style: Style) -> Vec<String> {
    let width = verdicts.iter().map(|v| v.subject.as_str().len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for verdict in verdicts {
        let first = verdict.reasons.first().map_or("", String::as_str);
        let subject = &verdict.subject;
        let outcome = style.outcome(verdict.outcome);
        lines.push(format!("  {subject:width$}  {outcome}  {}", plain(first)));
        for reason in verdict.reasons.iter().skip(1) {
            lines.push(format!("  {:width$}  {:12}  {}", "", "", plain(reason)));
        }
    }
    lines
}

pub(super) fn shortened(title: &str) -> String {
    match title.chars().count() {
        0..=28 => title.to_string(),
        _ => title.chars().take(27).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        let text = "\x1b[1mshort\x1b[0m\n  Missed: 3 of 1 000 periods, in 6.1.0-56-amd64.none.idle.s1 (3).\na  table  that is wider than all of it\n";
        let fitted = fitted_to(text, 34);
        assert_eq!(
            fitted,
            "\x1b[1mshort\x1b[0m\n  Missed: 3 of 1 000 periods, in\n    6.1.0-56-amd64.none.idle.s1\n    (3).\na  table  that is wider than all of it\n"
        );
        assert_eq!(fitted_to(text, 200), text);
        assert_eq!(seen("\x1b[1;31mFAIL\x1b[0m"), 4);
    }
}
