//! Waking a thread, from its own CPU or another.

use super::{place, probe, rounds, sending, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_results::stats::points::{self, RemotePoint};

/// What every wake-up by another has; `irq` adds to it.
pub(super) fn columns(woken_by: TableField<RemotePoint>) -> Vec<TableField<RemotePoint>> {
    let mut all = place(|p: &RemotePoint| &p.place);
    all.extend([probe(|p: &RemotePoint| p.bench.to_string()), woken_by]);
    all.extend(rounds(|p: &RemotePoint| &p.rounds, "rounds"));
    all.extend(sending(
        |p: &RemotePoint| Some(p.send),
        "send",
        ["send min", "send median", "send max"],
    ));
    all.push(field(ColumnKind::Count, "awake", "awake", |p: &RemotePoint| p.awake));
    all
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points::remotes(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "woken by another thread until it runs ({}); what the call cost that woke it; rounds in which it did not sleep",
        units(view, points.iter().map(|p| &p.place))
    );
    let woken_by = name("woken_by", "woken by", |p: &RemotePoint| {
        p.bench.to_string().trim_start_matches("remote+").to_string()
    });
    vec![Table::new("remote", title, &columns(woken_by), &points)]
}
