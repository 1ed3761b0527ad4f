//! What `noise` saw, in the words of rtla's osnoise: noise, max single noise, CPU available, and the causes.

use super::View;
use super::grid::{Grid, Group};
use super::host::{grid, row_name};
use super::terminal::{Style, WIDTH, distinct, row_label, shortened, units, width};
use serde_json::{Value, json};
use worstcase_base::duration;
use worstcase_base::format::{grouped, micros, plain};
use worstcase_contract::Nanos;
use worstcase_results::record::{Gaps, Record, SubjectId};

/// A row a CPU, one of all together, and what took the CPU away.
pub(super) fn tables(records: &[&Record], style: Style) -> Vec<String> {
    let all = together(records.iter().filter_map(|r| r.accounting.gaps().copied()));
    let mut lines = vec![String::new()];
    lines.extend(by_cpu(records, &all, style));
    if records.iter().all(|r| r.foreign.is_none()) {
        lines.push(String::new());
        lines.extend(by_cause(records, &all, style));
    }
    lines
}

/// The lab's: subjects as rows, loads as groups of columns; of all seeds together.
pub(super) fn lab_table(view: &View, style: Style) -> Vec<String> {
    let records = || view.records.iter().filter(|r| r.accounting.gaps().is_some());
    let subjects = distinct(records().map(|r| r.subject.id()));
    let row = |load: &str, id: &SubjectId| {
        let of = records().filter(|r| r.cell.load == load && r.subject.id() == *id);
        let gaps: Vec<Gaps> = of.filter_map(|r| r.accounting.gaps().copied()).collect();
        match gaps.is_empty() {
            true => vec!["-".to_string(); 3],
            false => {
                let all = together(gaps.into_iter());
                let a_second = all.gaps as f64 * 1e9 / all.observed_ns.max(1) as f64;
                let noise = micros(Nanos(all.noise_ns_a_second()));
                vec![format!("{a_second:.0}"), noise, micros(Nanos(all.max_single_ns))]
            }
        }
    };
    let label = |id: &SubjectId| {
        let subject = records().map(|r| &r.subject).find(|s| s.id() == *id);
        subject.map_or_else(|| id.to_string(), row_label)
    };
    let grid = Grid {
        heading: "subject".into(),
        labels: subjects.iter().map(label).collect(),
        columns: ["gaps", "noise", "max single"].map(String::from).to_vec(),
        groups: distinct(records().map(|r| r.cell.load.as_str()))
            .into_iter()
            .map(|load| Group {
                title: shortened(&plain(load)),
                cells: subjects.iter().map(|id| row(load, id)).collect(),
            })
            .collect(),
    };
    let units = units(records().map(|r| &r.subject)).join(", ");
    let heading = format!("noise: gaps in a thread that never sleeps, and their time, a second; the longest ({units})");
    let mut lines = vec![style.bold(&heading), String::new()];
    lines.extend(grid.render(width(WIDTH)));
    lines.push(String::new());
    lines.push("What came in them, and who sent it: worstcase explain RUN".into());
    lines
}

fn together(several: impl Iterator<Item = Gaps>) -> Gaps {
    several.fold(Gaps::default(), |a, b| Gaps {
        observed_ns: a.observed_ns.saturating_add(b.observed_ns),
        gaps: a.gaps + b.gaps,
        lost: a.lost + b.lost,
        noise_ns: a.noise_ns.saturating_add(b.noise_ns),
        max_single_ns: a.max_single_ns.max(b.max_single_ns),
    })
}

fn by_cpu(records: &[&Record], all: &Gaps, style: Style) -> Vec<String> {
    let seeds = distinct(records.iter().map(|r| r.cell.seed)).len() > 1;
    let mut labels = Vec::new();
    let mut cells = Vec::new();
    for record in records {
        if let Some(gaps) = record.accounting.gaps() {
            labels.push(row_name(record, seeds));
            cells.push(numbers(gaps, record.foreign.is_none()));
        }
    }
    if cells.len() > 1 {
        labels.push("all".into());
        cells.push(numbers(all, records.iter().all(|r| r.foreign.is_none())));
    }
    let columns = ["observed", "noise", "CPU available", "max single", "gaps", "lost"];
    let mut lines = vec![style.bold("noise: time taken from a thread that never sleeps (us)")];
    lines.extend(grid(labels, &columns, cells));
    lines
}

/// Another tool does not count its gaps.
fn numbers(g: &Gaps, counted: bool) -> Vec<String> {
    let count = |n: u64| if counted { grouped(n) } else { "-".into() };
    // What was lost is noise too.
    let at_least = if g.lost > 0 { ">" } else { "" };
    vec![
        duration::about(Nanos(g.observed_ns)),
        format!("{at_least}{}", micros(Nanos(g.noise_ns))),
        available(g),
        micros(Nanos(g.max_single_ns)),
        count(g.gaps),
        count(g.lost),
    ]
}

/// `99.9873 %`.
pub(super) fn available(g: &Gaps) -> String {
    let at_most = if g.lost > 0 { "<" } else { "" };
    format!("{at_most}{:.4} %", g.available() * 100.0)
}

/// What took the CPU away.
fn by_cause(records: &[&Record], all: &Gaps, style: Style) -> Vec<String> {
    let share = |ns: u64| format!("{:.4} %", ns as f64 * 100.0 / all.observed_ns.max(1) as f64);
    let mut causes: Vec<(&str, u64, u64, u64)> = Vec::new();
    for cause in records.iter().flat_map(|r| &r.causes) {
        match causes.iter_mut().find(|c| c.0 == cause.name) {
            Some(c) => *c = (c.0, c.1 + cause.count, c.2 + cause.total_ns, c.3.max(cause.max_ns)),
            None => causes.push((&cause.name, cause.count, cause.total_ns, cause.max_ns)),
        }
    }
    causes.sort_by_key(|c| std::cmp::Reverse(c.2));
    let us = |ns: u64| micros(Nanos(ns));
    let mut labels: Vec<String> = causes.iter().map(|c| plain(c.0)).collect();
    let mut cells: Vec<Vec<String>> = causes
        .iter()
        .map(|c| vec![grouped(c.1), us(c.2), share(c.2), us(c.3)])
        .collect();
    labels.push("all gaps".into());
    cells.push(vec![
        grouped(all.gaps),
        us(all.noise_ns),
        share(all.noise_ns),
        us(all.max_single_ns),
    ]);
    let mut lines = vec![style.bold("what took the CPU away (us, and share of the observation time)")];
    lines.extend(grid(labels, &["count", "noise", "share", "max single"], cells));
    lines
}

/// The same for programs: each record of `noise`.
pub(super) fn json(records: &[Record]) -> Vec<Value> {
    let of = |r: &Record| {
        let g = r.accounting.gaps()?;
        Some(json!({
            "id": r.id,
            "subject": r.subject.id(),
            "load": r.cell.load,
            "probe": r.cell.probe,
            "cpu": r.cell.cpu,
            "seed": r.cell.seed,
            "threshold_ns": r.cell.method.as_ref().and_then(|m| m.threshold_ns),
            "observed_ns": g.observed_ns,
            "noise_ns": g.noise_ns,
            "cpu_available": g.available(),
            "max_single_ns": g.max_single_ns,
            "gaps": g.gaps,
            "lost": g.lost,
            "causes": r.causes,
        }))
    };
    records.iter().filter_map(of).collect()
}
