//! The gate for a pull request: what is worse on top and how to look into it, everything else to be opened.

use super::Shown;
use crate::compare::figures::{ratio, times, value};
use crate::markdown::{commands, table, text};
use std::collections::BTreeSet;
use worstcase_base::format::shell;
use worstcase_results::compare::gate::Cell;
use worstcase_results::compare::judged::Judged;
use worstcase_results::record::CellId;
use worstcase_results::verdict::Outcome;

/// The text.
pub fn lines(shown: &Shown) -> String {
    let mut out = vec![
        format!("### worstcase gate: {}", shown.outcome),
        String::new(),
        shown.summary(),
        String::new(),
    ];
    out.extend(worse(shown));
    let open = open(shown);
    if !open.is_empty() {
        out.extend(open.into_iter().map(|line| format!("- {line}")));
        out.push(String::new());
    }
    out.extend(look(shown));
    let summary = format!("All {} cells, and how they were judged", shown.gate.cells.len());
    let all: Vec<Vec<String>> = shown.gate.cells.iter().map(|cell| all(shown, cell)).collect();
    let mut rest = table(&["", "cell", "why"], 3, &all);
    rest.push(String::new());
    rest.extend(shown.new_cells().map(|line| format!("{}\n", text(&line))));
    rest.push(format!("{}.", text(&shown.rule())));
    out.extend(folded(&summary, rest));
    let again = commands(&[shell(&shown.run.command), shown.command.clone()]);
    out.extend(folded("To measure and judge it again", vec![again]));
    out.join("\n")
}

fn folded(summary: &str, lines: Vec<String>) -> Vec<String> {
    let head = [format!("<details><summary>{summary}</summary>"), String::new()];
    let tail = [String::new(), "</details>".to_string(), String::new()];
    head.into_iter().chain(lines).chain(tail).collect()
}

/// The table of what is worse.
fn worse(shown: &Shown) -> Vec<String> {
    let cells = || shown.gate.cells.iter();
    let units: BTreeSet<&str> = cells().filter(|c| is_worse(c)).map(|c| c.unit.as_str()).collect();
    let rows: Vec<Vec<String>> = cells().flat_map(|cell| rows(shown, cell, units.len() > 1)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let headings = ["", "cell", "measure", "typical seed", "worst seed"];
    let mut out = match shown.gate.limits.exact {
        true => table(&["", "cell", "measure", "worst seed"], 3, &rows),
        false => table(&headings, 3, &rows),
    };
    out.push(String::new());
    if let [unit] = units.into_iter().collect::<Vec<_>>()[..] {
        out.push(format!("Baseline → run, in {}. What is in bold decided.", text(unit)));
        out.push(String::new());
    }
    out
}

fn is_worse(cell: &Cell) -> bool {
    cell.measures.iter().any(|m| m.regression || m.worst_seed.beyond)
}

/// What is worse in a cell, a row each.
fn rows(shown: &Shown, cell: &Cell, with_unit: bool) -> Vec<Vec<String>> {
    let worse = cell.measures.iter().filter(|m| m.regression || m.worst_seed.beyond);
    let row = |(at, m): (usize, &Judged)| {
        let head = match at {
            0 => [cell.outcome.to_string(), name(cell)],
            _ => [String::new(), String::new()],
        };
        let unit = match with_unit {
            true => format!(" ({})", text(m.unit(&cell.unit))),
            false => String::new(),
        };
        let mut row = head.to_vec();
        row.push(format!("{}{unit}", m.name));
        if !shown.gate.limits.exact {
            row.push(typical(m));
        }
        row.push(worst(m));
        row
    };
    worse.enumerate().map(row).collect()
}

fn typical(m: &Judged) -> String {
    let by = m.change.ratio.as_ref().map(|shift| ratio(Some(shift)));
    changed(m, [m.change.a.median, m.change.b.median], by, m.regression)
}

fn worst(m: &Judged) -> String {
    let worst = &m.worst_seed;
    let by = worst.ratio.map(|r| format!("x{}", times(r)));
    changed(m, [worst.baseline, worst.run], by, worst.beyond)
}

fn changed(m: &Judged, values: [u64; 2], by: Option<String>, decided: bool) -> String {
    let [before, now] = values.map(|v| value(m.change.measure, v));
    let by = by.map_or(String::new(), |by| format!(", {by}"));
    // Spaces that do not break: a value stays in its line.
    let change = format!("{before} → {now}{by}").replace(' ', "\u{a0}");
    match decided {
        true => format!("**{change}**"),
        false => change,
    }
}

/// What a reader must know beside the table.
fn open(shown: &Shown) -> Vec<String> {
    let mut open: Vec<String> = shown.gate.reasons.iter().map(|r| text(r)).collect();
    let inconclusive = shown.gate.cells.iter().filter(|c| c.outcome == Outcome::Inconclusive);
    open.extend(inconclusive.map(|c| format!("INCONCLUSIVE {}: {}", name(c), text(&c.reasons.join("; ")))));
    if let Some((criterion, verdicts, _)) = &shown.criterion {
        let limit = worstcase_base::duration::show(criterion.limit);
        open.extend(verdicts.iter().map(|v| {
            let (subject, reasons) = (text(v.subject.as_str()), text(&v.reasons.join("; ")));
            format!("{} no latency above {limit}: {subject}: {reasons}", v.outcome)
        }));
    }
    open
}

/// The command that explains the worst sample of the first cell that is worse.
fn look(shown: &Shown) -> Vec<String> {
    let Some(cell) = shown.gate.cells.iter().find(|c| is_worse(c)) else {
        return Vec::new();
    };
    let beyond = cell.measures.iter().max_by(|x, y| {
        let size = |m: &Judged| (m.worst_seed.beyond, m.worst_seed.run);
        size(x).cmp(&size(y))
    });
    let seed = beyond.map_or(0, |m| m.worst_seed.seed);
    let id = CellId::new(&cell.subject, &cell.how.load, &cell.how.probe, seed, cell.how.cpu);
    let command = ["worstcase", "explain", shown.folder, "--cell", id.as_str()].map(String::from);
    vec![
        "What ran in the worst sample:".to_string(),
        String::new(),
        commands(&[shell(&command)]),
        String::new(),
    ]
}

fn name(cell: &Cell) -> String {
    text(&format!("{}: {}", cell.subject, cell.how.name()))
}

fn all(shown: &Shown, cell: &Cell) -> Vec<String> {
    let why: Vec<String> = shown.why(cell).iter().map(|line| text(line)).collect();
    vec![cell.outcome.to_string(), name(cell), why.join("<br>")]
}
