//! The gate for a pull request: regressions and how to look into them on top, everything else to be opened.

use super::ShownGate;
use super::table::{name_of, of_cells};
use crate::compare::figures::{ratio, times, value};
use crate::markup::{commands, text};
use crate::table::markdown::figures;
use crate::table::{ColumnKind, Table, TableValue, field, name};
use std::collections::BTreeSet;
use worstcase_base::format::shell;
use worstcase_results::compare::gate::GateCell;
use worstcase_results::compare::judged::JudgedMeasure;
use worstcase_results::record::CellId;
use worstcase_results::verdict::Outcome;

/// The text.
pub fn lines(shown: &ShownGate) -> String {
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
    let mut rest = figures(&of_cells(&shown.gate.cells, shown.gate.limits));
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

/// The table of regressions.
fn worse(shown: &ShownGate) -> Vec<String> {
    let worse: Vec<&GateCell> = shown.gate.cells.iter().filter(|c| is_worse(c)).collect();
    let units: BTreeSet<&str> = worse.iter().map(|c| c.unit.as_str()).collect();
    let rows: Vec<WorseRow> = worse.iter().flat_map(|cell| WorseRow::rows(cell)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let with_unit = units.len() > 1;
    let mut fields = vec![
        field(ColumnKind::Outcome, "outcome", "", |row: &WorseRow| {
            match row.is_first {
                true => row.cell.outcome.into(),
                false => TableValue::from(""),
            }
        }),
        name("cell", "cell", |row: &WorseRow| {
            if row.is_first { name_of(row.cell) } else { String::new() }
        }),
        name("measure", "measure", move |row: &WorseRow| match with_unit {
            true => format!("{} ({})", row.judged.name, row.judged.unit(&row.cell.unit)),
            false => row.judged.name.to_string(),
        }),
    ];
    if !shown.gate.limits.exact {
        fields.push(field(
            ColumnKind::Words,
            "typical_seed",
            "typical seed",
            |row: &WorseRow| typical(row.judged),
        ));
    }
    fields.push(field(
        ColumnKind::Words,
        "worst_seed",
        "worst seed",
        |row: &WorseRow| worst(row.judged),
    ));
    let mut out = figures(&Table::new("worse", "", &fields, &rows));
    out.push(String::new());
    if let [unit] = units.into_iter().collect::<Vec<_>>()[..] {
        out.push(format!("Baseline → run, in {}. What is in bold decided.", text(unit)));
        out.push(String::new());
    }
    out
}

fn is_worse(cell: &GateCell) -> bool {
    cell.measures.iter().any(|m| m.regression || m.worst_seed.beyond)
}

/// A measure that is worse.
struct WorseRow<'a> {
    cell: &'a GateCell,
    judged: &'a JudgedMeasure,
    /// The first row of its cell, which is named once.
    is_first: bool,
}

impl WorseRow<'_> {
    /// The regressions of a cell, a row each.
    fn rows(cell: &GateCell) -> impl Iterator<Item = WorseRow<'_>> {
        let worse = cell.measures.iter().filter(|m| m.regression || m.worst_seed.beyond);
        worse.enumerate().map(move |(nth, judged)| WorseRow {
            cell,
            judged,
            is_first: nth == 0,
        })
    }
}

fn typical(m: &JudgedMeasure) -> TableValue {
    let by = m.change.ratio.as_ref().map(|shift| ratio(Some(shift)));
    changed(m, [m.change.a.median, m.change.b.median], by, m.regression)
}

fn worst(m: &JudgedMeasure) -> TableValue {
    let worst = &m.worst_seed;
    let by = worst.ratio.map(|r| format!("x{}", times(r)));
    changed(m, [worst.baseline, worst.run], by, worst.beyond)
}

fn changed(m: &JudgedMeasure, values: [u64; 2], by: Option<String>, decided: bool) -> TableValue {
    let [before, now] = values.map(|v| value(m.change.measure, v));
    let by = by.map_or(String::new(), |by| format!(", {by}"));
    // Spaces that do not break: a value stays in its line.
    let change = format!("{before} → {now}{by}").replace(' ', "\u{a0}");
    match decided {
        true => TableValue::Decisive(Box::new(change.into())),
        false => TableValue::Text(change),
    }
}

/// Facts that a reader must know beside the table.
fn open(shown: &ShownGate) -> Vec<String> {
    let mut open: Vec<String> = shown.gate.reasons.iter().map(|r| text(r)).collect();
    let inconclusive = shown.gate.cells.iter().filter(|c| c.outcome == Outcome::Inconclusive);
    open.extend(inconclusive.map(|c| format!("INCONCLUSIVE {}: {}", text(&name_of(c)), text(&c.reasons.join("; ")))));
    if let Some((criterion, verdicts, _)) = &shown.criterion {
        let asked = criterion.words();
        open.extend(verdicts.iter().map(|v| {
            let (subject, reasons) = (text(v.subject.as_str()), text(&v.with_reservations().join("; ")));
            format!("{} {asked}: {subject}: {reasons}", v.outcome)
        }));
    }
    open
}

/// The command that explains the worst sample of the first cell that is worse.
pub(super) fn explaining(shown: &ShownGate) -> Option<String> {
    let cell = shown.gate.cells.iter().find(|c| is_worse(c))?;
    let beyond = cell.measures.iter().max_by(|x, y| {
        let size = |m: &JudgedMeasure| (m.worst_seed.beyond, m.worst_seed.run);
        size(x).cmp(&size(y))
    });
    let seed = beyond.map_or(0, |m| m.worst_seed.seed);
    let mut command = ["worstcase", "explain"].map(String::from).to_vec();
    match &shown.folders[..] {
        [folder] => {
            let id = CellId::new(&cell.subject, &cell.how.load, &cell.how.probe, seed, cell.how.cpu);
            command.extend([folder.clone(), "--cell".into(), id.as_str().into()]);
        }
        several => command.extend(several.get((seed as usize).saturating_sub(1)).cloned()),
    }
    Some(shell(&command))
}

fn look(shown: &ShownGate) -> Vec<String> {
    let Some(command) = explaining(shown) else {
        return Vec::new();
    };
    vec![
        "What ran in the worst sample:".to_string(),
        String::new(),
        commands(&[command]),
        String::new(),
    ]
}
