//! What `noise` saw, in the words of rtla's osnoise: noise, max single noise, CPU available, and the causes.

use super::host::{grid, row_name};
use super::terminal::{Style, distinct};
use serde_json::{Value, json};
use worstcase_base::duration;
use worstcase_base::format::{grouped, micros, plain};
use worstcase_probe::Nanos;
use worstcase_results::record::{Gaps, Record};

/// A row a CPU, one of all together, and what took the CPU away.
pub(super) fn tables(records: &[&Record], style: Style) -> Vec<String> {
    let all = together(records.iter().filter_map(|r| r.accounting.gaps().copied()));
    let mut lines = vec![String::new()];
    lines.extend(by_cpu(records, &all, style));
    lines.push(String::new());
    lines.extend(by_cause(records, &all, style));
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
            cells.push(numbers(gaps));
        }
    }
    if cells.len() > 1 {
        labels.push("all".into());
        cells.push(numbers(all));
    }
    let columns = ["observed", "noise", "CPU available", "max single", "gaps", "lost"];
    let mut lines = vec![style.bold("noise: time taken from a thread that never sleeps (us)")];
    lines.extend(grid(labels, &columns, cells));
    lines
}

fn numbers(g: &Gaps) -> Vec<String> {
    // What was lost is noise too.
    let at_least = if g.lost > 0 { ">" } else { "" };
    vec![
        duration::about(Nanos(g.observed_ns)),
        format!("{at_least}{}", micros(Nanos(g.noise_ns))),
        available(g),
        micros(Nanos(g.max_single_ns)),
        grouped(g.gaps),
        grouped(g.lost),
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
