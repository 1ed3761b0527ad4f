//! A choice among tasks that can run.

use super::{place, probe, rounds, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_contract::bench::Bench;
use worstcase_results::stats::points::{self, PickPoint};

fn columns() -> Vec<TableField<PickPoint>> {
    let mut all = place(|p: &PickPoint| &p.place);
    all.extend([
        probe(|p: &PickPoint| Bench::Pick(p.pick).to_string()),
        name("tasks", "tasks", |p: &PickPoint| u64::from(p.pick.tasks)),
    ]);
    all.extend(rounds(|p: &PickPoint| &p.rounds, "choices"));
    all.extend([
        field(ColumnKind::Count, "same", "same", |p: &PickPoint| p.same).programs(),
        field(ColumnKind::Percent(0), "same_share", "same", |p: &PickPoint| {
            p.same as f64 / p.rounds.count.max(1) as f64
        }),
        field(ColumnKind::Count, "fewest_turns", "fewest turns", |p: &PickPoint| {
            p.turns.0
        }),
        field(ColumnKind::Count, "most_turns", "most turns", |p: &PickPoint| p.turns.1),
    ]);
    all
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points::picks(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "pick: time of a choice among tasks that can run ({}); choices of the same task again; turns of a task",
        units(view, points.iter().map(|p| &p.place))
    );
    vec![Table::new("pick", title, &columns(), &points)]
}
