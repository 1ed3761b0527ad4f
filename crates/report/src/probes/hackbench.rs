//! Message passing.

use super::{figures, place, probe, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_contract::Nanos;
use worstcase_contract::bench::Bench;
use worstcase_results::stats::points::{self, HackbenchPoint};
use worstcase_results::stats::quantile::{MAXIMUM, MEDIAN, of_counts};

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
        field(ColumnKind::Time, "message_latency.median_ns", "median", latency(MEDIAN)),
        field(ColumnKind::Time, "message_latency.p99_ns", "p99", latency(100.0)),
        field(ColumnKind::Time, "message_latency.max_ns", "max", latency(MAXIMUM)),
    ]);
    all
}

fn work(p: &HackbenchPoint) -> String {
    let text = Bench::Hackbench(p.work).to_string();
    let text = text.trim_start_matches("hackbench").trim_start_matches(':');
    text.replace(&format!("+{}", p.work.transport.word()), "")
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points::hackbenches(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "hackbench: time of a run; switches a message; moves to another CPU a run; latency of a message ({})",
        units(view, points.iter().map(|p| &p.place))
    );
    vec![Table::new("hackbench", title, &columns(), &points)]
}
