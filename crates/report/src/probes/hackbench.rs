//! Message passing.

use super::fields::{figures, place, probe, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_contract::bench::{Bench, Details, Hackbench, HackbenchRun};
use worstcase_results::record::Record;
use worstcase_results::stats::SeedValues;
use worstcase_results::stats::points::{self, PointName};
use worstcase_results::stats::quantile::{MAXIMUM, MEDIAN, of_counts};

/// The duration of message passing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HackbenchPoint {
    /// The name of the point.
    pub place: PointName,
    /// The kind of message passing.
    pub work: Hackbench,
    /// Senders and receivers.
    pub processes: u32,
    /// Time of each run, in ns.
    pub total: SeedValues,
    /// CPU time of each run, in ns.
    pub cpu: SeedValues,
    /// Switches a message, of both kinds.
    pub(crate) switches: f64,
    /// How often in a run a sender or receiver was found on another CPU than before; not known for some old
    /// records.
    pub moves: Option<f64>,
    /// Latency of the messages of all runs: value in ns and how often, ascending.
    pub latency: Option<Vec<(u64, u64)>>,
}

pub(crate) fn points(records: &[Record]) -> Vec<HackbenchPoint> {
    points::points(records, |place, bench, of| match bench {
        Bench::Hackbench(work) => point(place, work, of),
        _ => None,
    })
}

fn point(place: PointName, work: Hackbench, records: &[&Record]) -> Option<HackbenchPoint> {
    let all: Vec<_> = records
        .iter()
        .filter_map(|r| match &r.details {
            Some(Details::Hackbench(d)) => Some(d),
            _ => None,
        })
        .collect();
    let runs = || all.iter().flat_map(|d| &d.runs);
    let of_seeds =
        |time: fn(&HackbenchRun) -> f64| SeedValues::new(all.iter().map(|d| d.runs.iter().map(time).collect()));
    let messages: u64 = all.iter().map(|d| d.messages * d.runs.len() as u64).sum();
    let switches: u64 = runs().map(|r| r.voluntary + r.involuntary).sum();
    let moves: Option<u64> = runs().map(|r| r.moves).sum();
    let mut latency: BTreeMap<u64, u64> = BTreeMap::new();
    for (value, count) in all.iter().filter_map(|d| d.message_latency.as_ref()).flatten() {
        *latency.entry(*value).or_default() += count;
    }
    Some(HackbenchPoint {
        place,
        work,
        processes: all.first()?.processes,
        total: of_seeds(|r| r.total.0 as f64)?,
        cpu: of_seeds(|r| r.cpu.0 as f64)?,
        switches: switches as f64 / messages.max(1) as f64,
        moves: moves.map(|moves| moves as f64 / runs().count().max(1) as f64),
        latency: (!latency.is_empty()).then(|| latency.into_iter().collect()),
    })
}

fn columns() -> Vec<TableField<HackbenchPoint>> {
    let latency = |one_in: f64| {
        move |p: &HackbenchPoint| {
            p.latency
                .as_ref()
                .and_then(|counted| of_counts(counted, one_in).map(Nanos))
        }
    };
    let mut all = place(|p: &HackbenchPoint| &p.place);
    all.extend([
        probe(|p: &HackbenchPoint| Bench::Hackbench(p.work).to_string()),
        name("work", "groups x senders x messages x bytes", work),
        name("transport", "over", |p: &HackbenchPoint| p.work.transport.word()),
        field(ColumnKind::Count, "processes", "processes", |p: &HackbenchPoint| {
            u64::from(p.processes)
        }),
    ]);
    let total = [
        ("mean", "mean s"),
        ("min", "min s"),
        ("max", "max s"),
        ("count", "runs"),
    ];
    all.extend(figures(
        "total_ns",
        ColumnKind::Seconds,
        |p: &HackbenchPoint| Some(&p.total),
        &total,
    ));
    all.extend(figures(
        "cpu_ns",
        ColumnKind::Seconds,
        |p: &HackbenchPoint| Some(&p.cpu),
        &[("mean", "CPU s")],
    ));
    all.extend([
        field(
            ColumnKind::Number(3),
            "switches_a_message",
            "switches",
            |p: &HackbenchPoint| p.switches,
        ),
        field(ColumnKind::Count, "moves_a_run", "moves", |p: &HackbenchPoint| p.moves),
        field(ColumnKind::Time, "message_latency.median_ns", "median", latency(MEDIAN)).optional(),
        field(ColumnKind::Time, "message_latency.p99_ns", "p99", latency(100.0)).optional(),
        field(ColumnKind::Time, "message_latency.max_ns", "max", latency(MAXIMUM)).optional(),
    ]);
    all
}

fn work(p: &HackbenchPoint) -> String {
    let text = Bench::Hackbench(p.work).to_string();
    let text = text.trim_start_matches("hackbench").trim_start_matches(':');
    text.replace(&format!("+{}", p.work.transport.word()), "")
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let latency = match points.iter().any(|p| p.latency.is_some()) {
        true => "; latency of a message",
        false => "",
    };
    let title = format!(
        "hackbench: time of a run; switches a message; moves to another CPU a run{latency} ({})",
        units(view, points.iter().map(|p| &p.place))
    );
    vec![Table::new("hackbench", title, &columns(), &points)]
}
