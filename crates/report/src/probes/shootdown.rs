//! Unmapping beside threads on other CPUs.

use super::{place, probe, rounds, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_contract::bench::Bench;
use worstcase_results::stats::points::{self, ShootdownPoint};

fn columns() -> Vec<TableField<ShootdownPoint>> {
    let mut all = place(|p: &ShootdownPoint| &p.place);
    all.extend([
        probe(|p: &ShootdownPoint| Bench::Shootdown(p.shootdown).to_string()),
        name("threads", "other threads", |p: &ShootdownPoint| {
            u64::from(p.shootdown.threads)
        }),
        name("pages", "pages", |p: &ShootdownPoint| u64::from(p.shootdown.pages)),
    ]);
    all.extend(rounds(|p: &ShootdownPoint| &p.rounds, "rounds"));
    all.push(field(ColumnKind::Count, "all_ran", "all ran", |p: &ShootdownPoint| {
        p.all_ran
    }));
    all
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points::shootdowns(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "shootdown: time of a munmap ({}); rounds in which all threads ran on the other CPUs",
        units(view, points.iter().map(|p| &p.place))
    );
    vec![Table::new("shootdown", title, &columns(), &points)]
}
