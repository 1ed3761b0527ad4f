//! An interrupt that a process answers.

use super::fields::{sending, units};
use super::remote;
use super::remote::RemotePoint;
use crate::ReportView;
use crate::table::{Table, TableField, name};
use worstcase_contract::bench::Details;
use worstcase_results::record::Record;
use worstcase_results::stats::points;

pub(super) fn points(records: &[Record]) -> Vec<RemotePoint> {
    points::points(records, |place, bench, of| match of[0].details {
        Some(Details::Irq(_)) => remote::point(place, bench, of),
        _ => None,
    })
}

fn columns() -> Vec<TableField<RemotePoint>> {
    let mut all = remote::columns(name("line", "line", |p: &RemotePoint| p.bench.to_string()));
    let seen = sending(|p: &RemotePoint| p.seen, "seen", ["seen min", "seen", "seen max"]);
    all.extend(seen.into_iter().map(TableField::optional));
    all
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "irq: from an interrupt's cause to the process's answer ({})",
        units(view, points.iter().map(|p| &p.place))
    );
    let seen = match points.iter().any(|p| p.seen.is_some()) {
        true => "; seen: from the edge to the kernel's time of it",
        false => "",
    };
    let about = format!(
        "send: what the edge cost, of irq+hpet a look at the counter; awake: rounds in which it did not sleep{seen}"
    );
    vec![Table::new("irq", title, &columns(), &points).with(vec![about], Vec::new())]
}
